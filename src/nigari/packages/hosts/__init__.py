"""Package hosts: the CLI configuration, service discovery, credentials, OCI registries.

Deliberately unknown here: packages.
"""
