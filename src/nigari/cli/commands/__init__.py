"""One module per command. Each has a `COMMAND`, and imports what it needs only when it runs."""
