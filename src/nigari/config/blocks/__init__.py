"""Block types of a module, one in each file: their declarations and decoders.

Deliberately unknown here: the other files of the directory; `nigari.config.merge` handles overrides
and duplicates.
"""
