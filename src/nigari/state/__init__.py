"""What exists: the state, its file, its encryption, and what can be done to it."""
