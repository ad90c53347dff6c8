"""What people and programs see of plans beside the real program: the same lines, the same JSON.

The cases are those of `tests/cli`: the real program attaches to their provider, and ours has it in
this process. Where the sentences are our own, a table says which ones mean the same.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Final

import pytest

from nigari.addrs.provider import default_provider
from nigari.cli.commands import apply, plan, refresh, show
from tests.cases import Case
from tests.cli.in_process import ran
from tests.cli.plan_texts import CASES, comparable, lay_out
from tests.cli.rich import Rich
from tests.plugins import running, serving
from tests.providers_found import find_provider
from tests.real import program

pytestmark = pytest.mark.real

_SAME: Final = [
    (r"\nWarning: Resource will be removed from the state\n.*?import it\.\n", ""),
    (r"\nWarning: Object will be forgotten\n.*?be imported\.\n", ""),
    (r"\nhttps://nigari\.github\.io/\S+(\n|$)", ""),
    (
        r"\nOpenTofu used the selected.*?symbols:",
        "\nThe plan uses these symbols:",
    ),
    (
        r" of OpenTofu\n\nOpenTofu detected.*?plan:\n",
        (
            " of OpenTofu\n\nThese changes were made since the last apply and may have affected this plan:\n"
        ),
    ),
    (
        r"\n\nUnless you have made.*?changes\.\n",
        (
            "\n\nUnless you have made equivalent changes to your configuration,\nor ignore these "
            "changes with ignore_changes, the plan below may undo them.\n"
        ),
    ),
    (
        r"\n\nThis is a refresh-only plan,.*?objects\.\n",
        ("\n\nApplying this plan only saves these values to the state; nothing else is changed.\n"),
    ),
    (
        r"At least one attribute in this block is \(or was\) sensitive,",
        ("Something in this block is or was sensitive, so"),
    ),
    (r"so its contents will not be displayed\.", "it is not shown."),
    (
        (
            r"this (attribute|block)(?: value)? will no longer be marked as sensitive\n *# after applying this"
            r" change\."
        ),
        r"this \1 stops being sensitive once this is applied.",
    ),
    (
        (
            r"this (attribute|block)(?: value)? will be marked as sensitive and will not\n *# display in UI"
            r" output after applying this change\."
        ),
        r"this \1 becomes sensitive and is hidden from then on.",
    ),
    (r"The value is unchanged\.", "Its value does not change."),
    (
        r"# whitespace changes force replacement",
        "# forces replacement, although only whitespace changes",
    ),
    (r"# whitespace changes", "# only whitespace changes"),
    (
        r"config will be reloaded to verify a check block",
        ("the check it belongs to needs a fresh result"),
    ),
    (
        r"depends on a resource or a module with changes pending",
        ("something that it depends on will change"),
    ),
    (r"config refers to values not yet known", "its configuration is not known yet"),
    (r"removed from the OpenTofu state", "removed from the state"),
    (
        r"left over from a partially-failed replacement of this instance",
        "left over from a replacement that was not completed",
    ),
    (r"this will destroy the imported resource", "this will destroy the imported object"),
    (r"older instance will not be destroyed", "the old object is not destroyed"),
    (r"  \./\+ resource", "./+ resource"),
    (
        (
            r" \n \(because lifecycle.destroy = false was configured before this resource was removed from the"
            r" configuration\)"
        ),
        (
            "\n  # (because lifecycle.destroy was false before it was removed from the"
            " configuration)"
        ),
    ),
    (r"No changes\. .*", "No changes."),
    (r"\n\nOpenTofu has (?:compared|checked).*?(?:needed|differences)\.", ""),
    (r"\n\nEither you have not created.*?OpenTofu\.", ""),
    (r"\n\n(?:The (?:configuration|state) was compared|Nothing has been created here).*?\.", ""),
]

_UNTOLD: Final = "actions: objects with an identity"
"""A provider in Python does not tell other programs that its objects have identities."""
_DIFFERENT: Final = {
    # OpenTofu shows the attributes of the whole resource in a block that is known later.
    "values: wholes are known later",
    # OpenTofu forgets on the way that sets of blocks have secrets, and leaves out that attributes
    # of no fixed type force a replacement.
    "values: attributes force a replacement",
    "values: parts are known later",
    _UNTOLD,
}
_QUIRKS: Final = ("sensitive_values", "after_sensitive", "replace_paths")


class Beside:
    """A directory for each program, with the same state and the same configuration."""

    def __init__(self, path: Path, settings: dict[str, str]) -> None:
        self._tofu = program("tofu")
        self.environ = {**os.environ, **settings, "TF_IN_AUTOMATION": "1"}
        self.ours, self.theirs = path / "ours", path / "theirs"

    def lay_out(self, case: Case) -> list[str]:
        """Make the state and the configuration of a case in both; the flags of the case."""
        flags = lay_out(case, self.ours, self.environ)
        shutil.copytree(self.ours, self.theirs, dirs_exist_ok=True)
        return flags

    def tofu(self, *args: str) -> str:
        """What the real program prints."""
        done = subprocess.run(
            [self._tofu, *args, "-no-color"],
            cwd=self.theirs,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Beside]:
    find_provider(monkeypatch, Rich)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    monkeypatch.chdir(ours)
    source = str(default_provider("rich"))
    with running(source, serving(Rich), theirs) as settings:
        yield Beside(tmp_path, settings)


def _translated(text: str) -> str:
    for pattern, words in _SAME:
        text = re.sub(pattern, words, text, flags=re.DOTALL if ".*?" in pattern else 0)
    return comparable(text)


def _compare(found: str, wanted: str) -> None:
    difference = list(
        unified_diff(wanted.splitlines(), found.splitlines(), "theirs", "ours", lineterm="")
    )
    assert not difference, "\n".join(difference)


@pytest.mark.parametrize("case", [c for c in CASES if str(c) not in _DIFFERENT], ids=str)
def test_same_lines(case: Case, beside: Beside) -> None:
    flags = beside.lay_out(case)
    wanted = _translated(beside.tofu("plan", *flags))
    _compare(_translated(ran(plan.COMMAND, flags, beside.environ)[1]), wanted)


def _plain(data: object) -> object:
    """A document without moments, and without what OpenTofu is known to get wrong."""
    if isinstance(data, dict):
        kept = {name: _plain(each) for name, each in data.items() if name not in _QUIRKS}
        kept.pop("timestamp", None)
        if "prior_state" in kept:
            kept["prior_state"] = _without_dependencies(kept["prior_state"])
        if "relevant_attributes" in kept:
            kept["relevant_attributes"] = sorted(_list(kept["relevant_attributes"]), key=str)
        return kept
    return [_plain(each) for each in data] if isinstance(data, list) else data


def _list(data: object) -> list[object]:
    assert isinstance(data, list)
    return data


def _without_dependencies(data: object) -> object:
    """OpenTofu notes new dependencies already while planning, and what checks have read."""
    if isinstance(data, dict):
        return {
            name: _without_dependencies(each) for name, each in data.items() if name != "depends_on"
        }
    if isinstance(data, list):
        kept = [each for each in data if not _is_of_check(each)]
        return [_without_dependencies(each) for each in kept]
    return data


def _is_of_check(data: object) -> bool:
    return isinstance(data, dict) and data.get("address") == "data.rich_lookup.c"


@pytest.mark.parametrize("case", [c for c in CASES if str(c) != _UNTOLD], ids=str)
def test_same_document(case: Case, beside: Beside) -> None:
    flags = beside.lay_out(case)
    beside.tofu("plan", "-out=p", *flags)
    theirs = json.loads(beside.tofu("show", "-json", "p"))
    assert ran(plan.COMMAND, ["-out=p", *flags], beside.environ)[0] == 0
    ours = json.loads(ran(show.COMMAND, ["-json", "p"], beside.environ)[1])
    assert list(ours) == list(theirs)
    texts = [json.dumps(_plain(each), indent=1, sort_keys=True) for each in (ours, theirs)]
    _compare(*texts)


# -- events -----------------------------------------------------------------------------------

_EVENTFUL: Final = """\
resource "rich_thing" "a" {
  name = "n"
  text = "%s"
}
resource "terraform_data" "p" {
  input = rich_thing.a.text
  provisioner "local-exec" {
    command = "echo hello; echo; echo world"
    quiet = true
  }
}
data "rich_lookup" "d" { key = "k" }
data "rich_lookup" "e" { key = terraform_data.p.id }
ephemeral "rich_token" "t" { key = "k" }
resource "rich_thing" "w" {
  name = "w"
  written = ephemeral.rich_token.t.value
}
output "o" { value = terraform_data.p.output }
output "s" {
  value = "x"
  sensitive = true
}
"""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def _events(text: str) -> list[str]:
    """Events in an order of ours, without moments and words about a provisioner's command."""
    found = []
    for line in text.splitlines():
        event = json.loads(line)
        event.pop("@timestamp")
        if event["type"] == "version":
            event = {name: event[name] for name in ("type", "tofu", "ui", "@level", "@module")}
        is_words = re.search("development|Executing|suppressed", event.get("@message", ""))
        if not is_words:
            found.append(_UUID.sub("<uuid>", json.dumps(event, sort_keys=True)))
    return sorted(found)


