"""Providers: plugin programs and Python objects behind one interface."""
