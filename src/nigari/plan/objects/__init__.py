"""One object: what it was, what it should be, what a provider makes of that, and whether it may.

Does not know other objects, or instances.
"""
