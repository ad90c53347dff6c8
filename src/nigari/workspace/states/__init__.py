"""The states of a working directory: the backend, their encryption, other configurations' states.

Does not know what is done to them.
"""
