"""Provider packages: versions, downloads, checksums, signatures, mirrors, the dependency lock file.

Deliberately unknown here: modules.
"""
