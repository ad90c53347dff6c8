"""Functions of providers, called while planning and applying."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from nigari.cty.values import Value
from nigari.providers import api
from tests.plan.sessions import applied, apply_failed, plan, planned, session, words
from tests.plan.vault import REQUIRED, SOURCE, Vault, install
from tests.providers_found import find_provider


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


def outputs(text: str) -> dict[str, object]:
    Path("main.tf").write_text(REQUIRED + text)
    return {
        name: value.to_python() if value.is_wholly_known else "?"
        for name, value in plan().outputs.items()
    }


def errors(text: str) -> list[str]:
    Path("main.tf").write_text(REQUIRED + text)
    made, told = planned()
    assert made is None
    return [each.summary for each in told]


@pytest.mark.parametrize(
    ("expression", "value", "notes"),
    [
        ('provider::vault::twice("a")', "aa", ["twice a"]),
        (
            'provider::vault::twice(provider::vault::twice("a"))',
            "aaaa",
            ["twice a", "twice aa"],
        ),
        (
            '[for x in ["a", "b", "a"] : provider::vault::twice(x)]',
            ["aa", "bb", "aa"],
            ["twice a", "twice b"],
        ),
        ('try(provider::vault::twice("bad"), "failed")', "failed", ["twice bad"]),
        ("provider::vault::twice(terraform_data.d.id)", "?", []),
        ('provider::vault::own::twice("a")', "aa", ["twice a"]),
        ('provider::terraform::encode_expr(["a"])', '["a"]', []),
    ],
    ids=["plain", "nested", "in a loop", "failing", "unknown", "configured", "built in"],
)
def test_values_while_planning(
    vault: Vault, expression: str, value: object, notes: list[str]
) -> None:
    text = (
        'provider "vault" {\n  alias = "own"\n  token = "T"\n}\n'
        f'resource "terraform_data" "d" {{}}\noutput "o" {{ value = {expression} }}\n'
    )
    assert outputs(text) == {"o": value}
    assert sorted(vault.notes) == notes
    assert vault.running == 0


def test_everywhere_in_a_configuration(vault: Vault) -> None:
    Path("inner").mkdir()
    Path("inner/main.tf").write_text(
        REQUIRED + 'variable "v" {}\noutput "o" { value = provider::vault::twice(var.v) }\n'
    )
    Path("main.tf").write_text(
        REQUIRED + 'module "m" {\n  source = "./inner"\n  v = provider::vault::twice("m")\n}\n'
        'resource "vault_thing" "t" {\n  for_each = toset([provider::vault::twice("k")])\n'
        "  name = each.key\n  lifecycle {\n    precondition {\n"
        '      condition = provider::vault::twice(each.key) == "kkkk"\n'
        '      error_message = "no"\n    }\n  }\n}\n'
        'output "o" { value = module.m.o }\n'
    )
    assert applied().applied.outputs["o"].to_python() == "mmmm"
    assert "create kk with None" in vault.notes


def test_called_while_applying_once_all_is_known(vault: Vault) -> None:
    Path("main.tf").write_text(
        REQUIRED + 'resource "vault_thing" "t" { name = "t" }\n'
        'resource "vault_thing" "u" { name = provider::vault::twice(vault_thing.t.id) }\n'
        'output "o" { value = provider::vault::twice(vault_thing.u.id) }\n'
    )
    applied()
    assert vault.notes == [
        "create t with None",
        "twice id-t",
        "create id-tid-t with None",
        "twice id-id-tid-t",
    ]
    assert vault.running == 0


@pytest.mark.parametrize(
    ("expression", "summary"),
    [
        ('provider::vault::twice("bad")', "Error in function call"),
        ('provider::vault::thrice("a")', "Unknown provider function"),
        ('provider::other::twice("a")', "Function of an undeclared provider"),
        ('provider::vault::many::twice("a")', "Function of a provider with several instances"),
    ],
)
def test_what_can_be_wrong(vault: Vault, expression: str, summary: str) -> None:
    text = 'provider "vault" {\n  alias = "many"\n  for_each = toset(["a"])\n}\n'
    assert errors(text + f'output "o" {{ value = {expression} }}\n') == [summary]


def test_arguments_that_never_settle(vault: Vault) -> None:
    Path("main.tf").write_text(
        REQUIRED + 'resource "terraform_data" "d" { input = provider::vault::twice(uuid()) }\n'
    )
    assert "its arguments differ each time" in words(apply_failed())


def test_a_configured_provider_may_have_more_functions(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = vault.provider

    def provider() -> api.Provider:
        found = make()
        call = found.call_function

        async def functions() -> api.FunctionsResponse:
            answer = await found.schema()
            assert answer.schema is not None
            known = answer.schema.functions
            return api.FunctionsResponse({**known, "again": known["twice"]})

        async def call_function(name: str, arguments: Sequence[Value]) -> api.CallResponse:
            return await call("twice" if name == "again" else name, arguments)

        monkeypatch.setattr(found, "functions", functions)
        monkeypatch.setattr(found, "call_function", call_function)
        return found

    find_provider(monkeypatch, provider, SOURCE)
    own = 'provider "vault" {\n  alias = "own"\n}\n'
    assert outputs(own + 'output "o" { value = provider::vault::own::again("a") }\n') == {"o": "aa"}
    assert errors('output "o" { value = provider::vault::again("a") }\n') == [
        "Unknown provider function"
    ]


@pytest.mark.parametrize(
    ("expression", "summary"),
    [
        ('provider::vault::twice("a")', ""),
        ('provider::vault::twice("bad")', "Error in function call"),
        ("provider::vault::twice([])", "Invalid function argument"),
        ("provider::vault::twice(terraform_data.d.id)", ""),
        ('provider::vault::thrice("a")', ""),
    ],
    ids=["good", "failing", "wrong type", "unknown", "perhaps there when configured"],
)
def test_validate_calls_them_without_configuration(
    vault: Vault, expression: str, summary: str
) -> None:
    Path("main.tf").write_text(
        REQUIRED + 'provider "vault" { token = "T" }\ndata "vault_look" "l" { name = "x" }\n'
        f'resource "terraform_data" "d" {{}}\noutput "o" {{ value = {expression} }}\n'
    )
    found = [each.summary for each in session().validate()]
    assert found == ([summary] if summary else [])
    assert vault.running == 0
