"""The tests; `tests.conformance` reads the shared conformance data."""
