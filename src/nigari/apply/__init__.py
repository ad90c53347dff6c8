"""Doing what a plan says."""
