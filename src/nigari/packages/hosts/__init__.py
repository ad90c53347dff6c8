"""Hosts that packages come from: the CLI configuration, services, credentials, OCI registries.

Does not know what a package is.
"""
