"""The program: commands, their flags, and how results are shown."""
