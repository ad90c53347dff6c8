"""The providers of a working directory: where their programs are, how they start, what they offer.

Does not know what they are asked for.
"""
