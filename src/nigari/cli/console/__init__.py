"""The console: expressions typed or piped in, one after the other, and what they come to."""
