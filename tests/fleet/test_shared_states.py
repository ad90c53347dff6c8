"""Which units would write one state, what is not known about that yet, and what may be done then."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari import fleet as fleets
from nigari.diagnostics import Severity
from nigari.workspace.session.failure import SessionError
from tests.cli.process import nigari
from tests.fleet.trees import NETWORK, surveyed, write_tree

_S3 = 'bucket = "b"\nregion = "r"\n'


def _backend(type_: str, arguments: str = "") -> str:
    return f'terraform {{\n  backend "{type_}" {{\n{arguments}\n}}\n}}\n'


def _cloud(arguments: str) -> str:
    return f"terraform {{\n  cloud {{\n{arguments}\n}}\n}}\n"


_TAGS = 'organization = "o"\nworkspaces {{\n  tags = ["{}"]\n}}'
_NAME = 'organization = "o"\nworkspaces {{\n  name = "{}"\n}}'
_PREFIX = 'organization = "o"\nworkspaces {{\n  prefix = "{}"\n}}'

BACKENDS: list[tuple[str, str, str, bool]] = [
    ("nothing given", _backend("s3"), _backend("s3"), False),
    ("no key yet", _backend("s3", _S3), _backend("s3", _S3), False),
    ("one key", _backend("s3", _S3 + 'key = "k"'), _backend("s3", _S3), False),
    ("the same key", _backend("s3", _S3 + 'key = "k"'), _backend("s3", _S3 + 'key = "k"'), True),
    ("other keys", _backend("s3", _S3 + 'key = "k"'), _backend("s3", _S3 + 'key = "l"'), False),
    ("gcs", _backend("gcs"), _backend("gcs"), False),
    ("gcs, no prefix yet", _backend("gcs", 'bucket = "b"'), _backend("gcs", 'bucket = "b"'), False),
    (
        "gcs, the same prefix",
        _backend("gcs", 'bucket = "b"\nprefix = "p"'),
        _backend("gcs", 'bucket = "b"\nprefix = "p/"'),
        True,
    ),
    ("azurerm", _backend("azurerm", 'key = "k"'), _backend("azurerm", 'key = "k"'), False),
    ("http", _backend("http"), _backend("http"), False),
    ("pg", _backend("pg"), _backend("pg"), False),
    ("consul", _backend("consul"), _backend("consul"), False),
    ("kubernetes", _backend("kubernetes"), _backend("kubernetes"), False),
    ("cos", _backend("cos", 'bucket = "b"'), _backend("cos", 'bucket = "b"'), False),
    ("oss", _backend("oss"), _backend("oss"), False),
    ("inmem", _backend("inmem"), _backend("inmem"), False),
    ("local, partial", _backend("local"), _backend("local"), False),
    (
        "local, one file",
        _backend("local", 'path = "../s"'),
        _backend("local", 'path = "../s"'),
        True,
    ),
    ("tags", _cloud(_TAGS.format("a")), _cloud(_TAGS.format("b")), False),
    ("the same tags", _cloud(_TAGS.format("a")), _cloud(_TAGS.format("a")), False),
    ("names", _cloud(_NAME.format("a")), _cloud(_NAME.format("b")), False),
    ("one name", _cloud(_NAME.format("a")), _cloud(_NAME.format("a")), True),
    ("a cloud without arguments", _cloud(""), _cloud(""), False),
    (
        "prefixes",
        _backend("remote", _PREFIX.format("a-")),
        _backend("remote", _PREFIX.format("a-")),
        False,
    ),
    ("remote", _backend("remote"), _backend("remote"), False),
]


@pytest.mark.parametrize(
    ("first", "second", "is_shared"), [row[1:] for row in BACKENDS], ids=lambda _: ""
)
def test_only_states_that_are_known_are_equal(
    tmp_path: Path, first: str, second: str, is_shared: bool
) -> None:
    found = surveyed(tmp_path, {"a/main.tf": first, "b/main.tf": second})
    assert [each.units for each in found.graph.shared] == ([("a", "b")] if is_shared else [])
    assert not found.diagnostics
    warnings = found.warnings(list(found.units))
    assert [each.severity for each in warnings] == ([Severity.WARNING] if is_shared else [])


def test_the_environment_completes_a_backend(tmp_path: Path) -> None:
    files = {"a/main.tf": _backend("http"), "b/main.tf": _backend("http")}
    found = surveyed(tmp_path, files, TF_HTTP_ADDRESS="http://h/s")
    assert [each.units for each in found.graph.shared] == [("a", "b")]
    cloud = _cloud('organization = "o"\nworkspaces {\n  tags = ["x"]\n}')
    found = surveyed(tmp_path, {"a/main.tf": cloud, "b/main.tf": cloud}, TF_WORKSPACE="prod")
    assert [each.units for each in found.graph.shared] == [("a", "b")]


_ONE = {
    "fleet.hcl": 'unit "a" { directory = "app" }\nunit "b" { directory = "app" }\n',
    "app/main.tf": NETWORK,
    "other/main.tf": NETWORK,
}
"""Two units with one state, and one that has its own."""


def test_only_planning_or_applying_both_is_an_error(tmp_path: Path) -> None:
    write_tree(tmp_path, _ONE)
    for command in (["list"], ["graph"], ["init"], ["validate"]):
        done = nigari("fleet", *command, cwd=tmp_path)
        assert done.code == 0, done.err
        assert "Warning: Two units with the same state" in done.err
        assert "a and b would write the same state" in " ".join(done.err.split())
    document = json.loads(nigari("fleet", "list", "-json", cwd=tmp_path).out)
    assert [each["units"] for each in document["shared_states"]] == [["a", "b"]]
    assert [each["name"] for each in document["units"]] == ["a", "b", "other"]
    done = nigari("fleet", "list", "-only=other", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    for options in (["plan"], ["apply", "-auto-approve"], ["destroy", "-auto-approve"]):
        done = nigari("fleet", *options, cwd=tmp_path)
        assert done.code == 1
        assert "Error: Two units with the same state" in done.err
        assert "Warning" not in done.err
    assert not list(tmp_path.rglob("terraform.tfstate"))
    done = nigari("fleet", "apply", "-auto-approve", "-except=b", cwd=tmp_path)
    assert done.code == 0, done.err


def test_plans_from_python_are_refused_as_well(tmp_path: Path) -> None:
    write_tree(tmp_path, _ONE)
    with fleets.open(tmp_path, jobs=1) as fleet:
        with pytest.raises(SessionError, match="same state"):
            fleet.plan()
        assert not fleet.plan(only=["a", "other"]).has_failed


PARTIAL = {
    "a/main.tf": _backend("local") + NETWORK,
    "b/main.tf": _backend("local") + NETWORK,
}


def _paths(root: Path) -> dict[str, str]:
    return {
        path.parent.parent.name: json.loads(path.read_text())["backend"]["config"]["path"]
        for path in root.glob("*/.terraform/terraform.tfstate")
    }


def test_settings_for_all_units(tmp_path: Path) -> None:
    write_tree(tmp_path, PARTIAL)
    done = nigari("fleet", "init", "-backend-config=path=one.tfstate", cwd=tmp_path)
    assert done.code == 0, done.err
    assert _paths(tmp_path) == {"a": "one.tfstate", "b": "one.tfstate"}
    done = nigari("fleet", "plan", cwd=tmp_path)
    assert done.code == 0, done.err
    # A file of settings is one of the unit, or one in the directory of the fleet.
    write_tree(
        tmp_path, {"ci.tfbackend": 'path = "two.tfstate"', "b/ci.tfbackend": 'path = "3.tfstate"'}
    )
    options = ("-reconfigure", "-backend-config=ci.tfbackend")
    assert nigari("fleet", "init", *options, cwd=tmp_path).code == 0
    assert _paths(tmp_path) == {"a": "two.tfstate", "b": "3.tfstate"}


def test_settings_that_lead_to_one_state_are_noticed_once_they_are_known(tmp_path: Path) -> None:
    write_tree(tmp_path, PARTIAL)
    done = nigari("fleet", "init", f"-backend-config=path={tmp_path}/s", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "a and b would write the same state" in " ".join(done.err.split())
    assert nigari("fleet", "plan", cwd=tmp_path).code == 1


def test_a_setting_that_takes_the_place_of_an_argument_tells_states_apart(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{n}/main.tf": _backend("local", 'path = "../s"') for n in "ab"})
    assert len(surveyed(tmp_path).graph.shared) == 1
    done = nigari("fleet", "init", "-only=a", "-backend-config=path=own", cwd=tmp_path)
    assert done.code == 0, done.err
    assert surveyed(tmp_path).graph.shared == ()


SETTINGS: list[tuple[str, Mapping[str, str]]] = [
    ('{ path = "${each.key}.tfstate" }', {}),
    ('["path=${each.key}.tfstate"]', {}),
    (
        '["env/${each.key}.tfbackend"]',
        {f"env/{key}.tfbackend": f'path = "{key}.tfstate"' for key in ("dev", "prod")},
    ),
]


@pytest.mark.parametrize(("text", "files"), SETTINGS)
def test_settings_of_a_unit(tmp_path: Path, text: str, files: Mapping[str, str]) -> None:
    fleet = (
        'unit "app" {\n  for_each = toset(["dev", "prod"])\n  directory = "app"\n'
        f'  workspace = "default"\n  backend_config = {text}\n}}\n'
    )
    write_tree(tmp_path, {"fleet.hcl": fleet, "app/main.tf": PARTIAL["a/main.tf"], **files})
    found = surveyed(tmp_path)
    assert not found.diagnostics
    states = [dict(found.graph.states[name].address)["path"] for name in found.units]
    assert [Path(each).name for each in states] == ["dev.tfstate", "prod.tfstate"]
    with fleets.open(tmp_path, jobs=1) as fleet_of:
        assert not fleet_of.init().has_failed
        assert not fleet_of.apply().has_failed
    assert sorted(each.name for each in (tmp_path / "app").glob("*.tfstate")) == [
        "dev.tfstate",
        "prod.tfstate",
    ]


def test_a_setting_of_a_unit_that_changes_needs_another_init(tmp_path: Path) -> None:
    text = 'unit "app" {\n  directory = "app"\n  backend_config = { path = "%s" }\n}\n'
    write_tree(tmp_path, {"fleet.hcl": text % "one", "app/main.tf": PARTIAL["a/main.tf"]})
    assert nigari("fleet", "init", cwd=tmp_path).code == 0
    assert nigari("fleet", "plan", cwd=tmp_path).code == 0
    write_tree(tmp_path, {"fleet.hcl": text % "two"})
    done = nigari("fleet", "plan", cwd=tmp_path)
    assert done.code == 1
    assert "Backend configuration has changed" in done.err
    assert "nigari fleet init -reconfigure" in " ".join(done.err.split())
    assert nigari("fleet", "init", "-reconfigure", cwd=tmp_path).code == 0
    assert nigari("fleet", "plan", cwd=tmp_path).code == 0


def test_init_without_backends(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/main.tf": _backend("s3"), "b/main.tf": _backend("s3")})
    assert nigari("fleet", "init", cwd=tmp_path).code == 1
    done = nigari("fleet", "init", "-backend=false", cwd=tmp_path)
    assert done.code == 0, done.err
    assert not _paths(tmp_path)


def test_init_without_backends_needs_no_keys(tmp_path: Path) -> None:
    text = (
        'variable "pass" {\n}\nterraform {\n  encryption {\n    key_provider "pbkdf2" "k" {\n'
        '      passphrase = var.pass\n    }\n    method "aes_gcm" "m" {\n'
        "      keys = key_provider.pbkdf2.k\n    }\n    state {\n      method = method.aes_gcm.m\n"
        "    }\n  }\n}\n"
    )
    write_tree(tmp_path, {"a/main.tf": text})
    assert nigari("fleet", "init", cwd=tmp_path).code == 1
    done = nigari("fleet", "init", "-backend=false", cwd=tmp_path)
    assert done.code == 0, done.err


def test_modules_that_are_not_installed_yet_are_no_mistake(tmp_path: Path) -> None:
    text = 'module "m" {\n  source = "o/m/p"\n}\nmodule "n" {\n  source = "o/n/p"\n}\n'
    write_tree(tmp_path, {"a/main.tf": text, "b/main.tf": NETWORK})
    for command in ("list", "graph"):
        done = nigari("fleet", command, cwd=tmp_path)
        assert done.code == 0, done.err
        assert "1 unit calls modules that are not installed: a." in " ".join(done.err.split())
    write_tree(tmp_path, {"a/main.tf": text + "resource {}"})
    assert nigari("fleet", "list", cwd=tmp_path).code == 1
