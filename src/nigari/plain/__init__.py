"""Plain configurations: what a configuration says, written so that another program can run it.

A plain configuration has literals where that program allows only literals, a call of its own for
each module instance that has a source or static settings of its own, and `moved` blocks for the
addresses that change. Owns how files are rewritten and where modules are placed; how the
configuration was found and evaluated is left to `nigari.workspace`.
"""
