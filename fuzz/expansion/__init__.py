"""Configurations with what only nigari has, and the same written out, as random stories."""
