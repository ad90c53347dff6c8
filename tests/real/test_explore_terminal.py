"""The page of a command at a terminal: it opens the browser, and stays until Ctrl-C."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

import pytest

from nigari.explore.page import PageNotBuilt, built
from tests.cli.process import nigari
from tests.cli.typist import Typist
from tests.explore.explored import write

pytestmark = pytest.mark.real

_FILES: Final = {"main.tf": 'resource "terraform_data" "one" {\n  input = "x"\n}\n'}
_BROWSER: Final = '#!/bin/sh\necho "$1" > "$(dirname "$0")/opened"\n'
_SECONDS: Final = 20.0


@pytest.fixture(name="infra")
def some_directory(tmp_path: Path) -> Path:
    try:
        built()
    except PageNotBuilt:
        pytest.skip("the page is not built: run `make page` (it needs Node.js)")
    write(tmp_path / "infra", _FILES)
    browser = tmp_path / "browser"
    browser.write_text(_BROWSER)
    browser.chmod(0o755)
    return tmp_path / "infra"


def _started(infra: Path, *words: str) -> Typist:
    return Typist(*words, cwd=infra, settings={"BROWSER": str(infra.parent / "browser")})


def _opened(infra: Path) -> str:
    """The address that the browser was started with."""
    path = infra.parent / "opened"
    end = time.monotonic() + _SECONDS
    while not path.exists() or not path.read_text().endswith("\n"):
        assert time.monotonic() < end, "no browser was started"
        time.sleep(0.05)
    return path.read_text().strip()


def _get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
        text: str = answer.read().decode()
    return text


def _is_gone(url: str) -> bool:
    try:
        _get(url)
    except urllib.error.URLError:
        return True
    return False


def test_explore_stays_until_it_is_interrupted(infra: Path) -> None:
    with _started(infra, "explore") as typist:
        shown = typist.wait_for("Press Ctrl-C to end.")
        url = _opened(infra)
        assert f"The page is at {url}" in shown
        assert 'id="document"' in _get(url)
        time.sleep(1)
        assert 'id="document"' in _get(url)
        assert typist.interrupt_until_it_ends() == 0
    assert _is_gone(url)


@pytest.mark.parametrize(
    ("answer", "after", "code", "resources"),
    [("yes", "Apply complete!", 0, 1), ("no", "Apply cancelled.", 1, 0)],
)
def test_the_page_of_an_apply_outlives_it(
    infra: Path, answer: str, after: str, code: int, resources: int
) -> None:
    with _started(infra, "apply", "-explore") as typist:
        typist.wait_for("Enter a value:")
        url = _opened(infra)
        # Whoever is asked reads the plan there.
        assert 'id="document"' in _get(url)
        typist.type(f"{answer}\n")
        typist.wait_for(after)
        shown = typist.wait_for("Press Ctrl-C to end.")
        assert f"The page is still at {url}" in shown
        # Everything has been told, and the state is free for others.
        events = _get(f"{url}events")
        assert events.endswith("event: end\ndata: {}\n\n")
        assert events.count('"apply_complete"') == resources
        listed = nigari("state", "list", cwd=infra).out.split()
        assert len(listed) == resources
        assert nigari("plan", "-lock-timeout=0s", cwd=infra).code == 0
        assert typist.interrupt_until_it_ends() == code
    assert _is_gone(url)


def test_it_ends_with_the_command_where_nobody_sits_in_front_of_it(infra: Path) -> None:
    done = nigari("apply", "-explore", "-auto-approve", cwd=infra)
    assert done.code == 0, done.err
    address = done.err.split("The page is at ")[1].split()[0]
    assert _is_gone(address)
    assert not (infra.parent / "opened").exists()
