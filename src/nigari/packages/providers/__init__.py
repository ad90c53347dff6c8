"""Providers: versions, packages, checksums, signatures, mirrors, the lock file.

Does not know modules.
"""
