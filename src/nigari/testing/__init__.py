"""Tests of modules: files of runs, with real, mocked or overridden objects."""
