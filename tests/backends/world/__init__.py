"""Servers that states are stored on while tests run."""
