"""Configurations to inspect: with what is stored, and with what is planned.

Nothing is planned here, and no provider is asked.
"""
