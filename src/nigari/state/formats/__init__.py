"""The versions of the state file: version 4 read and written, versions 1 to 3 upgraded.

Does not know encryption, nor where a file is; `nigari.state.files` chooses the version.
"""
