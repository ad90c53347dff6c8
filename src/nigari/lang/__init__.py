"""The OpenTofu dialect, as far as it is independent of the phase: references, functions, marks,
versions and types.

Deliberately unknown here: the declarations in a configuration.
"""
