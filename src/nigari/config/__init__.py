"""Directories of configuration files, read into what each module declares.

Expressions are kept as they are written. Does not know values, other modules, or what the tree of
modules must keep to.
"""
