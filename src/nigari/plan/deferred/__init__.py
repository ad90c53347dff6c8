"""What a plan leaves for later, as it is shown: the chain to what it waits for, and its rounds.

Knows the evaluated plan. Whether something is left for later has been decided before.
"""
