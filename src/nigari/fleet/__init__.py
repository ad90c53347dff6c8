"""Fleets: many root modules, found by evaluation, planned and applied as one."""
