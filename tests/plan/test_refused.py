"""What a plan is refused for, beyond what `validate` finds: severity and line of what is told."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from fuzz.story.world import provider as world
from nigari.diagnostics import Severity
from tests.plan.sessions import Options, applied, plan, planned, session
from tests.plan.vault import REQUIRED, install
from tests.providers_found import find_provider

_LOCAL: Final = 'locals {\n  x = "a"\n}\n'
_DATA: Final = 'resource "terraform_data" "x" {\n  lifecycle {\n    precondition {\n'
_RULE: Final = '      condition     = local.x == "a"\n      error_message = '
_STATE: Final = 'data "terraform_remote_state" "x" {\n'

_ROWS: Final[list[tuple[str, str, list[str]]]] = [
    (
        "an output that no state can hold",
        (
            'variable "z" {\n  default = 0\n}\noutput "o" {\n  value = sensitive([1 / var.z])\n'
            "  sensitive = true\n}\n"
        ),
        ["error 4"],
    ),
    (
        "the message of a condition that holds is no text",
        _LOCAL + _DATA + _RULE + "[local.x]\n    }\n  }\n}\n",
        ["error 8"],
    ),
    (
        "the message of a condition that holds is secret",
        _LOCAL + _DATA + _RULE + "sensitive(local.x)\n    }\n  }\n}\n",
        ["warning 8"],
    ),
    (
        "a refused value, and no text to say so",
        (
            'variable "v" {\n  default = "x"\n  validation {\n    condition     = var.v == "y"\n'
            "    error_message = [var.v]\n  }\n}\n"
        ),
        ["error 1", "error 5"],
    ),
    (
        "a validation by what needs the variable",
        (
            'variable "v" {\n  default = "x"\n  validation {\n'
            "    condition     = var.v != terraform_data.r[0].id\n"
            '    error_message = "No."\n  }\n}\nlocals { l = var.v }\n'
            'resource "terraform_data" "r" {\n  count = 2\n  input = local.l\n}\n'
        ),
        ["error 4"],
    ),
    (
        "variables that validate each other",
        (
            'variable "v" {\n  default = 1\n  validation {\n    condition     = var.v < var.w\n'
            '    error_message = "No."\n  }\n}\n'
            'variable "w" {\n  default = 2\n  validation {\n    condition     = var.w > var.v\n'
            '    error_message = "No."\n  }\n}\n'
        ),
        ["error 4"],
    ),
    (
        "a validation by another variable",
        (
            'variable "v" {\n  default = 1\n  validation {\n    condition     = var.v < var.w\n'
            '    error_message = "No."\n  }\n}\nvariable "w" { default = 2 }\n'
        ),
        [],
    ),
    (
        "a condition of which nothing is known may be anything",
        (
            'resource "terraform_data" "r" {}\noutput "o" {\n  value = 1\n  precondition {\n'
            '    condition     = terraform_data.r.id\n    error_message = "No."\n  }\n}\n'
        ),
        [],
    ),
    ("no such backend of another state", _STATE + '  backend = "nope"\n}\n', ["error 2"]),
    (
        "no such backend for the data of a check",
        (
            'check "c" {\n  data "terraform_remote_state" "x" {\n    backend = "nope"\n  }\n  assert {\n'
            '    condition     = data.terraform_remote_state.x.backend == ""\n'
            '    error_message = "No."\n  }\n}\n'
        ),
        ["error 3"],
    ),
    (
        "keys that come from nothing",
        (
            'terraform {\n  encryption {\n    method "aes_gcm" "m" {\n      keys = nope.x\n    }\n'
            "    state {\n      method = method.aes_gcm.m\n    }\n  }\n}\n"
        ),
        ["error 4"],
    ),
]


@pytest.mark.parametrize(("text", "wanted"), [row[1:] for row in _ROWS], ids=[r[0] for r in _ROWS])
def test_refused(
    text: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.tf").write_text(text)
    monkeypatch.chdir(tmp_path)
    made, found = planned()
    places = {f"{d.severity.value} {d.subject.start.line}" for d in found if d.subject is not None}
    assert sorted(places) == wanted, found
    assert (made is None) == any(place.startswith("error") for place in wanted)


@pytest.mark.parametrize(
    "name", [row[0] for row in _ROWS if row[0].startswith(("a validation by", "variables that"))]
)
def test_validations_that_need_themselves_are_found_without_values(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((text, wanted),) = [row[1:] for row in _ROWS if row[0] == name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.tf").write_text('module "m" {\n  source = "./m"\n}\n')
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text(text)
    found = [each.subject for each in session().validate()]
    assert [f"error {each.start.line}" for each in found if each is not None] == wanted


def test_a_wrong_name_and_a_missing_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.tf").write_text('variable "v" {}\n')
    monkeypatch.chdir(tmp_path)
    _, found = planned({"w": "1"})
    told = [each.summary for each in found]
    assert told == ["Value for an undeclared variable", "No value for variable"]


def test_ephemeral_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text('output "e" {\n  value = "x"\n  ephemeral = true\n}\n')
    call = 'module "m" {\n  source = "./m"\n}\n'
    data = _STATE + '  backend = "local"\n  config = { path = module.m.e }\n}\n'
    (tmp_path / "main.tf").write_text(call + data)
    monkeypatch.chdir(tmp_path)
    made, found = planned()
    assert made is None
    assert [each.summary for each in found] == ["Ephemeral value in a stored argument"]


_ALIAS: Final = 'resource "terraform_data" "a" {\n  provider = terraform.x\n}\n'
_CALL: Final = 'module "m" {\n  source = "./m"\n%s}\n'
_PASSED: Final = "  providers = {\n    terraform%s = terraform.x%s\n  }\n"
_WANTS: Final = (
    'terraform {\n  required_providers {\n    terraform = {\n      source = "terraform.io/builtin/terraform"'
    "\n      configuration_aliases = [terraform.y]\n    }\n  }\n}\n"
)


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"main.tf": _ALIAS}, "main.tf 2"),
        ({"main.tf": _ALIAS.replace("{\n", "{\n  count = 0\n", 1)}, "main.tf 3"),
        ({"main.tf": _ALIAS.replace("terraform.x", 'terraform.x["k"]')}, "main.tf 2"),
        ({"main.tf": _CALL % "", "m/main.tf": _ALIAS}, "m/main.tf 2"),
        ({"main.tf": _CALL % (_PASSED % ("", "")), "m/main.tf": ""}, "main.tf 4"),
        ({"main.tf": _CALL % (_PASSED % (".y", "")), "m/main.tf": _WANTS}, "main.tf 4"),
        ({"main.tf": _CALL % (_PASSED % ("", '["k"]')), "m/main.tf": ""}, "main.tf 4"),
        ({"main.tf": _WANTS + _ALIAS.replace(".x", ".y")}, "main.tf 10"),
        (
            {
                "main.tf": _WANTS + _CALL % (_PASSED.replace("x%s", "y%s") % (".y", "")),
                "m/main.tf": _WANTS,
            },
            "main.tf 12",
        ),
        (
            {"main.tf.json": '{"resource":{"terraform_data":{"a":{"provider":"terraform.x"}}}}'},
            "main.tf.json 1",
        ),
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(destroy=True),
        Options(refresh_only=True),
        Options(targets=["module.other"]),
    ],
)
def test_undeclared_providers(
    files: dict[str, str],
    wanted: str,
    options: Options,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "m").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    made, found = planned(**options)
    places = [
        f"{d.subject.filename} {d.subject.start.line}"
        for d in found
        if d.severity is Severity.ERROR and d.subject is not None
    ]
    assert made is None
    assert places == [wanted], found


@pytest.mark.parametrize("options", [Options(), Options(destroy=True), Options(refresh_only=True)])
def test_what_cannot_be_read_is_told_at_its_block(
    options: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    install(monkeypatch)
    thing = 'resource "vault_thing" "t" {\n  name = "unreadable"\n}\n'
    Path("main.tf").write_text(REQUIRED + thing)
    applied()
    made, told = planned(**options)
    assert made is None
    line = REQUIRED.count("\n") + 1
    assert [(each.address, each.subject and each.subject.start.line) for each in told] == [
        ("vault_thing.t", line)
    ]


_REFUSING = '      condition     = var.v != 1\n      error_message = "no"\n'


@pytest.mark.parametrize(
    "wrong",
    [
        'name = ["unreadable"][var.v]',
        f'name = "unreadable"\n  lifecycle {{\n    precondition {{\n{_REFUSING}    }}\n  }}',
    ],
    ids=["argument", "precondition"],
)
def test_what_there_is_is_read_whatever_is_wrong_with_its_configuration(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    install(monkeypatch)
    text = REQUIRED + 'variable "v" { default = 1 }\nresource "vault_thing" "t" {\n  %s\n}\n'
    Path("main.tf").write_text(text % 'name = "unreadable"')
    applied()
    Path("main.tf").write_text(text % wrong)
    made, told = planned()
    assert made is None
    assert [each.address for each in told] == ["vault_thing.t"] * 2
    assert "Unreadable thing" in {each.summary for each in told}


def test_what_may_be_null_has_no_secrets_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    find_provider(monkeypatch, lambda: world)
    thing = 'resource "world_thing" "t" {\n  name = "t"\n  lifecycle {\n    enabled = %s\n  }\n}\n'
    output = 'output "o" {\n  value = world_thing.t != null ? "some" : "none"\n}\n'
    Path("main.tf").write_text(thing % "false" + output)
    assert not plan().changes


_GONE: Final = 'resource "vault_thing" "t" {\n  count = %s\n  name  = "unreadable"\n}\n'
_WRONG: Final = 'resource "terraform_data" "w" { input = one(var.two) }\n'


@pytest.mark.parametrize(
    ("text", "is_decided"),
    [
        (_GONE % "0" + _WRONG, True),
        (_WRONG, True),
        (_GONE % "one(var.two)", False),
        ('module "m" {\n  source = "./m"\n  count = 0\n}\n' + _WRONG, True),
        ('module "m" {\n  source = "./m"\n  count = one(var.two)\n}\n', False),
    ],
    ids=["count", "no resource", "a wrong count", "no module", "a wrong count of modules"],
)
def test_orphans_are_looked_at_whatever_else_is_wrong(
    text: str, is_decided: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    install(monkeypatch)
    Path("m").mkdir()
    Path("m/main.tf").write_text(REQUIRED + _GONE % "1")
    call = 'module "m" {\n  source = "./m"\n  count = 1\n}\n'
    Path("main.tf").write_text(REQUIRED + (call if "module" in text else _GONE % "1"))
    applied()
    Path("main.tf").write_text(REQUIRED + text + 'variable "two" { default = [1, 2] }\n')
    made, told = planned()
    assert made is None
    assert ("Unreadable thing" in [each.summary for each in told]) is is_decided
