"""A configuration as Python programs see it: modules, blocks, declarations and values.

Views are lazy, and `nigari.workspace.explain` evaluates for them.
"""
