"""Moves: statements about old and new addresses, their order, and what they do to a state.

Does not know configurations: what is declared, it asks.
"""
