"""Declarations and inputs become values: one evaluator, a run for each phase."""
