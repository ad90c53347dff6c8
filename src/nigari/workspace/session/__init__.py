"""Sessions: the doors of a working directory, for commands and programs, with its lock and its state.

Does not know screens and flags.
"""
