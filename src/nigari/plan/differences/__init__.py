"""Differences: what becomes of an object or a value, part by part, as data.

How a difference looks, on a terminal or on a page, is decided by those who show it.
"""
