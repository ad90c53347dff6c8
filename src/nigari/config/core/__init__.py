"""Parts shared by declarations: headers, repetition, references, literal values.

Deliberately unknown here: the types of blocks.
"""
