"""A plan as data: changes, conditions, the execution graph, and the saved form.

Does not know how a change is worked out or carried out.
"""
