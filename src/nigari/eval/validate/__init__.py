"""The validate phase: everything looked at once, with unknown values in place of what exists.

Does not know instances that differ only in values.
"""
