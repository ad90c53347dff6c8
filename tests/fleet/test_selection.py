"""Which units a command is about."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostics
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.units.selection import Choice, chosen_units
from tests.fleet.trees import DECLARED, NETWORK, reading, surveyed, write_tree

_TREE = {
    "live/eu/net/main.tf": NETWORK,
    "live/eu/app/main.tf": reading("n", "../net/terraform.tfstate"),
    "live/us/net/main.tf": NETWORK,
    "live/us/app/main.tf": reading("n", "../net/terraform.tfstate")
    + 'module "m" {\n source = "../../../modules/m"\n}\n',
    "live/us/edge/main.tf": reading("a", "../app/terraform.tfstate"),
    "modules/m/main.tf": 'locals { t = templatefile("${path.module}/t.tpl", {}) }',
    "modules/m/t.tpl": "x",
    "other/main.tf": 'variable "n" {}\nlocals { f = [for n in ["a", "b"] : file("../data/${n}.txt")] }\n'
    'resource "terraform_data" "x" { input = file("../more/${var.n}.txt") }\n',
    "data/a.txt": "a",
    "data/b.txt": "b",
    "unread.txt": "",
}


def _chosen(found: Survey, choice: Choice) -> list[str]:
    diags = Diagnostics()
    names = chosen_units(found, choice, {}, diags)
    assert not diags.has_errors, list(diags)
    return names


ONLY = [
    (["live/eu/app"], ["live/eu/app"]),
    (["./live/eu/app/"], ["live/eu/app"]),
    (["live/us"], ["live/us/app", "live/us/edge", "live/us/net"]),
    (["live/*/net"], ["live/eu/net", "live/us/net"]),
    (["**/app"], ["live/eu/app", "live/us/app"]),
    (["live/us/net+"], ["live/us/app", "live/us/edge", "live/us/net"]),
    (["+live/us/app"], ["live/us/app", "live/us/net"]),
    (["+live/us/app+"], ["live/us/app", "live/us/edge", "live/us/net"]),
    (["+**/app"], ["live/eu/app", "live/eu/net", "live/us/app", "live/us/net"]),
    (["other,live/eu/net"], ["live/eu/net", "other"]),
    (["other", "live/eu/net"], ["live/eu/net", "other"]),
]


@pytest.mark.parametrize(("only", "names"), ONLY)
def test_only(tmp_path: Path, only: list[str], names: list[str]) -> None:
    assert _chosen(surveyed(tmp_path, _TREE), Choice(only)) == names


def test_names_labels_and_exceptions(tmp_path: Path) -> None:
    found = surveyed(tmp_path, DECLARED)
    assert _chosen(found, Choice(["app"])) == ['app["dev"]', 'app["prod"]']
    assert _chosen(found, Choice(['app["dev"]'])) == ['app["dev"]']
    assert _chosen(found, Choice(["label:prod"])) == ['app["prod"]']
    assert _chosen(found, Choice(["+label:prod"])) == ['network["prod"]', 'app["prod"]']
    assert _chosen(found, Choice((), ["label:prod", "network"])) == ['app["dev"]']
    assert _chosen(found, Choice(['network["dev"]+'], ["app"])) == ['network["dev"]']


@pytest.mark.parametrize(
    ("text", "hint"), [("live/eu/ap", "live/eu/app"), ("label:x", "label"), ("no/*", "pattern")]
)
def test_what_means_nothing_is_reported(tmp_path: Path, text: str, hint: str) -> None:
    diags = Diagnostics()
    chosen_units(surveyed(tmp_path, _TREE), Choice([text]), {}, diags)
    (found,) = diags
    assert hint in found.detail


@pytest.mark.parametrize("text", ["m", "./m/", "+m"])
def test_a_module_is_not_a_unit(tmp_path: Path, text: str) -> None:
    files = {"m/main.tf": "", "a/main.tf": 'module "m" { source = "../m" }'}
    diags = Diagnostics()
    chosen_units(surveyed(tmp_path, files), Choice([text]), {}, diags)
    (found,) = diags
    assert "calls it as a module" in found.detail


def test_many_selectors_are_looked_at_together(tmp_path: Path) -> None:
    found = surveyed(tmp_path, {f"u{n}/main.tf": "" for n in range(60)})
    selectors = [f"u{n}" for n in range(0, 60, 2)] + [f"u{n}*" for n in (1, 3)]
    names = _chosen(found, Choice(selectors))
    assert "u10" in names
    assert "u13" in names
    assert "u21" not in names


CHANGED = [
    ("live/eu/net/main.tf", ["live/eu/app", "live/eu/net"]),
    ("live/us/edge/notes.md", ["live/us/edge"]),
    ("modules/m/main.tf", ["live/us/app", "live/us/edge"]),
    ("modules/m/t.tpl", ["live/us/app", "live/us/edge"]),
    ("data/b.txt", ["other"]),
    ("more/new.txt", ["other"]),
    ("unread.txt", []),
]


def _git(directory: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    subprocess.run(("git", *identity, *arguments), cwd=directory, check=True, capture_output=True)


def _committed(directory: Path) -> None:
    _git(directory, "init", "-q")
    _git(directory, "add", "-A")
    _git(directory, "commit", "-qm", "all")


@pytest.mark.parametrize(("path", "names"), CHANGED)
def test_changed_since(tmp_path: Path, path: str, names: list[str]) -> None:
    write_tree(tmp_path, _TREE)
    _committed(tmp_path)
    file = tmp_path / path
    text = file.read_text() if file.exists() else ""
    write_tree(tmp_path, {path: text + "\n"})
    found = surveyed(tmp_path)
    assert _chosen(found, Choice(changed_since="HEAD")) == names
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "more")
    assert _chosen(found, Choice(changed_since="HEAD")) == []
    assert _chosen(found, Choice(changed_since="HEAD~1")) == names


def test_a_change_of_the_definition_concerns_what_it_changes(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    _committed(tmp_path)
    text = DECLARED["fleet.hcl"].replace("us-east-1", "us-west-2")
    found = surveyed(tmp_path, {"fleet.hcl": text + "\n# a comment\n"})
    assert _chosen(found, Choice(changed_since="HEAD")) == ['network["prod"]', 'app["prod"]']


_READING = """
locals { environments = { for file in fileset(".", "env/*/env.tfvars") : basename(dirname(file)) => file } }
unit "u" {
  for_each  = yamldecode(file("units.yaml"))
  directory = "u"
  variables = { x = each.value }
}
unit "e" {
  for_each  = local.environments
  directory = "e"
  var_files = [each.value]
}
unit "w" {
  directory = "w"
  variables = { x = "${unit.u["a"].outputs.x} ${file("word")}" }
}
"""


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("other.yaml", "", []),
        ("units.yaml", "a: 1\nb: 3\n", ['u["b"]']),
        ("units.yaml", "a: 1\nb: 2\nc: 3\n", ['u["c"]']),
        # Which files there are is the same, and only one unit reads this one.
        ("env/dev/env.tfvars", "x = 1", ['e["dev"]']),
        ("env/new/env.tfvars", "", ['e["new"]']),
        ("env/new/other.tfvars", "", []),
        # What comes of it is known only after apply, but not the same.
        ("word", "other", ["w"]),
        ("fleet.hcl", _READING.replace("outputs.x}", "outputs.x}!"), ["w"]),
    ],
)
def test_files_that_the_definition_reads(
    tmp_path: Path, path: str, text: str, names: list[str]
) -> None:
    root = write_tree(
        tmp_path / "repository" / "fleet",
        {
            "fleet.hcl": _READING,
            "units.yaml": "a: 1\nb: 2\n",
            "word": "word",
            "env/dev/env.tfvars": "",
            "env/prod/env.tfvars": "",
            **{f"{each}/main.tf": 'variable "x" { default = 1 }' for each in "uevw"},
        },
    )
    _committed(root.parent)
    found = surveyed(root, {path: text})
    assert not found.diagnostics
    assert _chosen(found, Choice(changed_since="HEAD")) == names


def test_a_file_of_variables(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    _committed(tmp_path)
    found = surveyed(tmp_path, {"network/env/dev.tfvars": "\n# changed\n"})
    # It is also in the directory of the other environment, which may read it in other ways.
    chosen = _chosen(found, Choice(["label:dev", "+label:dev"], changed_since="HEAD"))
    assert chosen == ['network["dev"]', 'app["dev"]']


@pytest.mark.parametrize("text", ["nowhere", "HEAD~7", "HEAD:a", "main...HEAD", "--output=stolen"])
def test_no_such_commit(tmp_path: Path, text: str) -> None:
    write_tree(tmp_path, _TREE)
    _committed(tmp_path)
    diags = Diagnostics()
    chosen_units(surveyed(tmp_path), Choice(changed_since=text), {}, diags)
    (problem,) = diags.in_order()
    assert problem.summary == "No such commit"
    assert f'"{text}"' in problem.detail
    assert not (tmp_path / "stolen").exists()


def test_a_commit_that_a_shallow_clone_lacks(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    write_tree(whole, _TREE)
    _committed(whole)
    _git(whole, "commit", "--allow-empty", "-qm", "more")
    _git(tmp_path, "clone", "-q", "--depth=1", f"file://{whole}", "shallow")
    diags = Diagnostics()
    chosen_units(surveyed(tmp_path / "shallow"), Choice(changed_since="HEAD~1"), {}, diags)
    (problem,) = diags.in_order()
    assert "git fetch --unshallow" in problem.detail


def test_files_of_submodules(tmp_path: Path) -> None:
    units = {"a/main.tf": "", "b/main.tf": ""}
    write_tree(tmp_path / "shared", units)
    _committed(tmp_path / "shared")
    root = write_tree(tmp_path / "root", {"own/main.tf": 'module "m" { source = "../live/a" }'})
    write_tree(root, {"other/main.tf": ""})
    _committed(root)
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q")
    _git(root, *add, str(tmp_path / "shared"), "live")
    _git(root, "commit", "-qm", "more")
    found = surveyed(root)
    assert list(found.units) == ["live/b", "other", "own"]
    assert _chosen(found, Choice(changed_since="HEAD")) == []
    write_tree(root, {"live/b/main.tf": "# changed", "live/a/new.tf": ""})
    assert _chosen(found, Choice(changed_since="HEAD")) == ["live/b", "own"]
    _git(root / "live", "add", "-A")
    _git(root / "live", "commit", "-qm", "more")
    assert _chosen(found, Choice(changed_since="HEAD")) == ["live/b", "own"]
    # A submodule that was not there is new as a whole.
    assert _chosen(found, Choice(changed_since="HEAD~1")) == ["live/b", "own"]


def test_a_declared_unit_takes_the_directory_behind_a_link(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real/main.tf": "", "fleet.hcl": 'unit "u" { directory = "alias" }'})
    (tmp_path / "alias").symlink_to("real")
    found = surveyed(tmp_path)
    assert list(found.units) == ["u"]
    assert not found.diagnostics
