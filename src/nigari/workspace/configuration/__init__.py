"""A directory of configuration files: its modules, requirements, static phase and validation.

Does not know the state, nor how any of it is explained or shown.
"""
