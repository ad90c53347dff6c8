"""The commands that show a fleet."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from tests.cli.process import nigari
from tests.fleet.trees import DECLARED, NETWORK, reading, write_tree


def test_list(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    done = nigari("fleet", "list", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].split() == ["UNIT", "DIRECTORY", "WORKSPACE", "LABELS", "NEEDS"]
    assert done.out.splitlines()[3].split() == ['app["dev"]', "app", "dev", "dev", 'network["dev"]']
    done = nigari("fleet", "list", "-json", "-only=label:dev", cwd=tmp_path)
    (unit,) = json.loads(done.out)["units"]
    assert (unit["name"], unit["needs"]) == ('app["dev"]', ['network["dev"]'])
    done = nigari("fleet", "list", "-names", "-except=app", cwd=tmp_path)
    assert done.out.split("\n")[:2] == ['network["dev"]', 'network["prod"]']


def test_a_unit_with_many_needs(tmp_path: Path) -> None:
    needs = "".join(reading(f"n{n}", f"../n{n}/terraform.tfstate") for n in range(9))
    some = "".join(reading(f"n{n}", f"../n{n}/terraform.tfstate") for n in range(4))
    write_tree(tmp_path, {f"n{n}/main.tf": NETWORK for n in range(9)})
    write_tree(tmp_path, {"all/main.tf": needs, "some/main.tf": some})
    lines = nigari("fleet", "list", cwd=tmp_path).out.splitlines()
    assert any(line.startswith("all ") and line.endswith("n0, n1, n2 and 6 more") for line in lines)
    assert any(line.startswith("some ") and line.endswith("n0, n1, n2, n3") for line in lines)
    document = json.loads(nigari("fleet", "list", "-json", cwd=tmp_path).out)
    (found,) = [each for each in document["units"] if each["name"] == "all"]
    assert found["needs"] == [f"n{n}" for n in range(9)]


def test_init_shows_the_warnings_of_units_once(tmp_path: Path) -> None:
    """They may say that providers come from where they should not."""
    write_tree(tmp_path, {f"{name}/main.tf": NETWORK for name in "ab"})
    settings = {"TF_CLI_CONFIG_FILE": "nowhere.tfrc"}
    done = nigari("fleet", "init", cwd=tmp_path, settings=settings)
    assert done.code == 0
    assert done.err.count("CLI configuration file not found") == 1
    done = nigari("fleet", "init", "-json", cwd=tmp_path, settings=settings)
    assert done.err == ""
    # A unit that fails has the warning, too, and is reported first.
    write_tree(tmp_path, {"a/main.tf": 'module "m" {\n  source = "./nowhere"\n}\n'})
    done = nigari("fleet", "init", cwd=tmp_path, settings=settings)
    assert done.code == 1
    assert done.err.count("CLI configuration file not found") == 1


def test_graph(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    done = nigari("fleet", "graph", cwd=tmp_path)
    assert done.code == 0, done.err
    assert 'needs network["prod"] (outputs of network["prod"], fleet.hcl:14)' in done.out
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


def test_mistakes_are_reported(tmp_path: Path) -> None:
    write_tree(tmp_path, {"fleet.hcl": 'unit "a" { directory = "x" }', "b/main.tf": "nonsense"})
    assert "No such directory" in nigari("fleet", "list", cwd=tmp_path).err
    (tmp_path / "fleet.hcl").unlink()
    done = nigari("fleet", "list", cwd=tmp_path)
    assert done.code == 1
    assert "b/main.tf line 1" in done.err


def test_reports_of_a_plan(tmp_path: Path) -> None:
    write_tree(tmp_path, {**DECLARED, "broken/main.tf": "locals { x = nothing.here }"})
    assert nigari("fleet", "init", "-except=broken", cwd=tmp_path).code == 0
    reports = ("-markdown=plan.md", "-junit-xml=plan.xml", "-out=fleet.plan")
    done = nigari("fleet", "plan", *reports, cwd=tmp_path)
    assert done.code == 1
    assert (
        "Plan: 4 to add, 0 to change, 0 to destroy in 4 units. One unit could not be planned."
        in (done.out)
    )
    assert "broken/main.tf line 1" in done.err
    markdown = (tmp_path / "plan.md").read_text()
    assert "**Plan: 4 to add, 0 to change, 0 to destroy in 4 of 5 units.**" in markdown
    assert '| `network["dev"]` | 1 | 0 | 0 |' in markdown
    assert ":x: `broken`" in markdown
    suite = ElementTree.parse(tmp_path / "plan.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("errors")) == ("5", "1")
    done = nigari("fleet", "show", "fleet.plan", cwd=tmp_path)
    assert 'app["prod"]' in done.out
    done = nigari("fleet", "show", "-only=network", "fleet.plan", cwd=tmp_path)
    assert 'input  = "vpc-us-east-1"' in done.out
    assert nigari("fleet", "show", "network/main.tf", cwd=tmp_path).code == 1


def test_events_for_programs(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    nigari("fleet", "init", cwd=tmp_path)
    done = nigari("fleet", "plan", "-json", "-detailed-exitcode", cwd=tmp_path)
    assert done.code == 2
    events = [json.loads(line) for line in done.out.splitlines()]
    ends = {each["unit"]: each for each in events if each["type"] == "unit_end"}
    assert ends['app["dev"]']["changes"]["add"] == 1
    assert ends['app["dev"]']["resources"] == [
        {"address": "terraform_data.app", "action": "create"}
    ]
    assert events[-1]["changes"] == {"add": 4, "change": 0, "remove": 0, "units": 4}
    done = nigari("fleet", "apply", "-json", cwd=tmp_path)
    assert done.code == 1
    assert "no prompt" in done.out + done.err
    done = nigari("fleet", "apply", "-json", "-auto-approve", cwd=tmp_path)
    assert done.code == 0, done.out
    assert json.loads(done.out.splitlines()[-1])["done"] == 4
    done = nigari("fleet", "output", "-json", "-only=app", cwd=tmp_path)
    assert json.loads(done.out)['app["dev"]']["app"]["value"] == "vpc-eu-west-1"
