"""How results are shown: to people, and to programs."""
