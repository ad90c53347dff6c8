"""Directories of configuration files, read into what each module declares."""
