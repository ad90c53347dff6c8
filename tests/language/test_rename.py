"""Renaming: everywhere, nothing else, and the plan afterwards is empty."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

import nigari
from nigari import Summary
from nigari.diagnostics import Diagnostics
from nigari.language.project import Project, survey
from nigari.language.rename import declared_symbol, rename
from nigari.language.rename_check import check_edits
from nigari.language.resolved_calls import resolve_calls

FILES: Final = {
    "main.tf": """\
# The region; not var.region_name.
variable "region" { default = "eu" } # region
variable "region_name" {
  default = "x"
}
locals {
  where = "${var.region}-${var.region_name}" /* var.region */
  nets  = { a = "x", b = "y" }
  text  = <<-EOT
    ${local.where} local.where
  EOT
  pick  = [for region in [local.where] : region]
}
resource "terraform_data" "first" {
  input = local.where
}
resource "terraform_data" "second" {
  count      = 2
  input      = [terraform_data.first.output, terraform_data.first]
  depends_on = [terraform_data.first, module.net]
  lifecycle {
    replace_triggered_by = [terraform_data.first.id]
  }
}
module "net" {
  source   = "./net"
  for_each = local.nets
  name     = each.value
}
module "alone" {
  source = "./net"
  name   = module.net["a"].id
}
check "first" {
  assert {
    condition     = terraform_data.first.output != ""
    error_message = "no"
  }
}
output "first" {
  value = {
    ids  = [for key, net in module.net : net.id]
    all  = values(module.net)[*].id
    one  = module.net["a"].id
    each = [for k in keys(local.nets) : module.net[k].id]
    two  = terraform_data.second[*].output
  }
}
""",
    "net/main.tf": """\
variable "name" {
  type = string
}
resource "terraform_data" "net" {
  input = var.name
}
output "id" {
  value = terraform_data.net.output
}
""",
    "env/prod.tfvars": 'region = "us"\n',
    "tests/a.tftest.hcl": """\
variables {
  region = "t"
}
run "plan" {
  command = plan
  variables {
    region_name = var.region
  }
  assert {
    condition     = var.region == "t" && terraform_data.first.input != "" && module.alone.id != ""
    error_message = "no"
  }
}
""",
}
RENAMED: Final = [
    ("var.region", "place", 6),
    ("var.region_name", "title", 3),
    ("local.where", "spot", 4),
    ("local.nets", "networks", 3),
    ("terraform_data.first", "one", 7),
    ("terraform_data.second", "two", 2),
    ("module.net", "subnet", 7),
    ("module.alone", "only", 2),
    ("module.net.var.name", "title", 4),
    ("module.net.output.id", "ident", 7),
    ("module.alone.terraform_data.net", "thing", 2),
    ("check.first", "still", 1),
]


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _rename(
    root: Path, address: str, name: str, directory: str = ""
) -> tuple[dict[str, str], Diagnostics]:
    """Rename on disk; the texts of the files that have changed."""
    project = Project((str(root),))
    project.adopt(survey((str(root),)))
    resolve_calls(project, {})
    diags = Diagnostics()
    symbols = declared_symbol(project, str(root / directory), address, diags)
    edits = rename(project, symbols, name, diags) if symbols else None
    if edits is None:
        return {}, diags
    contents = check_edits(project, edits, {}, diags)
    if diags.has_errors:
        return {}, diags
    for path, content in contents.items():
        Path(path).write_bytes(content)
    return {str(Path(p).relative_to(root)): c.decode() for p, c in contents.items()}, diags


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configuration, applied."""
    root = tmp_path_factory.mktemp("applied")
    _write(root, FILES)
    with nigari.open(root, environ={}) as session:
        session.init()
        session.apply()
    return root


