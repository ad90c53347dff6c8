"""Tests of nigari.clouds."""
