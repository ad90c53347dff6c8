"""Tests of rules, lists of rules, settings, ignored findings, fixes, and rules in Python."""
