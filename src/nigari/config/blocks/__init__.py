"""The blocks of a module, one kind in each file: what a block declares, and how it is read.

Does not know the other files of the directory: overriding and duplicates are `nigari.config.merge`.
"""
