"""Desired instances against prior state: what is to be done, as data."""
