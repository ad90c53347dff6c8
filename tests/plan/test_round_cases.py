"""Rounds, told by case files: what each does, what it leaves for later, and what that waits for.

A case has `main.tf` and perhaps modules, and before them perhaps `before.tf`, which is applied first.
`targets` names what is singled out, `server` has objects that are there already, as server and name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import nigari
from nigari.diagnostics import Severity
from tests.cases import Case, check_case, read_cases
from tests.plan.colony import REQUIRED, Colony, install

CASES = read_cases(Path(__file__).parent / "round_cases")
_SETTINGS = ("before.tf", "targets", "server")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rounds(
    case: Case,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    colony = install(monkeypatch)
    for line in case.files.get("server", "").splitlines():
        server, name = line.split()
        colony.objects[server, name] = {"note": None, "wants": None}
    _write({name: text for name, text in case.files.items() if name not in _SETTINGS})
    if "before.tf" in case.files:
        main = Path("main.tf").read_text()
        Path("main.tf").write_text(REQUIRED + case.files["before.tf"])
        list(_told(colony, ()))
        Path("main.tf").write_text(main)
    lines = list(_told(colony, tuple(case.files.get("targets", "").split())))
    check_case(case, "\n".join(lines), request.config.getoption("--update"))


def _write(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(REQUIRED + text if name.endswith(".tf") else text)


def _told(colony: Colony, targets: tuple[str, ...]) -> Iterator[str]:
    """What an apply in rounds does, and what is there afterwards."""
    session = nigari.open()
    session.init()
    try:
        for round_ in session.rounds(targets=targets):
            yield f"round {round_.number}: {round_.plan.summary}"
            for change in round_.plan.changes:
                moved = f", moved from {change.previous_address}" if change.previous_address else ""
                taken = ", imported" if change.imported_as else ""
                yield f"  {change.action} {change.address}{moved}{taken}"
            for each in round_.plan.deferred:
                yield (
                    f"  later {each.address} ({each.reason}, round {each.earliest_round})"
                    f" ← {' ← '.join(each.waits_for)}"
                )
    except nigari.SessionError as error:
        for told in error.diagnostics:
            if told.severity is Severity.ERROR:
                yield f"error: {told.summary}: {told.detail}"
    state = session.state
    yield "state: " + (" ".join(state.resources) or "nothing")
    for name, output in session.outputs.items():
        yield f"output {name} = {output.value}"
    yield f"servers: {sorted(f'{server}/{name}' for server, name in colony.objects)}"
