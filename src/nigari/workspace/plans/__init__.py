"""Plans of a working directory: made, saved, taken up again, and shown.

Does not know who agrees to them.
"""
