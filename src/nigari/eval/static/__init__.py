"""The static phase: everything that can be known before anything runs.

Does not know schemas of providers or what exists.
"""
