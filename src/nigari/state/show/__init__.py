"""States as people and programs read them: text, JSON, and output values.

Does not know the command that shows them.
"""
