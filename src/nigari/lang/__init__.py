"""The OpenTofu dialect, as far as it does not depend on a phase of the work.

References, functions, marks, versions and types; what a configuration declares is unknown here.
"""
