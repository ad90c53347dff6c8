"""A configuration as Python programs see it: modules, blocks, declarations and values.

Nothing is worked out here before somebody asks for it, and then `nigari.workspace.explain` does it.
"""
