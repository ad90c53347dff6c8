"""Declarations and inputs become values: one evaluator, several hosts."""
