"""`nigari lint`: formats, exit statuses, settings, ignored findings, fixes, fleets, rules in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

from nigari.cli.main import main
from tests.lint.documented import found, write_files

_MAIN: Final = (
    'variable "a" {\n  type = string\n}\nlocals {\n  # Gone.\n  gone = 1 # Really.\n}\n'
    'output "o" {\n  value = "${var.a}" # Kept.\n}\n'
)


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    (tmp_path / "main.tf").write_text(_MAIN)
    return tmp_path


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["lint", *words])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_text(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = _run(capsys)
    assert status == 2
    assert "Warning: Local value not used (core:unused-local)" in out
    assert "   6:   gone = 1 # Really." in out
    assert out.endswith("2 findings, 2 of which nigari lint -fix can fix.\n")
    assert err == ""


def test_compact_text(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = _run(capsys, "-compact-warnings")
    first = "main.tf:6:3: warning: Local value not used (core:unused-local)"
    assert out.splitlines()[0] == first


def test_nothing_found(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(capsys, "-lint=nigari:naming") == (0, "Nothing found.\n", "")


def test_a_configuration_that_cannot_be_read(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / "main.tf").write_text('resource "a" {\n')
    status, out, err = _run(capsys)
    assert (status, out) == (1, "")
    assert "Error" in err
    status, out, _ = _run(capsys, "-json")
    assert status == 1
    assert json.loads(out)["diagnostics"][0]["severity"] == "error"


def test_json(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = _run(capsys, "-json")
    document = json.loads(out)
    assert (status, document["format_version"], document["finding_count"]) == (2, "1.0", 2)
    first = document["findings"][0]
    assert (first["rule"], first["severity"], first["fixable"]) == (
        "core:unused-local",
        "warning",
        True,
    )
    assert first["range"]["start"]["line"] == 6


def test_sarif(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "lint.hcl").write_text('rule "core:unused-local" {\n  severity = "error"\n}\n')
    status, out, _ = _run(capsys, "-format=sarif")
    document = json.loads(out)
    (run,) = document["runs"]
    assert (status, document["version"]) == (2, "2.1.0")
    assert {each["id"] for each in run["tool"]["driver"]["rules"]} == {
        each["ruleId"] for each in run["results"]
    }
    first = run["results"][0]
    assert (first["ruleId"], first["level"]) == ("core:unused-local", "error")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "main.tf"}
    assert place["region"] == {"startLine": 6, "startColumn": 3, "endLine": 6, "endColumn": 11}


def test_junit(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = _run(capsys, "-format=junit")
    (suite,) = ElementTree.fromstring(out)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "2", "0")
    assert suite[0].get("name") == "core:unused-local main.tf:6,3-11"
    failure = suite[0].find("failure")
    assert failure is not None
    assert "local.gone" in (failure.text or "")
    _, out, _ = _run(capsys, "-format=junit", "-lint=none")
    (suite,) = ElementTree.fromstring(out)
    assert (len(suite), suite.get("failures")) == (1, "0")


def test_github(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = _run(capsys, "-format=github")
    assert out.splitlines()[0].startswith(
        "::warning file=main.tf,line=6,endLine=6,"
        "title=Local value not used (core%3Aunused-local),col=3,endColumn=11::Nothing "
    )


def test_formats_that_do_not_exist(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = _run(capsys, "-format=xml")
    assert status == 1
    assert "text, json, sarif, junit, github" in err


def test_fixes(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = _run(capsys, "-fix")
    assert (status, out) == (0, "Fixed main.tf\nNothing found.\n")
    assert (directory / "main.tf").read_text() == (
        'variable "a" {\n  type = string\n}\nlocals {\n}\n'
        'output "o" {\n  value = var.a # Kept.\n}\n'
    )


def test_the_settings_of_inner_directories_count(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(
        'module "m" {\n  source = "./m"\n}\nlocals {\n  x = 1\n}\n'
        '# FILE: lint.hcl\nlint {\n  preset = "none"\n}\n'
        'rule "core:unused-local" {\n  severity = "error"\n}\n'
        "# FILE: m/main.tf\nlocals {\n  y = 1\n}\n"
        '# FILE: m/lint.hcl\nrule "core:unused-local" {\n  enabled = false\n}\n'
        'rule "nigari:naming" {}\n# FILE: m/names.tf\nlocals {\n  aB = local.aB2\n  aB2 = 1\n}\n',
        directory,
    )
    _, out, _ = _run(capsys, "-compact-warnings")
    assert [line.split(": ", 1) for line in out.splitlines()[:3]] == [
        ["m/names.tf:2:3", "warning: Name that is not in snake case (nigari:naming)"],
        ["m/names.tf:3:3", "warning: Name that is not in snake case (nigari:naming)"],
        ["main.tf:5:3", "error: Local value not used (core:unused-local)"],
    ]
    assert "m/main.tf" not in out


def test_excluded_directories(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(
        'module "m" {\n  source = "./old/m"\n}\n# FILE: old/m/main.tf\nlocals {\n  y = 1\n}\n'
        '# FILE: lint.hcl\nlint {\n  exclude = ["old/**"]\n}\n',
        directory,
    )
    assert _run(capsys)[0] == 0
    (directory / "lint.hcl").unlink()
    assert _run(capsys)[0] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('lint {\n  preset = "all"\n}\n', "Invalid preset"),
        ('rule "core:unused-local" {\n  severity = "bad"\n}\n', "Invalid severity"),
        ("lint {\n  rules = 1\n}\n", "Invalid value"),
        ("lint {\n  preset = var.a\n}\n", "lint.hcl line 2"),
        ("rule {\n}\n", "lint.hcl line 1"),
        ("other {\n}\n", "lint.hcl line 1"),
    ],
)
def test_wrong_settings(
    directory: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (directory / "lint.hcl").write_text(text)
    status, _, err = _run(capsys)
    assert status == 1
    assert message in err


def test_a_rule_that_does_not_exist(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "lint.hcl").write_text('rule "nigari:namin" {}\nrule "acme:x" {}\n')
    _, out, _ = _run(capsys)
    assert 'Did you mean "nigari:naming"?' in out
    assert "acme:x" not in out


_IGNORE: Final = "# nigari-ignore"


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (f"locals {{\n  {_IGNORE}: core:unused-local: later\n  a = 1\n}}\n", []),
        (f"locals {{\n  {_IGNORE}: core:unused-local: later\n  # a\n  a = 1\n}}\n", []),
        (f"locals {{\n  a = 1 {_IGNORE}: core:unused-local: later\n}}\n", []),
        (f"{_IGNORE}: core:unused-local: later\nlocals {{\n  a = 1\n  b = 1\n}}\n", []),
        (f"{_IGNORE}: all: later\nlocals {{\n  a = 1\n}}\n", []),
        (f"{_IGNORE}: nigari:naming, core:unused-local: x\nlocals {{\n  a = 1\n}}\n", []),
        (f"locals {{\n  a = 1\n}}\n{_IGNORE}-file: core:unused-local: later\n", []),
        (
            f"locals {{\n  {_IGNORE}: core:unused-local: later\n  a = 1\n  b = 1\n}}\n",
            ["core:unused-local main.tf:4"],
        ),
        (
            f"locals {{\n  {_IGNORE}: core:unused-local\n  a = 1\n}}\n",
            ["core:unused-local main.tf:3", "nigari:ignore-without-reason main.tf:2"],
        ),
        (
            f'{_IGNORE}: core:unused-local: later\noutput "o" {{\n  value = 1\n}}\n',
            ["nigari:unused-ignore main.tf:1"],
        ),
        (f'{_IGNORE}: acme:rule: later\noutput "o" {{\n  value = 1\n}}\n', []),
    ],
)
def test_ignored_findings(text: str, rules: list[str], tmp_path: Path) -> None:
    assert sorted(found(text, tmp_path)) == rules


def test_a_fleet(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "main.tf").unlink()
    module = 'variable "port" {\n  type = number\n}\noutput "p" {\n  value = var.port\n}\n'
    module += 'output "unread" {\n  value = 1\n}\n'
    call = (
        'module "m" {\n  source = "../m"\n  port = 80\n}\noutput "p" {\n  value = module.m.p\n}\n'
    )
    write_files(
        f"# FILE: infra/a/main.tf\n{call}# FILE: infra/b/main.tf\n{call}"
        f"# FILE: infra/m/main.tf\n{module}",
        directory,
    )
    (directory / "main.tf").unlink()
    status, out, _ = _run(capsys, "-lint=nigari:unused,nigari:same-argument", "-json", "infra")
    places = {
        (each["rule"], each["range"]["filename"], each["range"]["start"]["line"])
        for each in json.loads(out)["findings"]
    }
    assert status == 2
    assert places == {
        ("nigari:same-argument", "infra/m/main.tf", 1),
        ("nigari:unused-output", "infra/m/main.tf", 7),
    }


def test_no_configuration(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "empty").mkdir()
    assert "No configuration" in _run(capsys, "empty")[2]
    assert _run(capsys, "nowhere")[0] == 1


_RULES: Final = """
from nigari.lint import Violation, configuration_rule, plan_rule

