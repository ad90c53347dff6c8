"""Stories: random configurations and what happens to them, for both programs to go through."""
