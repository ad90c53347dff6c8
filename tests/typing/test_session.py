"""All of `nigari`, `nigari.aio` and `nigari.events`, as a user's program has it: type checkers read this
file, and it runs as well.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import assert_type

import pytest

import nigari
from nigari import aio, cty, diagnostics, events, hcl

MAIN = """
terraform {
  backend "local" {}
  required_providers {
    terraform = {
      source = "terraform.io/builtin/terraform"
    }
  }
}
variable "name" {
  type        = string
  description = "A name."
  validation {
    condition     = var.name != ""
    error_message = "A name, please."
  }
}
locals {
  loud = upper(var.name)
}
provider "terraform" {}
resource "terraform_data" "it" {
  input = local.loud
}
module "inner" {
  source = "./inner"
}
output "loud" {
  value = terraform_data.it.output
}
"""
VARIABLES = {"name": "ada"}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "main.tf").touch()
    (tmp_path / "main.tf").write_text(MAIN, encoding="utf-8")
    return tmp_path


def test_a_configuration(directory: Path) -> None:
    other = 'resource "some_thing" "other" {\n  nested {}\n}\n'
    (directory / "other.tf").write_text(other, encoding="utf-8")
    configuration: nigari.Configuration = nigari.load(directory, VARIABLES)
    root: nigari.ModuleView = configuration.root
    variable: nigari.VariableView = root.variables["name"]
    rule: nigari.Rule = variable.validations[0]
    output: nigari.OutputView = root.outputs["loud"]
    resource: nigari.ResourceView = root.resources["some_thing.other"]
    nested: nigari.BlockView = resource.blocks[0]
    call: nigari.CallView = root.calls["inner"]
    provider: nigari.ProviderView = root.providers["terraform"]
    requirement: nigari.ProviderRequirement = root.required_providers["terraform"]
    backend: nigari.BackendView | None = configuration.backend
    local: nigari.StaticValue = root.locals["loud"]
    origin: nigari.ValueOrigin = local.origins[0]
    explanation: nigari.Explanation = local.explain()
    assert_type(local.value, cty.Value)
    assert_type(variable.type, cty.Type)
    assert_type(rule.range, diagnostics.Range)
    assert_type(configuration.diagnostics, diagnostics.Diagnostics)
    assert backend is not None
    assert (backend.type, provider.name, requirement.name) == ("local", "terraform", "terraform")
    assert (explanation.phase, origin.name, nested.type) == ("static", "var.name", "nested")
    assert (call.source.to_python(), output.description) == ("./inner", "")


def test_a_session(directory: Path) -> None:
    heard: list[events.Event] = []
    listen: events.Listen = heard.append
    ask: nigari.Ask = lambda name, _description: None  # noqa: E731 - what a user writes
    with nigari.open(directory, VARIABLES, ask=ask) as session:
        assert_type(session, nigari.Session)
        prepared: nigari.Initialized = session.init()
        assert_type(prepared.modules, Mapping[str, str])
        plan: nigari.Plan = session.plan()
        summary: nigari.Summary = plan.summary
        change: nigari.PlannedChange = plan.changes[0]
        actions: tuple[nigari.PlannedAction, ...] = plan.actions
        why: nigari.ChangeReasons = plan.why("terraform_data.it")[0]
        argument: nigari.ArgumentReason = why.arguments[0]
        missing: nigari.Missing | None = why.missing
        plan.save(directory / "saved")
        again = nigari.read_plan(directory / "saved", directory)
        applied: nigari.Applied = session.apply(again, listen=listen)
        state: nigari.StoredState = applied.state
        stored: nigari.StoredResource = state.resources["terraform_data.it"]
        output: nigari.Output = session.outputs["loud"]
    assert (summary.add, change.action, stored.type) == (1, "create", "terraform_data")
    assert actions == ()
    assert (argument.path, missing, output.to_python()) == ("id", None, "ADA")
    assert [told(event) for event in heard] == ["started", "finished"]


def test_environments(directory: Path) -> None:
    text = 'environment "dev" {\n  variables = { name = "dev" }\n}\n'
    (directory / "environments.hcl").write_text(text, encoding="utf-8")
    with nigari.open(directory, environment="dev") as session:
        session.init()
        session.apply()
        environment: nigari.EnvironmentInfo = session.environments["dev"]
        last: nigari.LastApply | None = environment.last_apply
    assert last is not None
    assert (environment.variables, last.mode) == (("name",), "normal")


ROUNDS = """
resource "terraform_data" "first" {}
resource "terraform_data" "second" {
  count = length(terraform_data.first.id) > 0 ? 1 : 0
}
"""


def test_rounds(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(ROUNDS, encoding="utf-8")
    waiting: list[nigari.Deferred] = []
    with nigari.open(tmp_path) as session:
        session.init()
        for each in session.rounds():
            assert_type(each, nigari.Round)
            assert_type(each.apply(), nigari.Applied)
            waiting += each.plan.deferred
    assert [each.reason for each in waiting] == ["instance_count_unknown"]


def told(event: events.Event) -> str:
    match event:
        case events.Started():
            return "started"
        case events.Finished() | events.Failed():
            return "finished" if isinstance(event, events.Finished) else "failed"
        case events.ProvisionerOutput() | events.ActionProgress():
            return event.text
        case events.Interrupted():
            return str(event.times)


def test_a_failure(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text("a", encoding="utf-8")
    try:
        nigari.open(tmp_path).plan()
    except nigari.SessionError as error:
        assert_type(error.diagnostics, tuple[diagnostics.Diagnostic, ...])
    assert hcl.parse("a").diagnostics.has_errors
    assert_type(nigari.__version__, str)


def test_coroutines(directory: Path) -> None:
    async def life() -> aio.Applied:
        ask: aio.Ask | None = None
        async with aio.open(directory, VARIABLES, ask=ask) as session:
            assert_type(session, aio.Session)
            prepared = await session.init()
            assert_type(prepared, aio.Initialized)
            plan = await session.plan()
            plan.save(directory / "saved")
            done = await session.apply(await aio.read_plan(directory / "saved", directory))
            rounds: list[aio.Round] = [each async for each in session.rounds()]
            assert [each.plan.is_empty for each in rounds] == [True]
            return done

    assert asyncio.run(life()).outputs["loud"].to_python() == "ADA"


def test_lines_of_a_session(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "terraform_data" "it" {}\n', encoding="utf-8")
    lines: list[str] = []
    nigari.open(tmp_path, on_output=lines.append).plan()
    aio.open(tmp_path, on_output=print)
    functions: Mapping[str, hcl.Function] = nigari.functions(tmp_path)
    assert "upper" in functions


def names(found: Mapping[str, tuple[events.FoundObject, ...]]) -> list[str]:
    return [each.display_name for objects in found.values() for each in objects]


def test_a_query(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text("", encoding="utf-8")
    with nigari.open(tmp_path) as session, pytest.raises(nigari.SessionError) as caught:
        names(session.query())
    assert [each.summary for each in caught.value.diagnostics] == ["No queries"]
