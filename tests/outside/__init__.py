"""Public repositories under both programs: `make outside` (docs/outside.md).

Deliberately not part of the tests: the repositories are not in this one.
"""
