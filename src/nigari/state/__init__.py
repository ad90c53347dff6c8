"""The state: what exists, its file, its encryption, and what can be done to it."""
