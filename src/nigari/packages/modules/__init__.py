"""Module packages: every kind of source, registries, stores, the module lock file.

Deliberately unknown here: providers.
"""
