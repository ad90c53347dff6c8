"""Providers, and how to talk to them: plugin programs and Python objects alike."""
