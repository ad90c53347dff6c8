"""Work on single units: tasks as data, the processes that perform them, and what travels to them.

Which unit comes after which, and what the results mean for others, is not known here.
"""
