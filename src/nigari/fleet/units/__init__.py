"""Units: which there are, what each reads and writes, which need which, and which are selected.

Everything comes from files and evaluation. What is done with units is not known here.
"""
