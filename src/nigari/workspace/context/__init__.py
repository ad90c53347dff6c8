"""The base of working directories: paths, environment, people, variables, waiting.

Does not know configurations, states or plans.
"""
