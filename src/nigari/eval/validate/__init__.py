"""The validate phase: everything is evaluated once, with unknown values for existing objects.

Does not know instances that differ only in values.
"""
