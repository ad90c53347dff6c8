"""Trees of Terragrunt: what an import writes, and what it says of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari.cli.main import main
from nigari.diagnostics import Diagnostics, to_text
from nigari.fleet.terragrunt.importing import ImportedTree, import_terragrunt
from tests.fleet.terragrunt_trees import LIVE
from tests.fleet.trees import surveyed, write_tree

_MAIN = 'variable "x" {\n  default = null\n}\n'


def _imported(root: Path, files: Mapping[str, str], **environ: str) -> tuple[ImportedTree, str]:
    """The import of these files, and what it reports."""
    diags = Diagnostics()
    found = import_terragrunt(str(write_tree(root, files)), environ, diags)
    return found, " ".join(to_text(diags, found.sources).split())


def _x(root: Path, unit: str, files: Mapping[str, str], **environ: str) -> str:
    """The text of the variable x of a unit."""
    found, _ = _imported(root, {f"{unit}/main.tf": _MAIN, **files}, **environ)
    (wanted,) = [each for each in found.units if each.name == unit]
    return wanted.variables["x"]


VALUES: list[tuple[str, Mapping[str, str], str]] = [
    ("a literal", {"u/terragrunt.hcl": "inputs = { x = 1 }"}, "1"),
    (
        "locals that depend on each other",
        {"u/terragrunt.hcl": 'locals {\n a = "${local.b}!"\n b = "c"\n}\ninputs = { x = local.a }'},
        '"c!"',
    ),
    (
        "the path from an included file",
        {
            "root.hcl": "inputs = { x = path_relative_to_include() }",
            "u/terragrunt.hcl": 'include "a" {\n path = find_in_parent_folders("root.hcl")\n}\n',
        },
        '"u"',
    ),
    (
        "the path to one of two included files",
        {
            "a/root.hcl": "",
            "root.hcl": "",
            "u/terragrunt.hcl": 'include "a" {\n path = "../a/root.hcl"\n}\n'
            'include "b" {\n path = "../root.hcl"\n}\n'
            'inputs = { x = path_relative_from_include("a") }',
        },
        '"../a"',
    ),
    (
        "the unit's directory in an included file",
        {
            "root.hcl": "inputs = { x = basename(get_terragrunt_dir()) }",
            "u/terragrunt.hcl": 'include {\n path = "../root.hcl"\n}\n',
        },
        '"u"',
    ),
    (
        "the directory of an included file",
        {
            "root.hcl": 'inputs = { x = "${get_parent_terragrunt_dir()}/y" }',
            "u/terragrunt.hcl": 'include {\n path = "../root.hcl"\n}\n',
        },
        'abspath("y")',
    ),
    (
        "the directory of a file that is read",
        {
            "other/env.hcl": "locals {\n x = basename(get_terragrunt_dir())\n}\n",
            "u/terragrunt.hcl": 'inputs = { x = read_terragrunt_config("../other/env.hcl").locals.x }',
        },
        '"other"',
    ),
    (
        "the unit in a file that is read",
        {
            "other/env.hcl": "locals {\n x = basename(get_original_terragrunt_dir())\n}\n",
            "u/terragrunt.hcl": 'inputs = { x = read_terragrunt_config("../other/env.hcl").locals.x }',
        },
        '"u"',
    ),
    (
        "a default for a file that is not there",
        {"u/terragrunt.hcl": 'inputs = { x = read_terragrunt_config("no.hcl", { a = 1 }).a }'},
        "1",
    ),
    (
        "a default of the environment",
        {"u/terragrunt.hcl": 'inputs = { x = get_env("NO", "none") }'},
        '"none"',
    ),
    (
        "the value of a feature",
        {"u/terragrunt.hcl": 'feature "f" {\n default = 3\n}\ninputs = { x = feature.f.value }'},
        "3",
    ),
    (
        "an exposed include",
        {
            "root.hcl": "locals {\n a = 4\n}\n",
            "u/terragrunt.hcl": 'include "root" {\n path = "../root.hcl"\n expose = true\n}\n'
            "inputs = { x = include.root.locals.a }",
        },
        "4",
    ),
    (
        "the unit wins",
        {
            "root.hcl": "inputs = { x = 1 }",
            "u/terragrunt.hcl": 'include "root" {\n path = "../root.hcl"\n}\ninputs = { x = 2 }',
        },
        "2",
    ),
    (
        "the later include wins",
        {
            "a.hcl": "inputs = { x = 1 }",
            "b.hcl": "inputs = { x = 2 }",
            "u/terragrunt.hcl": 'include "a" {\n path = "../a.hcl"\n}\n'
            'include "b" {\n path = "../b.hcl"\n}\n',
        },
        "2",
    ),
    (
        "an include that is not merged",
        {
            "a.hcl": "inputs = { x = 1 }",
            "b.hcl": "inputs = { x = 2 }",
            "u/terragrunt.hcl": 'include "a" {\n path = "../a.hcl"\n}\n'
            'include "b" {\n path = "../b.hcl"\n merge_strategy = "no_merge"\n}\n',
        },
        "1",
    ),
    (
        "lists are joined",
        {
            "root.hcl": "inputs = { x = [1] }",
            "u/terragrunt.hcl": 'include "root" {\n path = "../root.hcl"\n'
            ' merge_strategy = "deep"\n}\ninputs = { x = [2] }',
        },
        "[1, 2]",
    ),
    (
        "a value of a dependency",
        {
            "v/main.tf": "",
            "v/terragrunt.hcl": "",
            "u/terragrunt.hcl": 'dependency "d" {\n config_path = "../v"\n}\n'
            "inputs = { x = dependency.d.outputs.y[0] }",
        },
        'unit["v"].outputs.y[0]',
    ),
    (
        "a local that is not known",
        {
            "v/main.tf": "",
            "v/terragrunt.hcl": "",
            "root.hcl": 'dependency "d" {\n config_path = "../v"\n}\ninputs = { x = { a = 1 } }\n',
            "u/terragrunt.hcl": 'include "root" {\n path = "../root.hcl"\n'
            ' merge_strategy = "deep"\n}\ninputs = { x = { b = dependency.d.outputs.y } }',
        },
        'merge({ a = 1 }, { b = unit["v"].outputs.y })',
    ),
    (
        "a dependency of the unit in an included file",
        {
            "v/main.tf": "",
            "v/terragrunt.hcl": "",
            "root.hcl": 'locals {\n v = "v"\n}\ninputs = { x = dependency.d.outputs.y }',
            "u/terragrunt.hcl": 'include "root" {\n path = "../root.hcl"\n expose = true\n}\n'
            'dependency "d" {\n config_path = "../${include.root.locals.v}"\n}\n',
        },
        'unit["v"].outputs.y',
    ),
    (
        "a feature of the unit in an included file",
        {
            "root.hcl": "inputs = { x = feature.f.value }",
            "u/terragrunt.hcl": 'include "root" {\n path = "../root.hcl"\n}\n'
            'feature "f" {\n default = 7\n}\n',
        },
        "7",
    ),
    (
        "includes with and without a name",
        {
            "a.hcl": "locals {\n x = 1\n}\n",
            "b.hcl": "locals {\n x = 2\n}\n",
            "u/terragrunt.hcl": 'include {\n path = "../a.hcl"\n expose = true\n}\n'
            'include "b" {\n path = "../b.hcl"\n expose = true\n}\n'
            'inputs = { x = include[""].locals.x + include.b.locals.x }',
        },
        "3",
    ),
    (
        "outputs that are not read",
        {
            "v/main.tf": "",
            "v/terragrunt.hcl": "",
            "u/terragrunt.hcl": 'dependency "d" {\n config_path = "../v"\n skip_outputs = true\n'
            " mock_outputs = { y = 5 }\n}\ninputs = { x = dependency.d.outputs.y }",
        },
        "5",
    ),
    (
        "a file is read when the fleet runs",
        {"u/a.txt": "text", "u/terragrunt.hcl": 'inputs = { x = upper(file("a.txt")) }'},
        'upper(file("u/a.txt"))',
    ),
    (
        "an argument on the command line",
        {
            "u/terragrunt.hcl": 'terraform {\n extra_arguments "a" {\n  commands = ["plan"]\n'
            '  arguments = ["-var", "x=1"]\n }\n}\ninputs = { x = 2 }'
        },
        '"1"',
    ),
]


@pytest.mark.parametrize(
    ("files", "text"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES]
)
def test_values(tmp_path: Path, files: Mapping[str, str], text: str) -> None:
    found = _x(tmp_path, "u", files)
    assert " ".join(found.split()) == text


_GENERATE = """
dependency "d" {
  config_path = "../v"
}
generate "p" {
  path      = "p.tf"
  if_exists = "overwrite"
  contents  = dependency.d.outputs.y
}
"""
NOTES: list[tuple[str, str, str]] = [
    (
        "a command",
        'inputs = { x = run_cmd("secret.sh") }',
        "The variable x of u: it comes from run_cmd(), which is not called here.",
    ),
    (
        "the environment",
        'inputs = { x = get_env("PASSWORD") }',
        "it comes from the environment variable PASSWORD.",
    ),
    (
        "a hook",
        'terraform {\n before_hook "h" {\n  commands = ["plan"]\n  execute = ["x"]\n }\n}\n',
        "before_hook h: a fleet only plans and applies.",
    ),
    ("a role", 'iam_role = "arn"', "iam_role: set assume_role in the provider"),
    (
        "an option",
        (
            'terraform {\n extra_arguments "a" {\n  commands = ["plan"]\n'
            '  arguments = ["-lock-timeout=5m"]\n }\n}\n'
        ),
        "-lock-timeout: give it to the commands of the fleet.",
    ),
    (
        "a dependency elsewhere",
        'dependency "d" {\n config_path = "../../other"\n}\n',
        "which is no unit of this tree.",
    ),
    (
        "contents from another unit",
        _GENERATE,
        "p.tf: they come from outputs of other units",
    ),
    (
        "contents from a variable that is not set",
        _GENERATE.replace("dependency.d.outputs.y", 'get_env("NO")'),
        "p.tf: the environment variable NO is not set.",
    ),
    (
        "contents from a command",
        _GENERATE.replace("dependency.d.outputs.y", 'run_cmd("x")'),
        "p.tf: it comes from run_cmd(), which is not called here.",
    ),
]


@pytest.mark.parametrize(
    ("text", "note"), [row[1:] for row in NOTES], ids=[row[0] for row in NOTES]
)
def test_what_is_not_carried_over(tmp_path: Path, text: str, note: str) -> None:
    files = {"u/main.tf": _MAIN, "u/terragrunt.hcl": text, "v/main.tf": "", "v/terragrunt.hcl": ""}
    found, said = _imported(tmp_path, files, PASSWORD="hunter2")
    assert note in said
    assert "hunter2" not in said + "".join(found.files.values())


def test_a_backend(tmp_path: Path) -> None:
    found, said = _imported(
        tmp_path,
        {
            "u/main.tf": "",
            "u/terragrunt.hcl": 'remote_state {\n backend = "s3"\n'
            ' generate = { path = "backend.tf", if_exists = "overwrite_terragrunt" }\n'
            ' config = { bucket = get_env("BUCKET"), key = "k", s3_bucket_tags = { a = 1 } }\n}\n',
        },
        BUCKET="states",
    )
    assert found.files[str(tmp_path / "u" / "backend.tf")] == (
        "# Generated by Terragrunt. Sig: nIlQXj57tbuaRZEa\nterraform {\n"
        '  backend "s3" {\n    bucket = "states"\n    key    = "k"\n  }\n}\n'
    )
    assert "remote_state: it depends on BUCKET. Its present value is written." in said


@pytest.mark.parametrize(
    ("bucket", "reason"),
    [
        ('get_env("NO")', "the environment variable NO is not set."),
        ('run_cmd("x")', "it comes from run_cmd(), which is not called here."),
        ("dependency.d.outputs.y", "they come from outputs of other units."),
    ],
)
def test_a_unit_without_its_state_is_an_error(tmp_path: Path, bucket: str, reason: str) -> None:
    dependency = 'dependency "d" {\n config_path = "../v"\n}\n'
    state = f'remote_state {{\n backend = "s3"\n config = {{ bucket = {bucket} }}\n}}\n'
    files = {
        "u/main.tf": "",
        "u/terragrunt.hcl": dependency + state,
        "v/main.tf": "",
        "v/terragrunt.hcl": "",
    }
    _, said = _imported(tmp_path, files)
    assert f"The arguments of remote_state are not known: {reason}" in said


def test_a_backend_of_the_module(tmp_path: Path) -> None:
    found, _ = _imported(
        tmp_path,
        {
            "u/main.tf": 'terraform {\n  backend "s3" {}\n}\n',
            "u/terragrunt.hcl": 'remote_state {\n backend = "s3"\n config = { key = "k" }\n}\n',
        },
    )
    assert found.units[0].backend_config == {"key": '"k"'}
    assert len(found.files) == 1


def test_a_file_of_somebody_stays(tmp_path: Path) -> None:
    generate = 'generate "p" {\n path = "p.tf"\n if_exists = "%s"\n contents = "# new"\n}\n'
    for if_exists, is_written in (("skip", False), ("overwrite", True), ("error", False)):
        files = {"u/p.tf": "# own\n", "u/terragrunt.hcl": generate % if_exists}
        found, said = _imported(tmp_path, files)
        assert (str(tmp_path / "u" / "p.tf") in found.files) is is_written
        assert ("that Terragrunt has not generated" in said) is (if_exists == "error")


def test_inputs_that_other_units_name(tmp_path: Path) -> None:
    dependency = 'dependency "d" {\n config_path = "../v"\n}\n'
    files = {
        "root.hcl": f"{dependency}inputs = merge(dependency.d.outputs, {{ a = 1 }})\n",
        "u/terragrunt.hcl": 'include "root" {\n path = "../root.hcl"\n}\ninputs = { x = 2 }',
        "u/main.tf": _MAIN,
        "v/terragrunt.hcl": "",
        "v/main.tf": "",
    }
    found, said = _imported(tmp_path, files)
    text = " ".join(found.files[str(tmp_path / "fleet.hcl")].split())
    assert 'variables = merge(merge(unit["v"].outputs, { a = 1 }), { x = 2 })' in text
    assert "depends_on" not in text
    assert not said


SOURCES: list[tuple[str, str, str]] = [
    ("gitlab.com/a/b//c?ref=v1", "git::https://gitlab.com/a/b.git//c?ref=v1", ""),
    ("more", "./u/more", ""),
    ("../m", "./m", ""),
    ("../m//a", "./m//a", ""),
    ("git::https://example.com/m.git//a?ref=v1", "git::https://example.com/m.git//a?ref=v1", ""),
    (
        "tfr:///terraform-aws-modules/vpc/aws?version=5.0.0",
        "terraform-aws-modules/vpc/aws",
        "5.0.0",
    ),
    ("tfr://example.com/a/b/c//d?version=1.0.0", "example.com/a/b/c//d", "1.0.0"),
]


@pytest.mark.parametrize(("source", "written", "version"), SOURCES)
def test_sources(tmp_path: Path, source: str, written: str, version: str) -> None:
    files = {
        "u/terragrunt.hcl": f'terraform {{ source = "{source}" }}',
        "m/a/main.tf": "",
        "u/more/x.tf": "",
    }
    found, _ = _imported(tmp_path, files)
    assert [(each.source, each.version) for each in found.units] == [(written, version)]


def test_excluded_units_are_left_out(tmp_path: Path) -> None:
    exclude = 'exclude {\n if = true\n actions = ["all"]\n}\n'
    files = {"u/terragrunt.hcl": exclude, "u/main.tf": "", "v/terragrunt.hcl": "", "v/main.tf": ""}
    found, said = _imported(tmp_path, files)
    assert [each.name for each in found.units] == ["v"]
    assert "u is excluded, so it is no unit of the fleet." in said


def test_the_fleet_that_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its units, their order and their values; a second import is refused without -force."""
    monkeypatch.chdir(write_tree(tmp_path, LIVE))
    assert main(["fleet", "import-terragrunt", "live"]) == 0
    assert main(["fleet", "import-terragrunt", "live"]) == 1
    found = surveyed(tmp_path / "live")
    assert not found.has_errors
    assert found.graph.layers() == [
        ["dev/services/.terragrunt-stack/network", "prod/network"],
        ["dev/services/.terragrunt-stack/app", "prod/app"],
        ["dev/first"],
    ]
    values = {name: each.to_python() for name, each in found.known_values("prod/network").items()}
    assert values == {
        "account": "prod",
        "name": "prod-network",
        "region": "eu",
        "tags": {"from": "common", "own": "yes"},
        "unused": 1,
        "zones": ["a", "b"],
    }
    monkeypatch.chdir(tmp_path / "live")
    assert main(["fleet", "init"]) == 0
    assert main(["fleet", "plan"]) == 0
    assert "Plan: 5 to add" in capsys.readouterr().out
