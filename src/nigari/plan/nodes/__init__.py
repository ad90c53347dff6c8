"""The nodes of planning: what each resource, import, move and orphan comes to.

Does not know how an object is compared with its configuration (`plan/objects`).
"""
