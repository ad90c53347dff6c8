"""State output: text, JSON, and output values.

Deliberately unknown here: the commands.
"""
