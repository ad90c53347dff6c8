"""Deferred changes as they are shown: the chain to what each of them waits for, and its rounds.

Knows the evaluated plan. Whether something is left for later has been decided before.
"""
