"""Built-in functions of the language: those of cty's standard library under OpenTofu's names, and
OpenTofu's own.

`table.function_table` maps all names to functions. Each other module has one theme and is loaded
when one of its functions is first looked up. Provider functions are unknown here.
"""
