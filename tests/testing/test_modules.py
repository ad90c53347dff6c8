"""Modules under test from Python, with providers in this process and without any."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import nigari.testing
from nigari import SessionError
from nigari.testing import UNKNOWN, Mocked
from tests.cli.rich import Rich

_MODULE = """
variable "name" {
  type = string
  validation {
    condition     = var.name != "bad"
    error_message = "Bad."
  }
}
resource "rich_thing" "a" {
  name = var.name
}
data "rich_lookup" "d" {
  key = "k"
}
module "m" {
  source = "./m"
}
output "all" {
  value = [rich_thing.a.id, data.rich_lookup.d.value, module.m.o]
}
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "main.tf").write_text(_MODULE)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text('output "o" {\n  value = "real"\n}\n')
    return tmp_path


def test_a_provider_in_this_process(directory: Path) -> None:
    with nigari.testing.module(directory, {"name": "n"}, providers={"rich": Rich}) as module:
        plan = module.plan()
        assert plan.actions == {"rich_thing.a": "create"}
        thing = plan.resources["rich_thing.a"]
        assert isinstance(thing, dict)
        assert (thing["name"], thing["id"]) == ("n", UNKNOWN)
        made = module.apply()
        again = module.plan()
    assert isinstance(made.outputs["all"], list)
    assert made.outputs["all"][0] is not UNKNOWN
    assert again.actions == {}


def test_mocks_and_overrides(directory: Path) -> None:
    mock = Mocked("rich", resources={"rich_thing": {"id": "i"}})
    with nigari.testing.module(
        directory,
        {"name": "n"},
        mocks=[mock],
        providers={"rich": Rich},
        overrides={"data.rich_lookup.d": {"value": "v"}, "module.m": {"o": "given"}},
    ) as module:
        assert module.plan().outputs == {"all": ["i", "v", "given"]}


@pytest.mark.parametrize(("name", "failures"), [("good", []), ("bad", ["var.name"])])
def test_failures(directory: Path, name: str, failures: list[str]) -> None:
    with nigari.testing.module(directory, providers={"rich": Rich}) as module:
        assert module.failures({"name": name}) == failures


def test_what_is_wrong_is_an_exception(directory: Path) -> None:
    with nigari.testing.module(directory, providers={"rich": Rich}) as module:
        with pytest.raises(SessionError, match="No value for variable"):
            module.plan()
        assert module.plan({"name": "n"}).actions


def test_a_snapshot_is_the_same_for_the_same_plan(directory: Path) -> None:
    def taken() -> str:
        with nigari.testing.module(
            directory, {"name": "n"}, mocks=["rich"], providers={"rich": Rich}
        ) as module:
            return module.plan().snapshot()

    assert taken() == taken()
    assert '"rich_thing.a": "create"' in taken()


def test_inside_a_running_loop(directory: Path) -> None:
    async def whole() -> None:
        with nigari.testing.module(directory, {"name": "n"}, providers={"rich": Rich}) as module:
            module.apply()

    asyncio.run(whole())
