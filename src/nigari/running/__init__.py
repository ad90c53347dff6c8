"""Running: the driver, provider processes and functions that all phases with providers share.

Owns the event loop's work list driver, the pool of provider processes and their configured instances,
provider functions, and ephemeral objects. Does not know what is planned or applied with them.
"""
