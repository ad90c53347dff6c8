"""Rules over the whole tree of modules: what each may declare, refer to, and pass to another.

They look at what is declared, once the static phase has found the modules. Nothing is evaluated here.
"""
