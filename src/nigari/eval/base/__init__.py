"""What every phase evaluates with: compiled modules, instances, scopes, work lists, and causes.

Does not know any phase.
"""
