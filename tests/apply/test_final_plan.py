"""What a provider plans once more, when everything that it was to be told is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from nigari import cty
from nigari.providers import api
from nigari.record import replace
from tests.plan.command import applied
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
        (cty.unknown(cty.NUMBER), "not known, although the plan said what it would be"),
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
