"""Standard library functions for values of any type.

Each function is a constant, grouped by theme. Their names in a language, and functions that only
make sense in OpenTofu's dialect, are defined by `nigari.lang`.
"""
