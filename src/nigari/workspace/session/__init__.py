"""Sessions: one working directory with its variables, lock and state, for commands and programs.

Does not know screens and flags.
"""
