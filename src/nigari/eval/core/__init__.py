"""The base of every phase: compiled modules, instances, scopes, work lists, and causes.

Does not know any phase.
"""
