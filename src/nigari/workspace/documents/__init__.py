"""Configurations as JSON documents for other programs: what `show -json` says of them.

Does not know states or plans.
"""
