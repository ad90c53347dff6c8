"""Suites of tests, in each of which `nigari test` must do and say what OpenTofu did and said.

Statuses, order, events, places of diagnostics, states, plans, what the provider was asked, exit
codes. What differs on purpose is listed with its reason, and `docs/differences.md` says so.
"""

from __future__ import annotations

import hashlib
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
from nigari.packages.content.platforms import current_platform
from nigari.packages.providers.provider_package import unpacked_path
from tests.conformance import CONFORMANCE, needs_conformance
from tests.real import PEERS, program
from tests.real.tested_suites import Data, alike, in_any_order, observed, places

pytestmark = [pytest.mark.real, needs_conformance]

_DATA: Final = CONFORMANCE / "test-command"
_OURS: Final = Path(sys.executable).parent / "nigari"
_LONGEST: Final = 2000
_SIDE_BY_SIDE: Final = ("calls", "journal", "objects", "plans", "states")
"""What may come out in another order, so that only that it differs is recorded."""
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

REASONS: Final[Mapping[str, str]] = {
    "assert-references-wrong": _ONCE,
    "clean-cannot-save": _CLEAN_UP,
    "clean-destroy-false": _CLEAN_UP,
    "clean-destroy-provisioner": _CLEAN_UP,
    "clean-fails-and-error": _CLEAN_UP,
    "clean-run-references": _RUNS,
    "cli-filter": _FILTER,
    "cli-test-directory": _FILTER,
    "exec-ephemeral": _SHOWN,
    "expect-both-levels": "an instance that fails is also a failure of its resource",
    "file-json": _GOES_ON,
    "file-syntax-error": _ONCE,
    "mock-for-each": _PLACED,
    "opentofu-broken_no_valid_hcl": _ONCE,
    "opentofu-expect_failures_inputs": _GOES_ON,
    "opentofu-local_variables_in_provider_block": _LENIENT,
    "opentofu-missing-provider": _PLACED,
    "opentofu-missing-provider-in-run-block": _PLACED,
    "opentofu-missing-provider-in-test-module": _PLACED,
    "opentofu-mock_provider_validation_for_each": _ONCE,
    "over-bad-module-arguments": "override_module may name an instance",
    "over-file-and-run": _ONCE,
    "over-leaks": _LEAKS,
    "over-module-outputs": _INSIDE,
    "prov-expressions": _LENIENT,
    "prov-version": _ONCE,
    "run-plan-options-replace-wrong": "replacing what does not exist is a warning",
    "run-static-source-root": "variables of runs choose modules",
    "run-unknown-arguments": _MORE,
    "var-global-in-asserts": _PLACED,
    "var-precedence": _FLAGS,
    "var-run-references": _RUNS,
    "var-tests-folder": _FLAGS,
}
"""Suites in which we do something else on purpose, and why."""

_RECORDED: Final = Path(__file__).parent / "test_command_differences.json"
"""What we do instead, for each command of such a suite, and nothing else. `--update` writes it."""


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
def test_a_suite(suite: str, settings: Path, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    work = tmp_path / suite
    shutil.copytree(_DATA / "suites" / suite, work)
    about = json.loads((work / "suite.json").read_text())
    differences: Data = {}
    for number, row in enumerate(_ROWS[suite]):
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
        different = _differences(row, found)
        if different:
            differences[f"{number} {' '.join(row['args'])}"] = different
    recorded = json.loads(_RECORDED.read_text()) if _RECORDED.is_file() else {}
    if pytestconfig.getoption("--update"):
        recorded.pop(suite, None)
        recorded |= {suite: differences} if differences else {}
        _RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    else:
        assert differences == recorded.get(suite, {})
    assert bool(differences) == (suite in REASONS), "REASONS says which suites differ"


def _forget(work: Path, about: Data) -> None:
    """Remove what an earlier command has left."""
    shutil.rmtree(work / ".test-provider", ignore_errors=True)
    for name in ("errored_test.tfstate", *about.get("watch", ())):
        if (work / name).is_file():
            (work / name).unlink()


def _differences(row: Data, found: Data) -> Data:
    """In what a command did something else than OpenTofu: what it did, as it can be compared."""
    is_free = row.get("order") == "free"
    skipped = {"suite", "args", "env", "order", "unstable", "watch", "tree"}
    different: Data = {}
    for name in sorted(row.keys() - skipped - set(row.get("unstable", ()))):
        wanted, got = alike(row[name]), alike(found.get(name))
        if name == "diagnostics":
            wanted, got = places(wanted), places(got or ())
        elif name == "calls" or (is_free and isinstance(wanted, list)):
            wanted, got = in_any_order(wanted), in_any_order(got or ())
        elif name == "errored":
            wanted = sorted(wanted)
        if got != wanted:
            different[name] = "another" if name in _SIDE_BY_SIDE else _short(got)
    return different


def _short(data: Data) -> Data:
    """Data that is small, or what larger data is known by."""
    text = json.dumps(data, sort_keys=True)
    if len(text) <= _LONGEST:
        return data
    return f"sha256 {hashlib.sha256(text.encode()).hexdigest()}"
