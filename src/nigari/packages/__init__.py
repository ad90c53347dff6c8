"""Where modules and providers come from: sources, versions, checksums, what is installed."""
