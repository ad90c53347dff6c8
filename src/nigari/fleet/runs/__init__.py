"""Runs over all units: planning them as one, applying in order, the journal, and saved plans.

Who performs the work, here or on a cluster, is handed in.
"""
