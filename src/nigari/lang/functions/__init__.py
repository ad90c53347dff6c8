"""The functions of the language: those of cty's standard library by their names here, and more.

`table.function_table` gives them all by name. Each other module has one theme and is loaded when
one of its functions is first looked up. Functions that providers bring are not known here.
"""