def test_same_events(beside: Beside) -> None:
    case = Case(Path("events"), "events", {"main.tf": _EVENTFUL % "one"}, "")
    beside.lay_out(case)
    steps = [
        (plan.COMMAND, ("plan", "-json")),
        (apply.COMMAND, ("apply", "-json", "-auto-approve")),
        (plan.COMMAND, ("plan", "-json")),
        (refresh.COMMAND, ("refresh", "-json")),
    ]
    for text in ("one", "two"):
        for place in (beside.ours, beside.theirs):
            (place / "main.tf").write_text(_EVENTFUL % text)
        for command, words in steps:
            wanted = "\n".join(_events(beside.tofu(*words)))
            found = "\n".join(_events(ran(command, list(words[1:]), beside.environ)[1]))
            _compare(found, wanted)


def test_same_last_lines(beside: Beside) -> None:
    """What scripts look for at the end."""
    case = Case(Path("lines"), "lines", {"main.tf": _EVENTFUL % "one"}, "")
    beside.lay_out(case)
    for command, words in (
        (apply.COMMAND, ("apply", "-auto-approve")),
        (apply.DESTROY, ("destroy", "-auto-approve")),
    ):
        wanted = _translated(beside.tofu(*words))
        found = _translated(ran(command, list(words[1:]), beside.environ)[1])
        start = "complete! Resources: "
        assert found[found.index(start) :].rstrip() == wanted[wanted.index(start) :].rstrip()
