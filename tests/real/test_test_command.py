"""Suites of tests, in each of which `nigari test` must do and say what OpenTofu did and said.

Statuses, order, events, places of diagnostics, states, plans, what the provider was asked, exit
codes. What differs on purpose is listed with its reason, and `docs/differences.md` says so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from nigari.addrs.provider import default_provider
from nigari.lang.versions import Version
from nigari.packages.base.platforms import current_platform
from nigari.packages.providers.provider_package import unpacked_path
from tests.conformance import CONFORMANCE, needs_conformance
from tests.real import PEERS, program
from tests.real.tested_suites import Data, alike, in_any_order, observed, places

pytestmark = [pytest.mark.real, needs_conformance]

_DATA: Final = CONFORMANCE / "test-command"
_OURS: Final = Path(sys.executable).parent / "nigari"
_OTHERS: Final = ("simple", "random", "local", "time", "null")

_CLEAN_UP = "a clean-up that fails is a failure"
_ONCE = "a diagnostic is told once"
_PLACED = "a diagnostic says where it belongs"
_LENIENT = "provider blocks of test files may use all variables of the test"
_RUNS = "the outputs of all earlier runs are there"
_FLAGS = "-var is stronger than any file"
_LEAKS = "overrides of a file end with it"
_FILTER = "a -filter that names no file is a mistake"
_SHOWN = "states with ephemeral objects can be shown"
_INSIDE = "nothing in an overridden module is looked at but its variables"
_GOES_ON = "a value that is refused does not keep the rest from being planned"
_MORE = "arguments that only we and Terraform have"

DIFFERENT: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "assert-references-wrong": (_ONCE, frozenset(("diagnostics", "events"))),
    "clean-cannot-save": (_CLEAN_UP, frozenset(("exit", "summary"))),
    "clean-destroy-false": (_CLEAN_UP, frozenset(("exit", "summary"))),
    "clean-destroy-provisioner": (_CLEAN_UP, frozenset(("exit", "summary", "diagnostics"))),
    "clean-fails-and-error": (_CLEAN_UP, frozenset(("summary",))),
    "clean-run-references": (_RUNS, frozenset(("journal", "objects"))),
    "cli-filter": (
        _FILTER,
        frozenset(("abstract", "diagnostics", "events", "exit", "files", "summary", "text")),
    ),
    "cli-test-directory": (
        _FILTER,
        frozenset(("abstract", "diagnostics", "events", "exit", "summary")),
    ),
    "exec-ephemeral": (_SHOWN, frozenset(("diagnostics", "events", "states"))),
    "expect-both-levels": (
        "an instance that fails is also a failure of its resource",
        frozenset(("diagnostics", "events", "exit", "files", "plans", "summary", "text")),
    ),
    "file-json": (_GOES_ON, frozenset(("text",))),
    "mock-for-each": (_PLACED, frozenset(("diagnostics", "events"))),
    "opentofu-broken_no_valid_hcl": (_ONCE, frozenset(("diagnostics", "events"))),
    "opentofu-expect_failures_inputs": (_GOES_ON, frozenset(("text",))),
    "opentofu-local_variables_in_provider_block": (
        _LENIENT,
        frozenset(
            ("calls", "diagnostics", "events", "exit", "files", "journal", "states", "summary")
        )
        | {"text"},
    ),
    "opentofu-missing-provider": (_PLACED, frozenset(("diagnostics",))),
    "opentofu-missing-provider-in-run-block": (_PLACED, frozenset(("diagnostics",))),
    "opentofu-missing-provider-in-test-module": (_PLACED, frozenset(("diagnostics",))),
    "opentofu-mock_provider_validation_for_each": (_ONCE, frozenset(("diagnostics", "events"))),
    "over-file-and-run": (_ONCE, frozenset(("diagnostics", "events"))),
    "over-leaks": (
        _LEAKS,
        frozenset(("cleanup", "diagnostics", "errored", "events", "exit", "files", "journal"))
        | {"objects", "plans", "states", "summary", "text", "calls"},
    ),
    "over-module-outputs": (
        _INSIDE,
        frozenset(("diagnostics", "events", "files", "plans", "states", "summary", "text")),
    ),
    "prov-expressions": (
        _LENIENT,
        frozenset(("calls", "diagnostics", "events", "files", "journal", "states", "summary"))
        | {"text", "plans"},
    ),
    "prov-version": (_ONCE, frozenset(("diagnostics",))),
    "run-plan-options-refresh": (_PLACED, frozenset(("diagnostics",))),
    "run-plan-options-replace-wrong": (
        "replacing what does not exist is a warning",
        frozenset(("diagnostics", "events")),
    ),
    "run-static-source-root": ("variables of runs choose modules", frozenset(("states",))),
    "run-unknown-arguments": (_MORE, frozenset(("diagnostics", "events"))),
    "var-global-in-asserts": (_PLACED, frozenset(("diagnostics",))),
    "var-precedence": (_FLAGS, frozenset(("plans", "states"))),
    "var-run-references": (
        _RUNS,
        frozenset(("diagnostics", "events", "files", "plans", "states", "summary", "text")),
    ),
    "var-tests-folder": (_FLAGS, frozenset(("plans", "states"))),
}
"""Suites in which we do something else on purpose: why, and in what that shows."""


def _rows() -> dict[str, list[Data]]:
    found: dict[str, list[Data]] = {}
    path = _DATA / "results.jsonl"
    for line in path.read_text().splitlines() if path.is_file() else ():
        row = json.loads(line)
        found.setdefault(row["suite"], []).append(row)
    return found


_ROWS: Final = _rows()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CLI configuration with a mirror of all providers that the suites use."""
    place = tmp_path_factory.mktemp("providers")
    tested = _test_provider()
    programs = {name: program(f"terraform-provider-{name}") for name in _OTHERS}
    programs |= {"test": tested, "setup": tested}
    for name, path in programs.items():
        there = unpacked_path(
            place / "mirror", default_provider(name), Version((1, 0, 0)), current_platform()
        )
        there.mkdir(parents=True)
        (there / f"terraform-provider-{name}").symlink_to(path)
    settings = place / "tofurc"
    mirror = f'filesystem_mirror {{\n    path = "{place / "mirror"}"\n  }}'
    settings.write_text(f"provider_installation {{\n  {mirror}\n}}\n")
    return settings


