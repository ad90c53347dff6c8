"""Objects that the configuration no longer wants: why they go, who is asked, and what keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from fuzz.story.world import FAILURES, OBJECTS, Settings, Thing, World
from fuzz.story.world import provider as world
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.record import replace
from tests.plan.sessions import Options, applied, failed, plan, session, words
from tests.providers_found import find_provider

_REQUIRED: Final = (
    'terraform {\n  required_providers {\n    world = { source = "hashicorp/world" }\n  }\n}\n'
)
_THING: Final = 'resource "world_thing" "t" {\n  name = "t"\n}\n'


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    find_provider(monkeypatch, lambda: world)


def _write(text: str) -> None:
    Path("main.tf").write_text(_REQUIRED + text)


def _data(name: str, *lines: str) -> str:
    return f'resource "terraform_data" "{name}" {{\n{"".join(f"  {each}" for each in lines)}}}\n'


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (_data("a"), "", "no_resource_config"),
        (_data("a", "count = 2\n"), _data("a", "count = 1\n"), "count_index"),
        (_data("a", "count = 2\n"), _data("a"), "wrong_repetition"),
        (
            _data("a", 'for_each = toset(["x", "y"])\n'),
            _data("a", 'for_each = toset(["y"])\n'),
            "each_key",
        ),
        (_data("a", 'for_each = toset(["x"])\n'), _data("a", "count = 1\n"), "wrong_repetition"),
        (_data("a"), _data("a", "lifecycle {\n    enabled = false\n  }\n"), "enabled_false"),
        (_data("a"), _data("a", 'for_each = toset(["y"])\n'), "wrong_repetition"),
        (
            _data("a"),
            "moved {\n  from = terraform_data.a\n  to = terraform_data.b\n}\n",
            "no_move_target",
        ),
    ],
)
def test_reasons(before: str, after: str, reason: str) -> None:
    _write(before)
    applied()
    _write(after)
    deleted = [each for each in plan().changes if each.action == "delete"]
    assert [each.reason for each in deleted] == [f"delete_because_{reason}"]


_KEPT: Final = _data(
    "a", "count = %d\n", "lifecycle {\n    prevent_destroy = %s\n    destroy = %s\n  }\n"
)


@pytest.mark.parametrize(
    ("protected", "destroy", "action"),
    [("true", "false", "forget"), ("false", "true", "delete"), ("true", "true", None)],
)
def test_protection_is_about_what_is_destroyed(
    protected: str, destroy: str, action: str | None
) -> None:
    _write(_KEPT % (2, protected, destroy))
    applied()
    _write(_KEPT % (1, protected, destroy))
    if action is None:
        assert "terraform_data.a[1]" in words(failed())
    else:
        changes = {each.address: each.action for each in plan().changes}
        assert changes["terraform_data.a[1]"] == action


_REMOVED: Final = "removed {\n  from = world_thing.t\n  lifecycle {\n    destroy = false\n  }\n}\n"


@pytest.mark.parametrize("after", ["", _REMOVED])
def test_a_refresh_reads_what_is_to_go_and_ends_nothing(after: str) -> None:
    _write(_THING)
    applied()
    _write(after)
    assert not plan(refresh_only=True).changes
    next(Path(OBJECTS).iterdir()).unlink()
    assert plan(refresh_only=True).drift == ("world_thing.t",)


def test_what_cannot_be_read_is_not_destroyed() -> None:
    _write(_THING)
    applied()
    _write("")
    Path(FAILURES).write_text("read t\n")
    assert "read of t." in words(failed())
    Path(FAILURES).unlink()
    assert [each.action for each in plan().changes] == ["delete"]


@pytest.mark.parametrize("options", [{}, {"destroy": True}])
def test_drift_matters_to_what_stays(options: Options) -> None:
    _write(_THING + _THING.replace('"t"', '"u"'))
    applied()
    next(each for each in Path(OBJECTS).iterdir() if each.name.startswith("t")).unlink()
    assert bool(plan(**options).drift) is not options.get("destroy", False)


class _Asked(World):
    """A provider that plans what is destroyed, too."""

    is_refusing = False
    private: bytes | None = None

    async def schema(self) -> api.SchemaResponse:
        found = await super().schema()
        assert found.schema is not None
        return replace(found, schema=replace(found.schema, plans_destroy=True))

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        if not request.proposed.is_null:
            return await super().plan(request)
        refusal = api.ProviderDiagnostic(Severity.ERROR, "Not this one", "It is needed.")
        told = (refusal,) if self.is_refusing else ()
        return api.PlanResponse(request.proposed, planned_private=b"agreed", diagnostics=told)

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        if request.planned.is_null:
            self.private = request.planned_private
        return await super().apply(request)


@pytest.mark.parametrize("is_refusing", [False, True])
@pytest.mark.parametrize("is_all", [False, True])
def test_a_provider_that_plans_destroys(
    is_refusing: bool, is_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _Asked("world", Settings)
    asked.resource("thing")(Thing)
    find_provider(monkeypatch, lambda: asked)
    _write(_THING)
    applied()
    _write(_THING if is_all else "")
    asked.is_refusing = is_refusing
    options = Options(destroy=True) if is_all else Options()
    if is_refusing:
        assert "Not this one" in words(failed(**options))
        return
    applied(**options)
    assert asked.private == b"agreed"
    assert not [*session().state.resources]
