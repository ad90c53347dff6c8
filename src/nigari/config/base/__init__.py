"""The pieces that declarations are made of: headers, repetition, references, written-out values.

Does not know any kind of block.
"""
