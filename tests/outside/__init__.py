"""Public repositories under both programs: `make outside` (docs/contributing/outside.md).

The repositories are not in this one, so the tests here are about the harness itself.
"""