@configuration_rule("acme:outputs", "Output", severity="error")
def outputs(configuration):
    for output in configuration.root.outputs.values():
        yield Violation("No outputs, please.", output.range)

@plan_rule("acme:creates", "Object")
def creates(plan):
    for change in plan.changes:
        yield Violation("Nothing new, please.", address=change.address)
"""


def test_rules_in_python(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(f"{_MAIN}# FILE: policies/a.py\n{_RULES}", directory)
    (directory / "lint.hcl").write_text('lint {\n  preset = "none"\n  rules = ["policies"]\n}\n')
    status, out, _ = _run(capsys, "-json")
    (finding,) = json.loads(out)["findings"]
    assert (status, finding["rule"], finding["severity"]) == (2, "acme:outputs", "error")
    assert finding["range"]["start"]["line"] == 8
    (directory / "lint.hcl").unlink()
    assert _run(capsys, "-rules=policies/a.py", "-lint=acme:all")[0] == 2
    assert _run(capsys, "-rules=policies", "-lint=all,!acme:outputs,!core:all,!nigari:all")[0] == 0


def test_rules_over_a_plan(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(f'resource "terraform_data" "x" {{}}\n# FILE: a.py\n{_RULES}', directory)
    for words in (["init"], ["plan", "-out=saved"]):
        assert main(words) == 0
    capsys.readouterr()
    status, out, _ = _run(capsys, "-rules=a.py", "-plan=saved", "-json")
    (finding,) = json.loads(out)["findings"]
    assert (status, finding["rule"], finding["address"]) == (2, "acme:creates", "terraform_data.x")
    assert _run(capsys, "-rules=a.py", "-plan=saved", "-lint=!acme:all,x")[0] == 0
    assert _run(capsys, "-rules=a.py", "-plan=nothing")[0] == 1
    assert _run(capsys, "-fix", "-plan=saved")[0] == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise OSError('secret')", "raised OSError"),
        (
            _RULES.replace("configuration.root", "configuration.rot"),
            "acme:outputs raised Attribute",
        ),
        ("def (", "raised SyntaxError"),
    ],
)
def test_rules_that_fail(
    directory: Path, capsys: pytest.CaptureFixture[str], code: str, message: str
) -> None:
    (directory / "a.py").write_text(code)
    status, out, err = _run(capsys, "-rules=a.py", "-no-color")
    assert status == 1
    assert message in " ".join(err.split())
    assert "secret" not in out + err


def test_missing_rules(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = _run(capsys, "-rules=nothing.py")
    assert status == 1
    assert "Rules cannot be loaded" in err


def test_module_without_instances(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong in a module is wrong even while no call of it has an instance."""
    call = 'module "{0}" {{\n  source   = "{1}"\n  for_each = {{}}\n}}\n'
    root = call.format("a", "./a")
    inner = 'variable "unused" {\n  type = string\n}\n' + call.format("b", "../b")
    other = "locals {\n  unused = 1\n}\n"
    write_files(f"{root}# FILE: a/main.tf\n{inner}# FILE: b/main.tf\n{other}", directory)
    _, out, _ = _run(capsys, "-json")
    shown = [(each["rule"], each["range"]["filename"]) for each in json.loads(out)["findings"]]
    assert shown == [("core:unused-variable", "a/main.tf"), ("core:unused-local", "b/main.tf")]


@pytest.mark.parametrize(
    ("options", "files"),
    [((), ["main.tf"]), (("-recursive",), ["main.tf", "modules/a/main.tf"])],
)
def test_recursive(
    directory: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    files: list[str],
) -> None:
    """A directory that is a module itself hides those below it otherwise."""
    unused = "locals {\n  unused = 1\n}\n"
    write_files(f"{unused}# FILE: modules/a/main.tf\n{unused}", directory)
    _, out, _ = _run(capsys, "-json", *options)
    assert [each["range"]["filename"] for each in json.loads(out)["findings"]] == files