def _test_provider() -> Path:
    """The provider that OpenTofu's own tests of the command use, built once."""
    found = PEERS / "test-command" / "terraform-provider-test"
    if not found.is_file():
        if shutil.which("go") is None:
            pytest.skip("the provider of the suites is built with Go")
        script = _DATA / "build-provider.sh"
        subprocess.run(["bash", str(script), str(found.parent)], check=True, timeout=900)
    return found


@pytest.mark.parametrize("suite", _ROWS)
def test_a_suite(suite: str, settings: Path, tmp_path: Path) -> None:
    work = tmp_path / suite
    shutil.copytree(_DATA / "suites" / suite, work)
    about = json.loads((work / "suite.json").read_text())
    ignored = DIFFERENT.get(suite, ("", frozenset()))[1]
    for row in _ROWS[suite]:
        _forget(work, about)
        environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TF_")},
            "TF_CLI_CONFIG_FILE": str(settings),
            **about.get("env", {}),
            **row.get("env", {}),
        }
        done = subprocess.run(
            [str(_OURS), *row["args"]],
            cwd=work,
            env=environ,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        found = observed(row["args"], done.returncode, done.stdout, work)
        _compare(row, found, ignored, f"{row['args']}\n{done.stderr}")


def _forget(work: Path, about: Data) -> None:
    """Remove what an earlier command has left."""
    shutil.rmtree(work / ".test-provider", ignore_errors=True)
    for name in ("errored_test.tfstate", *about.get("watch", ())):
        if (work / name).is_file():
            (work / name).unlink()


def _compare(row: Data, found: Data, ignored: frozenset[str], about: str) -> None:
    is_free = row.get("order") == "free"
    skipped = {"suite", "args", "env", "order", "unstable", "watch", "tree", *ignored}
    for name in row.keys() - skipped - set(row.get("unstable", ())):
        wanted, got = alike(row[name]), alike(found.get(name))
        if name == "diagnostics":
            wanted, got = places(wanted), places(got or ())
        elif name == "calls" or (is_free and isinstance(wanted, list)):
            wanted, got = in_any_order(wanted), in_any_order(got or ())
        elif name == "errored":
            wanted = sorted(wanted)
        assert got == wanted, f"{name} of {about}"
