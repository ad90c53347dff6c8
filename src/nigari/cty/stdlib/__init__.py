"""The standard library of functions that work on any values of the type system.

Each function is a constant, grouped by theme. Names in the language, and functions that only make
sense in OpenTofu's dialect, are added elsewhere.
"""
