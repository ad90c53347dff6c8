"""Packages of modules and providers: sources, versions, checksums, what is installed."""
