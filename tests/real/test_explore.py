"""The page in a real browser: `page/test` uses it as people do, with what is made here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from benchmarks.configurations import module_calls, resource_chains
from nigari.explore.page import PageNotBuilt, built
from tests.cli.process import ROOT, environment, nigari
from tests.explore.explored import write
from tests.explore.pages import (
    ALIKE,
    DEFERRED,
    FLEET,
    LARGE,
    LIVE,
    OUTSIDE,
    REVIEWED,
    ROUNDS,
    STAGES,
    TESTED,
    woven,
)
from tests.plugins import overriding

pytestmark = pytest.mark.real

PAGE: Final = ROOT / "page"
_PROVIDER: Final = ROOT / "examples" / "python-provider"
_SECONDS: Final = 300


@pytest.fixture(name="pages", scope="module")
def made_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        built()
    except PageNotBuilt:
        pytest.skip("the page is not built: run `make page` (it needs Node.js)")
    if shutil.which("node") is None or not (PAGE / "node_modules").is_dir():
        pytest.skip("there is no Node.js, or its packages are not installed: run `make page`")
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("there is no Chromium")
    place = tmp_path_factory.mktemp("pages")
    _small(place)
    _planned(place, "alike", ALIKE)
    _planned(place, "large", LARGE)
    _planned(place, "deferred", DEFERRED, "-allow-deferral")
    _others(place)
    _outside(place)
    _reviewed(place)
    for name, make, count in (("blocks", resource_chains, 5000), ("modules", module_calls, 200)):
        directory = make(place / "made" / name, count)
        _run("explore", f"-out={place / name}.html", cwd=directory)
    write(place / "made" / "woven", woven(5000, 50))
    _run("explore", f"-out={place / 'woven.html'}", cwd=place / "made" / "woven")
    write(place / "made" / "rounds", ROUNDS)
    live = place / "made" / "live"
    write(live, LIVE)
    _run("plan", "-out=plan.out", cwd=live)
    return place


def _run(*words: str, cwd: Path, settings: Mapping[str, str] | None = None) -> None:
    done = nigari(*words, cwd=cwd, settings=settings)
    assert done.code == 0, done.err


def _small(place: Path) -> None:
    """A plan after an apply, and the same with its apply."""
    directory = place / "made" / "small"
    before, after = STAGES
    write(directory, before)
    _run("apply", "-auto-approve", cwd=directory)
    write(directory, after)
    _run("plan", "-out=plan.out", cwd=directory)
    _run("explore", f"-out={place / 'small.html'}", "plan.out", cwd=directory)
    _run("apply", "-json-into=run.jsonl", "plan.out", cwd=directory)
    words = ("-events=run.jsonl", f"-out={place / 'applied.html'}", "plan.out")
    _run("explore", *words, cwd=directory)


def _others(place: Path) -> None:
    """Tests, and a fleet."""
    tested = place / "made" / "tested"
    write(tested, TESTED)
    nigari("test", "-coverage", "-json-into=tests.jsonl", cwd=tested)
    _run("explore", "-events=tests.jsonl", f"-out={place / 'tested.html'}", cwd=tested)
    fleet = place / "made" / "fleet"
    write(fleet, FLEET)
    _run("explore", "-fleet", f"-out={place / 'fleet.html'}", cwd=fleet)


def _outside(place: Path) -> None:
    """A plan after somebody has changed objects outside."""
    directory = place / "made" / "outside"
    write(directory, OUTSIDE)
    settings = overriding(place / "made" / "settings.tfrc", "example.com/demo/files", _PROVIDER)
    _run("apply", "-auto-approve", cwd=directory, settings=settings)
    (directory / "out" / "edited.txt").write_text("as somebody has changed it")
    (directory / "out" / "secret.txt").write_text("planted-outside")
    (directory / "out" / "deleted.txt").unlink()
    _run("plan", "-out=plan.out", cwd=directory, settings=settings)
    words = (f"-out={place / 'outside.html'}", "plan.out")
    _run("explore", *words, cwd=directory, settings=settings)


def _reviewed(place: Path) -> None:
    """A plan and a configuration after an apply, with all that a reviewer must not miss."""
    directory = place / "made" / "reviewed"
    before, after = REVIEWED
    write(directory, before)
    _run("apply", "-auto-approve", cwd=directory)
    _run("explore", f"-out={place / 'stored.html'}", cwd=directory)
    write(directory, after)
    _run("plan", "-out=plan.out", cwd=directory)
    _run("explore", f"-out={place / 'reviewed.html'}", "plan.out", cwd=directory)


def _planned(place: Path, name: str, files: Mapping[str, str], *options: str) -> None:
    directory = place / "made" / name
    write(directory, files)
    _run("plan", *options, "-out=plan.out", cwd=directory)
    _run("explore", f"-out={place / name}.html", "plan.out", cwd=directory)


@pytest.mark.parametrize("name", [path.name for path in sorted((PAGE / "test").glob("*.test.mjs"))])
def test_in_chromium(pages: Path, name: str) -> None:
    settings = {
        "PAGES": str(pages),
        "NIGARI": f"{sys.executable} -m nigari",
        "PATH": os.environ["PATH"],
    }
    done = subprocess.run(
        ["node", "--test", f"test/{name}"],
        cwd=PAGE,
        env=environment(**settings),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
