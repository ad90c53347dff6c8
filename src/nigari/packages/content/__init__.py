"""Package content: atomic writes, safe unpacking, comparison, platforms.

Deliberately unknown here: the sources of packages.
"""
