"""A plan for other programs: the parts of `show -json`.

Does not know where a plan came from.
"""
