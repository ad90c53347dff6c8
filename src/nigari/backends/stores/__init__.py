"""The stores of the remote backends, one kind of backend in each module or package.

Does not know states: a store keeps bytes by workspace, and locks them. What all backends have in
common is in `nigari.backends`.
"""
