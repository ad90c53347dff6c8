"""`config -plain`: what is written for a configuration, and what is refused.

A case has the files of a configuration, and the words in `flags`. It expects the files that are not
as they were, or the errors; nothing is written then.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import Case, check_case, read_cases
from tests.cli.process import inside

CASES = read_cases(Path(__file__).parent / "plain_cases")


def write_case(case: Case, directory: Path) -> list[str]:
    """Write the files of a case; its flags."""
    for name, text in case.files.items():
        if name != "flags":
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return shlex.split(case.files.get("flags", ""))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_plain_configurations(case: Case, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    directory, out = tmp_path / "work", tmp_path / "plain"
    directory.mkdir()
    flags = write_case(case, directory)
    own = [flag for flag in flags if flag.startswith("-env")]
    rest = [flag for flag in flags if flag not in own]
    done = inside(
        f"-chdir={directory}", *own, "config", "-plain", f"-out={out}", "-no-color", *rest
    )
    actual = done.err if done.code else "\n".join([done.err, *_changes(directory, out)])
    assert out.exists() is (done.code == 0)
    check_case(case, actual, request.config.getoption("--update"))
    assert sorted(tmp_path.iterdir()) == [out, directory][not out.exists() :]


def _changes(before: Path, after: Path) -> Iterator[str]:
    old, new = _files(before), _files(after)
    for name in sorted({*old, *new}):
        if name not in new:
            yield f">>> {name} is not there"
        elif old.get(name) != new[name]:
            yield f">>> {name}\n{new[name]}"


def _files(directory: Path) -> dict[str, str]:
    found = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_text() for path in found}
