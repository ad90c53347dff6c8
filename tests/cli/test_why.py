"""`why`, `plan -why`, `show -why` and the reasons in Markdown, as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nigari.cli.commands import apply, plan, show, why
from tests.cli.in_process import ran
from tests.plan.firewall import REQUIRED, install

MAIN = """
variable "port" {
  type    = number
  default = 1
}
variable "ports" {
  type    = list(number)
  default = [10, 20]
}
variable "host" {
  default = "h"
}
resource "firewall_group" "a" {
  name = "a"
  zone {
    name = "fixed"
  }
  zone {
    name = "port ${var.port}"
  }
  rule {
    port = var.port
    host {
      name = var.host
    }
  }
}
resource "firewall_group" "b" {
  name = "b"
  dynamic "zone" {
    for_each = var.ports
    content {
      name = "port ${zone.value}"
    }
  }
  dynamic "zone" {
    for_each = var.port > 5 ? [] : [1]
    content {
      name = var.host
    }
  }
}
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    install(monkeypatch)
    (tmp_path / "main.tf").write_text(REQUIRED + MAIN)
    assert ran(apply.COMMAND, ["-auto-approve"], {})[0] == 0
    return tmp_path


def told(address: str, *args: str) -> dict[str, list[str]]:
    """The names of what each changed argument of an object comes from."""
    status, text = ran(why.COMMAND, ["-json", *args, address], {})
    assert status == 0, text
    (change,) = json.loads(text)["changes"]
    return {
        each["path"]: _roots(each["explanation"])
        for each in change["arguments"]
        if "explanation" in each
    }


def _roots(explanation: dict[str, object]) -> list[str]:
    found = []
    inner = explanation["from"]
    assert isinstance(inner, list)
    for part in inner:
        found += _roots(part) or [part["name"]]
    return found


@pytest.mark.parametrize(
    ("address", "args", "expected"),
    [
        (
            "firewall_group.a",
            ["-var=port=2"],
            {"rule": ["var.port", "var.host"], "zone[1].name": ["var.port"]},
        ),
        ("firewall_group.a", ["-var=host=x"], {"rule": ["var.port", "var.host"]}),
        (
            "firewall_group.b",
            ["-var=host=x"],
            {"zone[2].name": ["var.host", "var.port"]},
        ),
        (
            "firewall_group.b",
            ["-var=ports=[10,30]"],
            {"zone[1].name": ["var.ports"]},
        ),
    ],
)
def test_blocks(address: str, args: list[str], expected: dict[str, list[str]]) -> None:
    assert told(address, *args) == expected


def test_text(directory: Path) -> None:
    status, text = ran(why.COMMAND, ["-var=port=2", "firewall_group.a.zone"], {})
    assert status == 0
    assert (
        text
        == """\
update firewall_group.a
  main.tf line 18
  zone[1].name = "port 1" -> "port 2"
    main.tf line 24: name = "port ${var.port}"
    <- var.port = 2  (from the option -var; was 1; main.tf line 7)
"""
    )


def test_all_of_a_plan() -> None:
    status, text = ran(plan.COMMAND, ["-why", "-var=port=2"], {})
    assert status == 0
    assert "update firewall_group.a\n" in text
    assert "<- var.port = 2  (from the option -var; was 1; main.tf line 7)" in text
    assert "Plan: 0 to add, 1 to change, 0 to destroy." in text
    status, text = ran(plan.COMMAND, ["-why", "-var=port=2", "-only=create"], {})
    assert "update firewall_group.a" not in text
    assert "One more change is not shown" in text


def test_events() -> None:
    _, text = ran(plan.COMMAND, ["-why", "-json", "-var=port=2"], {})
    events = [json.loads(line) for line in text.splitlines()]
    (found,) = [event for event in events if event["type"] == "change_reasons"]
    assert found["reasons"]["address"] == "firewall_group.a"


def test_a_saved_plan_needs_nothing_to_be_as_it_was(directory: Path) -> None:
    (directory / "terraform.tfvars").write_text('\n\nhost = "saved"\n')
    assert ran(plan.COMMAND, ["-out=p"], {})[0] == 0
    (directory / "main.tf").unlink()
    (directory / "terraform.tfvars").write_text('host = "later"\n')
    status, text = ran(why.COMMAND, ["-plan=p", "firewall_group.b"], {})
    assert status == 0
    assert '<- var.host = "saved"  (from terraform.tfvars line 3; was "h"; main.tf line 15)' in text
    assert "<- var.host" in ran(show.COMMAND, ["-why", "p"], {})[1]
    assert "<- var.host" in ran(show.COMMAND, ["-markdown", "p"], {})[1]
    document = json.loads(ran(show.COMMAND, ["-json", "-why", "p"], {})[1])
    assert [each["address"] for each in document["reasons"]] == [
        "firewall_group.a",
        "firewall_group.b",
    ]


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("firewall_group.a", 0, "No change is planned for firewall_group.a."),
        ("firewall_group.a.name", 0, "No change is planned for firewall_group.a.name."),
        ("firewall_group.c", 1, "The plan has nothing named firewall_group.c."),
        ("output.o", 1, "The plan has nothing named output.o."),
    ],
)
def test_nothing_to_explain(address: str, status: int, says: str) -> None:
    found, text = ran(why.COMMAND, [address], {})
    assert (found, says in " ".join(text.split())) == (status, True)


def test_a_plan_that_does_nothing() -> None:
    status, text = ran(plan.COMMAND, ["-why"], {})
    assert (status, text.endswith("\n\nNo changes.\n")) == (0, True)
