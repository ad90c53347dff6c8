"""`nigari rename`: what is written, what is only shown, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import nigari
