"""Nodes of declarations: variables, locals, outputs, calls, resources, conditions.

Each node computes its value once in a phase; the phase answers for what it refers to.
"""
