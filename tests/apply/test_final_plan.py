"""What a provider plans once more, when everything that it was to be told is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nigari import cty
from nigari.providers import api
from nigari.record import replace
from tests.cli.in_process import applied
from tests.plan.vault import REQUIRED, SOURCE, Vault
from tests.providers_found import find_provider

_CONFIGURATION = (
    REQUIRED + 'resource "vault_thing" "a" { name = "a" }\n'
    'resource "vault_thing" "b" { name = vault_thing.a.id }\n'
)


@pytest.mark.parametrize(
    ("takes", "fault"),
    [
        (cty.number(0), ""),
        (cty.number(1), "not the value that was planned"),
        (cty.unknown(cty.NUMBER), "not known, although the plan had a value"),
    ],
    ids=["the same", "another value", "an unknown one"],
)
def test_must_be_what_the_user_agreed_to(
    takes: cty.Value, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    vault = Vault()

    def provider() -> api.Provider:
        found = vault.provider()
        plan = found.plan

        async def plan_again(request: api.PlanRequest) -> api.PlanResponse:
            answer = await plan(request)
            if not vault.notes:  # nothing has been created yet
                return answer
            planned = {**answer.planned.mapping(), "takes": takes}
            return replace(answer, planned=cty.object_value(planned))

        monkeypatch.setattr(found, "plan", plan_again)
        return found

    find_provider(monkeypatch, provider, SOURCE)
    Path("main.tf").write_text(_CONFIGURATION)
    status, said = applied([], {})
    assert status == (1 if fault else 0), said
    assert fault in " ".join(said.replace("│", " ").split())
    assert ("create id-a with None" in vault.notes) is not bool(fault)


@pytest.mark.parametrize(
    "version",
    [cty.number(7), cty.unknown(cty.NUMBER)],
    ids=["another value", "an unknown one"],
)
@pytest.mark.parametrize("is_new", [True, False], ids=["created", "updated"])
def test_an_object_that_is_created_as_something_else_is_tainted(
    version: cty.Value, is_new: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    vault = Vault()
    lies = [is_new]

    def provider() -> api.Provider:
        found = vault.provider()
        apply = found.apply

        async def apply_otherwise(request: api.ApplyRequest) -> api.ApplyResponse:
            answer = await apply(request)
            if not lies[0]:
                return answer
            return replace(
                answer, state=cty.object_value({**answer.state.mapping(), "version": version})
            )

        monkeypatch.setattr(found, "apply", apply_otherwise)
        return found

    find_provider(monkeypatch, provider, SOURCE)
    text = REQUIRED + 'resource "vault_thing" "a" {\n  name    = "a"\n  version = 1\n}\n'
    Path("main.tf").write_text(text)
    if not is_new:
        assert applied([], {})[0] == 0
        Path("main.tf").write_text(text.replace("= 1", "= 2"))
        lies[0] = True
    status, said = applied([], {})
    assert status == 1
    assert "Inconsistent result of a change" in said
    (resource,) = json.loads(Path("terraform.tfstate").read_text())["resources"]
    assert resource["instances"][0].get("status") == ("tainted" if is_new else None)


_LENGTHS = """\
variable "v" {}
resource "terraform_data" "a" { input = var.v }
resource "terraform_data" "b" {
  input = length(terraform_data.a.output)
  lifecycle {
    postcondition {
      condition     = terraform_data.a.output != "9"
      error_message = "nine"
    }
  }
}
resource "terraform_data" "c" { input = terraform_data.b.output }
output "o" { value = terraform_data.c.output }
"""


def test_an_update_that_changes_nothing_is_not_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(_LENGTHS)
    assert applied(["-var=v=1"], {})[0] == 0
    status, said = applied(["-var=v=2"], {})
    assert status == 0
    assert "0 added, 1 changed, 0 destroyed" in said
    assert "terraform_data.b: Modifying" not in said
    assert "o = 1" in said
    status, said = applied(["-var=v=9"], {})
    assert status == 1
    assert "nine" in said
    status, said = applied(["-var=v=10"], {})
    assert "0 added, 3 changed, 0 destroyed" in said
