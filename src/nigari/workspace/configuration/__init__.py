"""A directory of configuration files: read, evaluated, validated, explained and shown.

Does not know the state.
"""
