"""Order: blocks of a configuration, operations of a plan, and what targets select.

Does not know values: order comes from what is written and from what the state has stored.
"""
