"""State: its model, file formats, encryption and edits."""
