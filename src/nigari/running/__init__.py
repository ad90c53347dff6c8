"""Shared parts of all phases with providers: the driver, provider processes and functions.

Owns the driver of the event loop's work list, the pool of provider processes and their configured
instances, provider functions, and ephemeral objects. Deliberately unknown here: planning and
applying.
"""
