"""Moves between addresses: statements, their order, and their effect on a state.

Deliberately unknown here: configurations; callers provide the declared objects.
"""
