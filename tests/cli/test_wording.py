"""Sentences that once were wrong, each with its siblings."""

from __future__ import annotations

from pathlib import Path

import pytest

from nigari import hcl
from nigari.addrs.provider import Provider
from nigari.cli.command import FLAG_CHOICE, Command
from nigari.cli.help import command_help
from nigari.cli.main import COMMANDS, load, main
from nigari.cty.function import FunctionError
from nigari.hcl.evaluation import as_sentence, sentence
from nigari.packages.providers.provider_selection import _near_miss
from nigari.packages.providers.requirement import Requirement


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TF_CLI_CONFIG_FILE", raising=False)
    return tmp_path


def _shown(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    main([*command])
    return " ".join(capsys.readouterr().err.split())


def _commands() -> list[Command]:
    return [load(name) for name in COMMANDS]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("output.nmaes", 'has nothing named "output.nmaes". Did you mean "output.names"?'),
        ("check.halth", 'has nothing named "check.halth". Did you mean "check.health"?'),
        ("provider.tset", 'has nothing named "provider.tset". Did you mean "provider.test"?'),
        ("module.child.output.nmae", 'Did you mean "output.name"?'),
        ("check.health", "check.health is declared, but has no value."),
        ("provider.test", "provider.test is declared, but has no value."),
    ],
)
def test_explaining_what_is_no_resource(
    address: str, said: str, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / "main.tf").write_text(
        'output "names" {\n  value = 1\n}\n'
        'provider "test" {}\n'
        'module "child" {\n  source = "./child"\n}\n'
        'check "health" {\n  assert {\n    condition     = true\n    error_message = "x"\n  }\n}\n'
    )
    (directory / "child").mkdir()
    (directory / "child" / "main.tf").write_text('output "name" {\n  value = 1\n}\n')
    shown = _shown(capsys, "explain", address)
    assert said in shown
    assert "resource" not in shown


def test_uses_of_nothing(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "main.tf").write_text('output "x" {\n  value = 1\n}\n')
    shown = _shown(capsys, "uses", "nothing")
    assert 'Nothing in the configuration is named "nothing", and no file has that name.' in shown


@pytest.mark.parametrize("sign", [":", "=>", "=="])
def test_another_sign_than_the_equals_sign(sign: str) -> None:
    diags = hcl.parse(f'thing "a" {{\n  length{sign} 2\n}}\n', "a.tf").diagnostics
    (found,) = diags
    assert found.summary == "Equals sign required"
    assert f"not with {sign}. Write length = and the value" in found.detail
    assert found.subject is not None
    assert found.subject.start.column == 9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("triggers_replac {\n    a = 1\n  }", "set it with an equals sign, as triggers_replace ="),
        ("input {\n    a = 1\n  }", "set it with an equals sign, as input ="),
        ('}\nvariable "x" {\n  validations = {}', "equals sign, as validation {"),
        ('}\nvariable "x" {\n  validation = {}', "equals sign, as validation {"),
    ],
)
def test_a_block_that_is_an_argument_and_the_other_way_round(
    text: str, said: str, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / "main.tf").write_text(f'resource "terraform_data" "a" {{\n  {text}\n}}\n')
    assert said in _shown(capsys, "validate")


def test_a_provider_whose_source_is_written_out() -> None:
    provider = Provider("registry.opentofu.org", "hashicorp", "awss")
    assert "full source" in _near_miss(provider, [Requirement(provider)])
    assert "spelling of its source" in _near_miss(
        provider, [Requirement(provider, has_source=True)]
    )


def test_help_says_what_nought_means_and_how_a_word_is_added() -> None:
    for command in _commands():
        text = " ".join(command_help(command).split())
        assert "=[" not in text, command.name
        for flag in command.flags:
            if flag.default == "0":
                assert "0 means" in flag.help, (command.name, flag.name)
            if flag.kind == FLAG_CHOICE:
                assert f"-{flag.name}[={flag.placeholder}]" in text


def test_a_sentence_ends_once(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [as_sentence(each) for each in ("a", "a.", "a?", "a!")] == ["a.", "a.", "a?", "a!"]
    assert sentence(FunctionError('no. Did you mean "x"?')).endswith('"x"?')
    (directory / "t.tpl").write_text("${tolst([])}")
    shown = _shown(capsys, "eval", 'templatefile("t.tpl", {})')
    assert "Did you mean" in shown
    assert "?." not in shown
    shown = _shown(capsys, "eval", "try({name = 1}.nmae)")
    assert 'Did you mean "name"?' in shown
    assert "?." not in shown


@pytest.mark.parametrize(
    "block",
    [
        'module "m" {\n  source: "./x"\n}',
        'output "o" {\n  value => 1\n}',
        'output "o" {\n  value {\n    a = 1\n  }\n}',
        'resource "terraform_data" "a" {\n  provider: x\n  lifecycle {\n    ignore_changes = all\n  }\n}',
        'variable "v" {\n  type = ]\n}',
        "terraform {\n  required_providers {\n    a = ]\n  }\n}",
        "moved {\n  from = ]\n  to = terraform_data.b\n}",
        "moved {\n  from: terraform_data.a\n  to = terraform_data.b\n}",
    ],
)
def test_a_syntax_error_causes_no_second_error(
    block: str, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / "main.tf").write_text(f"{block}\n")
    assert _shown(capsys, "validate").count("Error:") == 1
