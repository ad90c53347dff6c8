"""Making a working directory ready: modules, backend, providers, moved states.

Does not know what is planned with them.
"""
