"""Modules: every kind of source, registries, stores, the lock file of modules.

Does not know providers.
"""
