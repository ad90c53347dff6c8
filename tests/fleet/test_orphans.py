"""Units that are not declared any more and whose objects still exist."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from nigari import fleet as fleets
from nigari.fleet.units.known_units import known_file
from tests.cli.process import Done, nigari
from tests.fleet.trees import NETWORK, write_tree

_UNIT = """
unit "network" {
  for_each  = toset([%s])
  directory = "network"
  variables = { region = "in-${each.key}" }
}
unit "app" {
  for_each  = toset([%s])
  directory = "app"
  variables = { vpc_id = unit.network[each.key].outputs.vpc_id }
}
"""
_APP = """
variable "vpc_id" { type = string }
resource "terraform_data" "app" { input = var.vpc_id }
"""


def _fleet(*keys: str) -> dict[str, str]:
    text = ", ".join(f'"{each}"' for each in keys)
    return {
        "fleet.hcl": _UNIT % (text, text),
        "network/main.tf": NETWORK.replace('default = "eu"', ""),
        "app/main.tf": _APP,
    }


def _run(root: Path, *words: str) -> Done:
    done = nigari("fleet", *words, cwd=root)
    assert done.code == 0, done.err + done.out
    return done


def _flat(text: str) -> str:
    return " ".join(text.split())


def _objects(root: Path) -> dict[str, int]:
    return {
        path.parent.name + "/" + path.parts[-4]: len(json.loads(path.read_text())["resources"])
        for path in root.glob("*/terraform.tfstate.d/*/terraform.tfstate")
    }


def test_a_key_that_was_removed_leaves_orphans_that_can_be_destroyed(tmp_path: Path) -> None:
    write_tree(tmp_path, _fleet("dev", "prod"))
    assert "no longer declared" not in _run(tmp_path, "apply", "-auto-approve").err
    write_tree(tmp_path, _fleet("dev"))
    for command in (["plan"], ["apply", "-auto-approve"]):
        done = _run(tmp_path, *command)
        assert "No changes in 2 units." in done.out
        said = _flat(done.err)
        assert "Warning: Units that are no longer declared" in said
        assert 'network["prod"] (directory network, workspace prod): 1 object' in said
        assert 'app["prod"] (directory app, workspace prod): 1 object' in said
        assert "nigari fleet destroy -orphans" in said
    assert 'network["prod"]' in _run(tmp_path, "list").err
    document = json.loads(_run(tmp_path, "list", "-json").out)
    assert {each["name"] for each in document["orphans"]} == {'network["prod"]', 'app["prod"]'}
    done = _run(tmp_path, "plan", "-destroy", "-orphans")
    assert "terraform_data.vpc will be destroyed" in done.out
    assert 'network["dev"]' not in done.out
    # Objects are destroyed with the values that they had, dependants first.
    done = _run(tmp_path, "destroy", "-orphans", "-auto-approve")
    lines = [line for line in done.err.splitlines() if "destroyed (" in line]
    assert [line.partition(":")[0] for line in lines] == ['app["prod"]', 'network["prod"]']
    assert _objects(tmp_path) == {"dev/network": 1, "dev/app": 1, "prod/network": 0, "prod/app": 0}
    assert "no longer declared" not in _run(tmp_path, "plan").err
    assert json.loads(_run(tmp_path, "list", "-json").out)["orphans"] == []


def test_the_last_unit_of_a_directory_stays_set_up(tmp_path: Path) -> None:
    """Units that share a directory have data directories of their own."""
    backend = 'terraform {\n  backend "local" {\n    workspace_dir = "states"\n  }\n}\n'
    files = {name: text for name, text in _fleet("dev", "prod").items() if "app" not in name}
    text = files["fleet.hcl"][: files["fleet.hcl"].index('unit "app"')]
    write_tree(tmp_path, {**files, "fleet.hcl": text})
    path = tmp_path / "network/main.tf"
    path.write_text(backend + path.read_text())
    _run(tmp_path, "init")
    _run(tmp_path, "apply", "-auto-approve")
    write_tree(tmp_path, {"fleet.hcl": text.replace('"dev", ', "")})
    assert "No changes in one unit" in _run(tmp_path, "plan").out


def test_backends_know_what_was_applied_elsewhere(tmp_path: Path) -> None:
    write_tree(tmp_path, _fleet("dev", "prod"))
    _run(tmp_path, "apply", "-auto-approve")
    write_tree(tmp_path, _fleet("dev"))
    shutil.rmtree(tmp_path / ".nigari")
    said = _flat(_run(tmp_path, "plan").err)
    assert 'network["prod"] (directory network, workspace prod): 1 object' in said
    assert "its values are not known" in said
    done = _run(tmp_path, "destroy", "-orphans", "-auto-approve")
    assert "There are no units to work on." in done.out
    assert _objects(tmp_path)["prod/network"] == 1
    with fleets.open(tmp_path, jobs=1) as fleet:
        assert {(each.name, each.objects) for each in fleet.orphans()} == {
            ('network["prod"]', 1),
            ('app["prod"]', 1),
        }


def test_a_unit_with_another_name_is_no_orphan(tmp_path: Path) -> None:
    text = 'unit "%s" {\n  directory = "network"\n  workspace = "w"\n}\n'
    write_tree(tmp_path, {"fleet.hcl": text % "one", "network/main.tf": NETWORK})
    _run(tmp_path, "apply", "-auto-approve")
    write_tree(tmp_path, {"fleet.hcl": text % "two"})
    assert _run(tmp_path, "plan").err == ""
    write_tree(tmp_path, {"fleet.hcl": 'fleet {\n  exclude = ["network"]\n}\n'})
    assert _run(tmp_path, "list").err == ""


def test_orphans_that_cannot_be_destroyed_say_why(tmp_path: Path) -> None:
    secret = 'variable "region" { sensitive = true }\nresource "terraform_data" "x" {}\n'
    unit = 'unit "%s" {\n  directory = "%s"\n  %s\n}\n'
    text = unit % ("secret", "s", 'variables = { region = "x" }')
    text += unit % ("env", "e", 'env = { KEY = "hunter2" }')
    write_tree(tmp_path, {"s/main.tf": secret, "e/main.tf": NETWORK, "gone/main.tf": NETWORK})
    write_tree(tmp_path, {"fleet.hcl": text, "kept/main.tf": NETWORK})
    _run(tmp_path, "apply", "-auto-approve")
    assert "hunter2" not in Path(known_file(str(tmp_path))).read_text()
    shutil.rmtree(tmp_path / "gone")
    write_tree(
        tmp_path, {"fleet.hcl": "fleet {\n  discover = false\n}\n" + unit % ("kept", "kept", "")}
    )
    said = _flat(_run(tmp_path, "plan").err)
    assert "the values that it had for region are secret" in said
    assert "fleet.hcl set KEY for it" in said
    assert "its directory is gone" in said
    assert "-orphans" not in said
    done = _run(tmp_path, "destroy", "-orphans", "-auto-approve")
    assert _flat(done.err).count("Unit not destroyed") == 3


def test_units_without_objects_are_no_orphans(tmp_path: Path) -> None:
    write_tree(tmp_path, _fleet("dev", "prod"))
    _run(tmp_path, "apply", "-auto-approve")
    _run(tmp_path, "destroy", "-auto-approve", '-only=app["prod"],network["prod"]')
    write_tree(tmp_path, _fleet("dev"))
    assert _run(tmp_path, "plan").err == ""


def test_a_damaged_list_of_units_is_not_forgotten(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/main.tf": NETWORK})
    _run(tmp_path, "apply", "-auto-approve")
    path = Path(known_file(str(tmp_path)))
    for damage in (b"\xff", b"[]", b'{"units": {"a": {}}}', b"[" * 100_000):
        path.write_bytes(damage)
        for command in (["list"], ["apply", "-auto-approve"], ["destroy", "-orphans"]):
            done = nigari("fleet", *command, cwd=tmp_path)
            assert done.code == 1
            assert "Damaged list of units" in done.err
            assert str(path) in done.err.replace("\n", "")
        assert path.read_bytes() == damage
