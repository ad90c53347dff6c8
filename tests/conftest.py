"""Settings shared by all tests."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Machines differ in speed and share their cores: a test fails for what it shows, never for how
# long one example took. A longer search is a matter of one setting.
settings.register_profile("check", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", parent=settings.get_profile("check"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "check"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="write what came out into the case files"
    )
