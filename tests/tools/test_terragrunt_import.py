"""Trees of Terragrunt, applied by Terragrunt with OpenTofu and then imported: nothing is left to do."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from nigari.cli.main import main
from tests.fleet.terragrunt_trees import LIVE
from tests.fleet.trees import surveyed, write_tree
from tests.real import program

pytestmark = pytest.mark.tools


def _terragrunt(directory: Path, *command: str) -> str:
    """The output of Terragrunt."""
    settings = directory / "none.tfrc"
    settings.touch()
    done = subprocess.run(
        [program("terragrunt"), "--non-interactive", "--log-disable", *command],
        cwd=directory,
        env={
            **os.environ,
            "TG_TF_PATH": str(program("tofu")),
            "TF_CLI_CONFIG_FILE": str(settings),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree that Terragrunt has applied and Nigari has imported; the working directory."""
    root = write_tree(tmp_path, LIVE) / "live"
    _terragrunt(root, "run", "--all", "apply")
    monkeypatch.chdir(root)
    assert main(["fleet", "import-terragrunt"]) == 0
    assert main(["fleet", "init"]) == 0
    return root


def _objects(root: Path) -> dict[str, object]:
    """The resources and outputs of each state."""
    found: dict[str, object] = {}
    for path in sorted(root.glob("states/**/*.tfstate")):
        state = json.loads(path.read_bytes())
        found[str(path.relative_to(root))] = (state["resources"], state["outputs"])
    return found


def test_nothing_is_left_to_do(live: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = _objects(live)
    assert len(before) == 5
    assert main(["fleet", "plan", "-detailed-exitcode"]) == 0, capsys.readouterr().out
    assert main(["fleet", "apply", "-auto-approve"]) == 0
    assert _objects(live) == before


def test_values_are_those_of_terragrunt(live: Path) -> None:
    found = surveyed(live)
    for name, unit in found.units.items():
        assert unit.copy is None or unit.copy.own == str(live / name)
        rendered = json.loads(_terragrunt(live / name, "render", "--json"))
        theirs = rendered["inputs"]
        ours = {k: v.to_python(unknown=None) for k, v in found.known_values(name).items()}
        same = {key for key in theirs if ours.get(key) == theirs[key]}
        assert set(theirs) - same <= {"network_id", "script", "settings", "size"}


def test_order_is_that_of_terragrunt(live: Path) -> None:
    listed = json.loads(_terragrunt(live, "find", "--json", "--dag", "--dependencies"))
    theirs = {each["path"]: set(each.get("dependencies", ())) for each in listed}
    needs = surveyed(live).graph.needs
    assert {name: set(each) for name, each in needs.items()} == {
        name: each for name, each in theirs.items() if name in needs
    }
    assert set(theirs) >= set(needs)


def test_generated_files_are_those_of_terragrunt(live: Path) -> None:
    theirs = list(live.rglob(".terragrunt-cache/**/versions.tf"))
    assert theirs
    for path in theirs:
        unit = Path(str(path).partition("/.terragrunt-cache")[0])
        assert (unit / "versions.tf").read_bytes() == path.read_bytes()