@pytest.mark.parametrize(("address", "name", "count"), RENAMED)
def test_the_plan_is_empty_and_all_else_the_same(
    tmp_path: Path, applied: Path, address: str, name: str, count: int
) -> None:
    root = tmp_path / "root"
    shutil.copytree(applied, root)
    changed, diags = _rename(root, address, name)
    assert [*diags] == []
    short = address.rpartition(".")[2]
    found = 0
    for path, text in changed.items():
        before = FILES[path]
        without = re.sub(r"\nmoved \{\n  from = .*\n  to   = .*\n\}\n", "", text)
        old = re.split(rf"(?<![\w-]){short}(?![\w-])|(?<![\w-]){name}(?![\w-])", before)
        assert re.split(rf"(?<![\w-]){short}(?![\w-])|(?<![\w-]){name}(?![\w-])", without) == old
        found += len(re.findall(rf"(?<![\w-]){name}(?![\w-])", without))
        found -= len(re.findall(rf"(?<![\w-]){name}(?![\w-])", before))
    assert found == count
    with nigari.open(root, environ={}) as session:
        session.init()
        plan = session.plan()
        assert plan.summary == Summary(0, 0, 0), plan.changes
        moved = {each.address for each in plan.changes if each.previous_address}
        assert bool(moved) == address.rpartition(".")[0].endswith(("module", "terraform_data"))
    assert nigari.load(root, environ={}).validate() == ()


def test_there_and_back(tmp_path: Path, applied: Path) -> None:
    """States that were applied in between are followed, and the blocks form no cycle."""
    root = tmp_path / "root"
    shutil.copytree(applied, root)
    address = "terraform_data.first"
    changed: dict[str, str] = {}
    for name, is_applied in (("one", False), ("two", True), ("first", False), ("last", True)):
        changed, diags = _rename(root, address, name)
        address = f"terraform_data.{name}"
        assert [*diags] == []
        assert "main.tf" in changed
        with nigari.open(root, environ={}) as session:
            session.init()
            plan = session.plan()
            assert plan.summary == Summary(0, 0, 0)
            if is_applied:
                session.apply(plan)
    assert "from = terraform_data.first\n" not in changed["main.tf"].replace(
        "from = terraform_data.first\n  to   = terraform_data.last", ""
    )


@pytest.mark.parametrize(
    ("address", "name", "summary"),
    [
        ("var.nothing", "x", "Nothing at this address"),
        ("module.nothing.var.x", "x", "Nothing at this address"),
        ('module.net["a"]', "x", "Nothing at this address"),
        ("var.region", "region_name", "Name is taken"),
        ("var.region", "for_each", "Reserved name"),
        ("var.region", "not a name", "Invalid name"),
        ("terraform_data.first", "second", "Name is taken"),
    ],
)
def test_what_cannot_be_renamed(tmp_path: Path, address: str, name: str, summary: str) -> None:
    _write(tmp_path, FILES)
    changed, diags = _rename(tmp_path, address, name)
    assert changed == {}
    assert [each.summary for each in diags] == [summary]


@pytest.mark.parametrize(
    ("file", "text", "summary"),
    [
        ("more.tf.json", '{"locals": {"a": "${var.region}"}}', "File in the JSON syntax"),
        ("more.tf", "locals {\n  a = [var.region\n}\n", "File with syntax errors"),
    ],
)
def test_files_that_are_not_rewritten(tmp_path: Path, file: str, text: str, summary: str) -> None:
    _write(tmp_path, {**FILES, file: text})
    changed, diags = _rename(tmp_path, "var.region", "place")
    assert changed == {}
    assert [each.summary for each in diags] == [summary]


def test_uses_that_are_not_found_keep_everything_as_it_is(tmp_path: Path) -> None:
    """A module object under another name is not followed; the error that it would cause is found."""
    hidden = 'locals {\n  n = module.alone\n}\noutput "x" {\n  value = local.n.id\n}\n'
    _write(tmp_path, {**FILES, "more.tf": hidden})
    before = {name: (tmp_path / name).read_text() for name in FILES}
    changed, diags = _rename(tmp_path, "module.alone.output.id", "ident")
    if not diags.has_errors:
        pytest.fail(f"renamed: {sorted(changed)}")
    assert {name: (tmp_path / name).read_text() for name in FILES} == before


