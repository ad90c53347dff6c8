"""What programs are told beside the real program: the same JSON, up to `tests.real.json_forms`.

The stories of `json_cases` are planned, applied, changed and destroyed as those of `cases` are; each
of their documents and events is compared on the way. Besides, there are the configurations of the
conformance data, and commands that need none.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from nigari.addrs.provider import default_provider
from nigari.cli.command import Command
from nigari.cli.commands import (
    init,
    metadata_functions,
    output,
    plan,
    providers_schema,
    show,
    validate,
    version,
)
from tests.cli.in_process import ran
from tests.cli.rich import Rich
from tests.conformance import CONFORMANCE, Row, needs_conformance, rows
from tests.plugins import running, serving
from tests.real import program
from tests.real.alike import Tree, compare
from tests.real.beside import PROVIDERS, Place, compare_told, settings_file
from tests.real.case_files import read_case
from tests.real.json_forms import (
    events,
    failure,
    functions,
    plain_document,
    plan_document,
    schemas,
    started,
    state_document,
    validation,
    versions,
)
from tests.real.plan_cases import run_case

pytestmark = pytest.mark.real

CASES = {path.stem: path for path in sorted((Path(__file__).parent / "json_cases").glob("*.case"))}


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """A provider of every kind of attribute, which both programs attach to."""
    source = str(default_provider("rich"))
    with running(source, serving(Rich), tmp_path_factory.mktemp("rich")) as settings:
        yield {"TF_REATTACH_PROVIDERS": settings["TF_REATTACH_PROVIDERS"]}


@pytest.mark.parametrize("name", CASES)
def test_story(
    name: str, rich: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_case(read_case(CASES[name]), tmp_path, monkeypatch, rich)


# -- the conformance data -------------------------------------------------------------------------

_DATA: Final = CONFORMANCE / "configurations" / "data"
_ACCEPTED: Final = {
    "authored/validate/resource-lifecycle-var": "create_before_destroy takes static expressions",
}
_ONCE: Final = "a mistake is told once"
_CUT: Final = "a string that a line end cuts is one error"
_SAID_OTHERWISE: Final = {
    "opentofu/command/testdata/validate-invalid/interpolation": "defaults may be static expressions",
    "authored/validate/var-validation-noref": _ONCE,
    "authored/validate/locals-self": "a cycle is told at the beginning of one of its parts",
    "authored/validate/resource-precondition": _ONCE,
    "authored/validate/resource-provisioner-nocmd": _ONCE,
    "authored/validate/resource-interp-label": "a label that is a template has no name",
    "authored/validate/tf-label": _ONCE,
    "authored/validate/check-ok": _ONCE,
    "authored/validate/check-dup": _ONCE,
    "authored/validate/syn-unclosed-string": _CUT,
    "authored/validate/syn-single-quote": _CUT,
    "authored/validate/syn-invalid-utf8": _ONCE,
    "authored/validate/syn-semicolon": _ONCE,
    "authored/validate/syn-unclosed-interp": _CUT,
    "authored/validate/json-syntax-error": _ONCE,
    "authored/plan/check-fail-warning": _ONCE,
    "authored/plan/check-data": "what is wrong with a remote state is told in our words",
}
"""Diagnostics that are not compared: see docs/differences.md."""
_ROWS: Final = [
    row for row in rows("configurations/manifest.jsonl") if row["level"] in ("plan", "validate")
]


class Beside:
    """The two programs in one directory, one after the other."""

    def __init__(self, path: Path, more: Mapping[str, str]) -> None:
        self.place = Place(path / "work", settings_file(path / "settings.tfrc"), more)
        self._tofu = program("tofu")

    def theirs(self, *words: str) -> tuple[int, str]:
        return self.place.run(self._tofu, *words)

    def both(self, command: Command, *words: str) -> tuple[str, str]:
        """What ours and the real program print."""
        _, theirs = self.theirs(*command.name.split(), *words)
        _, ours = ran(command, list(words), self.place.environ)
        return ours, theirs


def _compare_validations(path: str, ours: Tree, theirs: Tree) -> None:
    assert isinstance(ours, dict)
    assert isinstance(theirs, dict)
    if path in _ACCEPTED:
        return
    if path in _SAID_OTHERWISE:
        del ours["diagnostics"], theirs["diagnostics"]
    compare_told(ours, theirs, "validate")


def _forget_checks(document: Tree) -> None:
    assert isinstance(document, dict)
    document.pop("checks", None)


@needs_conformance
@pytest.mark.parametrize("row", _ROWS, ids=lambda row: str(row["path"]))
def test_configuration(
    row: Row, rich: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = row.get("args") or []
    assert isinstance(given, list)
    words = [str(each) for each in given if not str(each).startswith("ENV:")]
    settings = dict(str(each)[4:].split("=", 1) for each in given if str(each).startswith("ENV:"))
    beside = Beside(tmp_path, {**rich, **settings})
    shutil.copytree(_DATA / str(row["path"]), beside.place.path, dirs_exist_ok=True)
    monkeypatch.chdir(beside.place.path)
    beside.theirs("init", "-backend=false")
    ours, theirs = beside.both(validate.COMMAND, "-json")
    _compare_validations(str(row["path"]), validation(ours), validation(theirs))
    if row["level"] != "plan":
        return
    _, said = beside.theirs("plan", "-json", "-out=theirs", *words)
    _, we_said = ran(plan.COMMAND, ["-json", "-out=ours", *words], beside.place.environ)
    form = failure if row["expect"] == "error" else events
    if row["path"] not in _SAID_OTHERWISE:
        compare_told(form(we_said), form(said), "events of the plan")
    if row["expect"] == "error":
        return
    _, document = beside.theirs("show", "-json", "theirs")
    _, our_document = ran(show.COMMAND, ["-json", "ours"], beside.place.environ)
    ours_shown, theirs_shown = plan_document(our_document), plan_document(document)
    if row["path"] in _SAID_OTHERWISE:
        _forget_checks(ours_shown)
        _forget_checks(theirs_shown)
    compare(ours_shown, theirs_shown, "plan")
    beside.theirs("apply", "theirs")
    ours, theirs = beside.both(show.COMMAND, "-json")
    compare(state_document(ours), state_document(theirs), "state")
    ours, theirs = beside.both(output.COMMAND, "-json")
    compare(plain_document(ours), plain_document(theirs), "outputs")


# -- commands without a configuration ---------------------------------------------------------------


def test_schemas(rich: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside(tmp_path, rich)
    names = (*PROVIDERS, "rich", "files")
    wanted = "\n".join(f'    {name} = {{ source = "hashicorp/{name}" }}' for name in names)
    terraform = f"terraform {{\n  required_providers {{\n{wanted}\n  }}\n}}\n"
    beside.place.write({"main.tf": f'{terraform}resource "terraform_data" "a" {{}}\n'})
    monkeypatch.chdir(beside.place.path)
    ours, theirs = beside.both(providers_schema.COMMAND, "-json")
    compare(schemas(ours), schemas(theirs), "schemas")


def test_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside(tmp_path, {})
    monkeypatch.chdir(beside.place.path)
    ours, theirs = beside.both(metadata_functions.COMMAND, "-json")
    compare(functions(ours), functions(theirs), "functions")


def test_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside(tmp_path, {})
    monkeypatch.chdir(beside.place.path)
    ours, theirs = beside.both(version.COMMAND, "-json")
    compare(versions(ours), versions(theirs), "version")


_INITIALIZED: Final = {
    "nothing": "",
    "modules": 'module "m" {\n  source = "./m"\n}\n',
    "a mistake": 'resource "terraform_data" "a" {}\nresource "terraform_data" "a" {}\n',
    "a provider that nobody has": 'resource "nobody_thing" "a" {}\n',
}


@pytest.mark.parametrize("text", _INITIALIZED.values(), ids=_INITIALIZED)
def test_init(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `init` does is told in sentences, which are ours; what is wrong is told as elsewhere."""
    beside = Beside(tmp_path, {"TF_CLI_CONFIG_FILE": str(_mirror(tmp_path))})
    beside.place.write({"main.tf": text, "m/main.tf": 'resource "terraform_data" "b" {}\n'})
    monkeypatch.chdir(beside.place.path)
    ours, theirs = beside.both(init.COMMAND, "-json")
    compare_told(started(ours), started(theirs), "init")


def _mirror(path: Path) -> Path:
    """Settings with which providers are looked for in an empty directory only."""
    (path / "mirror").mkdir()
    settings = path / "mirror.tfrc"
    settings.write_text(
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{path}/mirror"\n  }}\n}}\n'
    )
    return settings


@pytest.mark.parametrize("words", [("-json",), ("-json", "a"), ("-json", "absent")])
def test_outputs_without_any(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = Beside(tmp_path, {})
    monkeypatch.chdir(beside.place.path)
    ours, theirs = beside.both(output.COMMAND, *words)
    assert ours.startswith("{") == theirs.startswith("{")
    if theirs.startswith("{"):
        assert json.loads(ours) == json.loads(theirs)
