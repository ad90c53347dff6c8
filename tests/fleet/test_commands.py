"""The commands that show a fleet."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.process import nigari
from tests.fleet.trees import DECLARED, NETWORK, reading, write_tree


def test_list(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    done = nigari("fleet", "list", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].split() == ["UNIT", "DIRECTORY", "WORKSPACE", "LABELS", "NEEDS"]
    assert done.out.splitlines()[3].split() == ['app["dev"]', "app", "dev", "dev", "1"]
    done = nigari("fleet", "list", "-json", "-only=label:dev", cwd=tmp_path)
    (unit,) = json.loads(done.out)["units"]
    assert (unit["name"], unit["needs"]) == ('app["dev"]', ['network["dev"]'])
    done = nigari("fleet", "list", "-names", "-except=app", cwd=tmp_path)
    assert done.out.split("\n")[:2] == ['network["dev"]', 'network["prod"]']


def test_graph(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    done = nigari("fleet", "graph", cwd=tmp_path)
    assert done.code == 0, done.err
    assert 'needs network["prod"] (outputs of app["prod"], fleet.hcl:14)' in done.out
    done = nigari("fleet", "graph", "-format=dot", cwd=tmp_path)
    assert '"app[\\"dev\\"]" -> "network[\\"dev\\"]" [label = "outputs"];' in done.out
    document = json.loads(nigari("fleet", "graph", "-format=json", cwd=tmp_path).out)
    assert len(document["edges"]) == 2
    assert "<svg" in nigari("fleet", "graph", "-format=html", cwd=tmp_path).out
    assert nigari("fleet", "graph", "-format=x", cwd=tmp_path).code == 1


def test_a_graph_with_cycles_is_shown_and_is_an_error(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "a/main.tf": reading("b", "../b/terraform.tfstate"),
            "b/main.tf": reading("a", "../a/terraform.tfstate"),
            "c/main.tf": NETWORK + reading("x", "../x/terraform.tfstate"),
        },
    )
    done = nigari("fleet", "graph", cwd=tmp_path)
    assert done.code == 1
    assert "Cycle: a → b → a" in done.out
    assert "States that no unit writes" in done.out
    assert "Units depend on each other" in done.err


def test_mistakes(tmp_path: Path) -> None:
    write_tree(tmp_path, {"fleet.hcl": 'unit "a" { directory = "x" }', "b/main.tf": "nonsense"})
    assert "No such directory" in nigari("fleet", "list", cwd=tmp_path).err
    (tmp_path / "fleet.hcl").unlink()
    done = nigari("fleet", "list", cwd=tmp_path)
    assert done.code == 1
    assert "b/main.tf line 1" in done.err