def test_aliases_and_environments(tmp_path: Path) -> None:
    files = {
        "main.tf": 'variable "n" {}\nprovider "cloud" {\n  alias = "west"\n}\n'
        'resource "cloud_x" "a" {\n  provider = cloud.west\n}\n'
        'module "m" {\n  source = "./m"\n  providers = { cloud = cloud.west }\n}\n',
        "m/main.tf": 'resource "cloud_x" "b" {}\n',
        "environments.hcl": 'environment "prod" {\n  variables = { n = "n" }\n}\n',
    }
    _write(tmp_path, files)
    changed, diags = _rename(tmp_path, "provider.cloud.west", "east")
    assert not diags.has_errors
    assert changed == {"main.tf": files["main.tf"].replace("west", "east")}
    changed, diags = _rename(tmp_path, "var.n", "number")
    assert (
        changed["environments.hcl"] == 'environment "prod" {\n  variables = { number = "n" }\n}\n'
    )


_FLEET = """\
locals {
  region = "eu"
}
unit "network" {
  for_each  = { a = 1 }
  directory = "network"
  variables = { region = local.region, size = 1 }
}
unit "app" {
  directory = "app"
  variables = {
    region = "x"
    vpc    = unit.network["a"].outputs.vpc # Kept.
    all    = [upper(unit.network[local.region].outputs.vpc), unit.app.outputs.vpc]
  }
}
unit "copy" {
  directory = "live"
  source    = "./network"
  variables = { region = "y" }
}
unit "far" {
  directory = "network"
  source    = "git::https://example.com/a.git"
  variables = { region = "z" }
}
"""
_UNIT = 'variable "region" {}\nlocals {\n  region = 1\n}\noutput "vpc" {\n  value = var.region\n}\n'


@pytest.mark.parametrize(
    ("address", "old", "new"),
    [
        (
            "var.region",
            ("{ region = local.region, size", '{ region = "y"'),
            ("{ zq = local.region, size", '{ zq = "y"'),
        ),
        (
            "output.vpc",
            ('["a"].outputs.vpc', "[local.region].outputs.vpc"),
            ('["a"].outputs.zq', "[local.region].outputs.zq"),
        ),
        ("local.region", (), ()),
    ],
)
def test_fleet(tmp_path: Path, address: str, old: tuple[str, ...], new: tuple[str, ...]) -> None:
    _write(tmp_path, {"fleet.hcl": _FLEET, "network/main.tf": _UNIT, "app/main.tf": _UNIT})
    expected = _FLEET
    for before, after in zip(old, new, strict=True):
        assert before in expected
        expected = expected.replace(before, after)
    changed, diags = _rename(tmp_path, address, "zq", "network")
    assert not diags.has_errors
    assert changed.get("fleet.hcl", _FLEET) == expected


_ONE = 'variable "size" {}\noutput "out" {\n  value = var.size\n}\n'


@pytest.mark.parametrize(
    ("address", "old", "new"),
    [("var.size", "size", "zq"), ("output.out", "out", "zq")],
)
@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"terraform.tfvars": 'kinds = { a = "one", b = "two" }\n'}, id="values"),
        pytest.param(
            {
                "environments.hcl": 'environment "x" {\n  variables = { kinds = { a = "one" } }\n}\n'
                'environment "y" {\n  variables = { kinds = { a = "two" } }\n}\n'
            },
            id="environments",
        ),
    ],
)
def test_sources_that_are_computed(
    tmp_path: Path, address: str, old: str, new: str, more: dict[str, str]
) -> None:
    main = (
        'variable "kinds" {}\nmodule "m" {\n  for_each = var.kinds\n'
        '  source = "./${each.value}"\n  size = 1\n}\noutput "o" {\n  value = module.m["a"].out\n}\n'
    )
    _write(tmp_path, {"main.tf": main, "one/main.tf": _ONE, "two/main.tf": _ONE, **more})
    changed, diags = _rename(tmp_path, address, "zq", "one")
    assert not diags.has_errors, diags
    assert set(changed) == {"main.tf", "one/main.tf", "two/main.tf"}
    word = re.compile(rf'(?<=[ ".]){old}(?=[ "\n])')
    expected = {"main.tf": main, "one/main.tf": _ONE, "two/main.tf": _ONE}
    for name, text in expected.items():
        if address.startswith("output"):
            text = text.replace('output "out"', f'output "{new}"').replace("].out", f"].{new}")
        else:
            text = word.sub(new, text)
        assert changed[name] == text
