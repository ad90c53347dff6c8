"""State file formats: version 4 is read and written, versions 1 to 3 are upgraded.

Deliberately unknown here: encryption and storage; `nigari.state.files` selects the version.
"""
