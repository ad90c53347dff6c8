"""What everything about a working directory stands on: paths, environment, people, variables, waiting.

Does not know configurations, states or plans.
"""
