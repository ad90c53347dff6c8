"""Searches for inputs that break a promise. Run with `make fuzz`."""
