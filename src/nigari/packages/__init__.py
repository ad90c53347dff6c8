"""Module and provider packages: sources, versions, checksums, installation."""
