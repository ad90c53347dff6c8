"""Features of the language and of the commands, and whether a command of a story had an effect of each.

A feature counts only where it mattered: an argument of a block whose objects are planned otherwise
because of it, a flag that chose something, an event that was reported. What a feature leaves no
trace of its own counts where its block had a change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from fuzz.story.command_run import CommandRun
from fuzz.story.comparing import by_name
from fuzz.story.events import Event, event_kind, read_events, subject
from fuzz.story.judging import gone, is_part, name_of, without_keys

Json = Any
"""What `json` reads."""


@dataclass(frozen=True)
class Seen:
    """A command of a story, with what can be seen of its effects."""

    run: CommandRun

    @cached_property
    def events(self) -> list[Event]:
        return list(read_events(self.run.ours.stdout))

    @cached_property
    def plan(self) -> Json:
        return self.run.plan() or {}

    @cached_property
    def changes(self) -> list[Json]:
        """The planned changes that do something."""
        found = self.plan.get("resource_changes") or []
        return [each for each in found if each["change"]["actions"] != ["no-op"]]

    @cached_property
    def changed(self) -> set[str]:
        """The resources with such a change, by type and name."""
        found = {without_keys(each["address"]) for each in self.changes}
        found |= {
            without_keys(subject(each).partition(" ")[2])
            for each in self.events
            if each["type"] in ("planned_change", "apply_start")
        }
        return found

    @cached_property
    def blocks(self) -> list[str]:
        texts = (text for name, text in self.run.step.files.items() if name.endswith(".tf"))
        return [each.strip() for text in texts for each in re.split(r"(?m)^}$", text)]

    def changes_block(self, *patterns: str) -> bool:
        """Whether a block with texts in it had a change: of its own, or below it if it is a call."""
        return any(self._has_change(each) for each in self._blocks_with(*patterns))

    def _blocks_with(self, *patterns: str) -> Iterator[str]:
        return (
            b for b in self.blocks if all(re.search(each, b, re.MULTILINE) for each in patterns)
        )

    def _has_change(self, block: str) -> bool:
        name = name_of(block)
        wanted = f"module.{name}." if block.startswith("module ") else name
        is_call = block.startswith("module ")
        return any(
            wanted in f"{each}." if is_call else each.endswith(name) for each in self.changed
        )

    def has_event(self, kind: str) -> bool:
        return any(event_kind(each) == kind for each in self.events)

    def has_message(self, kind: str, word: str) -> bool:
        return any(e["type"] == kind and f": {word}" in str(e["@message"]) for e in self.events)

    def has_reason(self, *reasons: str) -> bool:
        return any(each.get("action_reason") in reasons for each in self.changes)

    def acts(self, *actions: str) -> bool:
        """Whether a change consists of these actions."""
        return any(each["change"]["actions"] == [*actions] for each in self.changes)

    def complains(self, pattern: str, severity: str = "error") -> bool:
        """Whether a diagnostic has a summary or detail like this."""
        return any(
            each["severity"] == severity
            and re.search(pattern, f"{each['summary']}\n{each.get('detail')}")
            for each in self._diagnostics()
        )

    def _diagnostics(self) -> Iterator[Json]:
        return (each["diagnostic"] for each in self.events if "diagnostic" in each)

    def checked(self, kind: str, status: str) -> bool:
        """Whether the conditions of an object of some kind went so."""
        checks = self.plan.get("checks") or []
        return any(each["address"]["kind"] == kind and each["status"] == status for each in checks)

    def changes_output(self, action: str, is_sensitive: bool = False) -> bool:
        return any(
            action in each["actions"] and (not is_sensitive or each["before_sensitive"] is True)
            for each in (self.plan.get("output_changes") or {}).values()
        )

    def stores(self, pattern: str) -> bool:
        """Whether the state after the command has a text like this."""
        return re.search(pattern, self.run.outcomes[1].state) is not None

    def says(self, *words: str) -> bool:
        """Whether the command line has such words, and the command planned or did something."""
        line = " ".join(self.run.command)
        return all(word in line for word in words) and bool(self.changed or self.run.ours.status)

    @property
    def is_destroy(self) -> bool:
        line = " ".join(self.run.command)
        return line.startswith("destroy") or "-destroy" in line

    def ignores(self) -> bool:
        """Whether an object keeps a value that its block would change."""
        stored: Json = by_name(json.loads(self.run.outcomes[1].state))["resources"]
        for block in self._blocks_with(r"ignore_changes = "):
            given = re.search(r'(?m)^  (value|input) = "(\w+)"$', block)
            name = name_of(block)
            for key, each in stored.items():
                values = each.get("attributes") or {}
                if given and f"{name}[" in key and values.get(given[1]) not in (given[2], None):
                    return True
        return False


@dataclass(frozen=True)
class Feature:
    """Something that stories must exercise, and how to see that a command had an effect of it."""

    group: str
    name: str
    is_seen: Callable[[Seen], bool]


def _blocks(group: str, **patterns: tuple[str, ...]) -> Iterator[Feature]:
    """Features that matter where a block with some texts has a change."""
    for name, texts in patterns.items():
        yield Feature(group, name.replace("_in_", " in ").replace("__", " "), _changes(texts))


def _changes(texts: tuple[str, ...]) -> Callable[[Seen], bool]:
    return lambda seen: seen.changes_block(*texts)


def _events(*kinds: str) -> Iterator[Feature]:
    for kind in kinds:
        yield Feature("events", kind, _has_event(kind))


def _has_event(kind: str) -> Callable[[Seen], bool]:
    return lambda seen: seen.has_event(kind)


def _reasons(*reasons: str) -> Iterator[Feature]:
    for reason in reasons:
        yield Feature("reasons of changes", reason, _has_reason(reason))


def _has_reason(reason: str) -> Callable[[Seen], bool]:
    return lambda seen: seen.has_reason(reason)


def _flags(*flags: str) -> Iterator[Feature]:
    for flag in flags:
        yield Feature("commands and flags", flag, _says(flag))


def _says(flag: str) -> Callable[[Seen], bool]:
    words = flag.split()
    return lambda seen: seen.says(*words)


_RESOURCE: Final = r"^resource "
_MODULE: Final = r"^module "
_DATA: Final = r"^data "

FEATURES: Final = (
    *_blocks(
        "resource",
        count=(_RESOURCE, r"^  count = "),
        for_each=(_RESOURCE, r"^  for_each = "),
        enabled=(_RESOURCE, r"^    enabled = "),
        depends_on=(_RESOURCE, r"^  depends_on = "),
        provider=(_RESOURCE, r"^  provider = world\.other"),
        provider__with__a__key=(_RESOURCE, r'^  provider = world\.by\["'),
        provider__of__the__caller=(_RESOURCE, r"^  provider = world\.second"),
        block=(_RESOURCE, r"^  part {"),
        dynamic=(_RESOURCE, r'^  dynamic "part" {'),
        dynamic__with__iterator=(_RESOURCE, r"^    iterator = "),
        write_only__argument=(_RESOURCE, r"^  hint = "),
        sensitive__argument=(_RESOURCE, r"^  secret = "),
        terraform_data=(r'^resource "terraform_data"',),
    ),
    Feature("lifecycle", "create_before_destroy", lambda s: s.acts("create", "delete")),
    Feature("lifecycle", "prevent_destroy", lambda s: s.complains("prevent_destroy")),
    Feature("lifecycle", "ignore_changes", lambda s: s.ignores()),
    Feature(
        "lifecycle",
        "replace_triggered_by",
        lambda s: s.has_reason("replace_by_triggers"),
    ),
    Feature(
        "lifecycle",
        "destroy = false",
        lambda s: s.acts("forget") or s.acts("forget", "create"),
    ),
    Feature("lifecycle", "precondition fails", lambda s: s.complains("(?i)precondition")),
    Feature("lifecycle", "postcondition fails", lambda s: s.complains("(?i)postcondition")),
    Feature("lifecycle", "conditions hold", lambda s: s.checked("resource", "pass")),
    *_blocks(
        "provisioner",
        when__create=(_RESOURCE, r"echo create"),
        when__destroy=(_RESOURCE, r"when = destroy"),
    ),
    Feature("provisioner", "fails", lambda s: s.has_event("provision_errored")),
    Feature(
        "provisioner",
        "on_failure = continue",
        lambda s: s.complains("(?i)provisioner", "warning"),
    ),
    Feature("provisioner", "removed", lambda s: "removed" in s.run.outcomes[1].log),
    *_blocks(
        "data",
        count=(_DATA, r"^  count = "),
        for_each=(_DATA, r"^  for_each = "),
        depends_on=(_DATA, r"^  depends_on = "),
        enabled=(_DATA, r"^    enabled = "),
        postcondition=(_DATA, r"postcondition"),
    ),
    Feature("data", "read while applying", lambda s: s.has_event("apply_complete read")),
    Feature("ephemeral", "opened", lambda s: s.has_message("ephemeral_action_complete", "Open")),
    Feature("ephemeral", "closed", lambda s: s.has_message("ephemeral_action_complete", "Close")),
    Feature(
        "ephemeral",
        "repeated",
        lambda s: any(
            e["type"] == "ephemeral_action_complete" and "]" in subject(e) for e in s.events
        ),
    ),
    *_blocks(
        "module",
        count=(_MODULE, r"^  count = "),
        for_each=(_MODULE, r"^  for_each = "),
        enabled=(_MODULE, r"^    enabled = "),
        depends_on=(_MODULE, r"^  depends_on = "),
        providers=(_MODULE, r"^  providers = "),
    ),
    Feature("module", "in a module", lambda s: any(e.count("module.") > 1 for e in s.changed)),
    Feature(
        "moved",
        "resource",
        lambda s: any("previous_address" in each for each in s.plan.get("resource_changes") or ()),
    ),
    Feature(
        "moved",
        "in a module",
        lambda s: (
            bool(re.search(r"(?m)^moved {", s.run.step.files.get("m1/main.tf", "")))
            and any("previous_address" in each for each in s.plan.get("resource_changes") or ())
        ),
    ),
    Feature(
        "removed",
        "destroys",
        lambda s: (
            s.changes_block()
            and bool(re.search(r"destroy = true", s.run.step.files["main.tf"]))
            and s.acts("delete")
        ),
    ),
    Feature(
        "removed", "forgets", lambda s: s.complains("forgotten|removed from the state", "warning")
    ),
    Feature(
        "import",
        "one",
        lambda s: any(
            "importing" in each["change"] for each in s.plan.get("resource_changes") or ()
        ),
    ),
    Feature(
        "import",
        "for_each",
        lambda s: (
            bool(re.search(r"(?m)^import {\n  for_each", s.run.step.files["main.tf"]))
            and any("importing" in each["change"] for each in s.plan.get("resource_changes") or ())
        ),
    ),
    Feature("import", "fails", lambda s: s.complains("Nothing to import|import")),
    Feature("check", "holds", lambda s: s.checked("check", "pass")),
    Feature("check", "fails", lambda s: s.checked("check", "fail")),
    Feature("check", "unknown", lambda s: s.checked("check", "unknown")),
    Feature(
        "check",
        "with data",
        lambda s: (
            s.has_event("apply_complete read")
            and any(
                re.search(r"^  data ", b, re.MULTILINE) for b in s.blocks if b.startswith("check ")
            )
        ),
    ),
    Feature(
        "variable",
        "validation fails",
        lambda s: s.complains("(?i)invalid value for (input )?variable|validation"),
    ),
    Feature("variable", "validation holds", lambda s: s.checked("var", "pass")),
    Feature(
        "variable",
        "nullable",
        lambda s: any("nullable = false" in b for b in s.blocks) and bool(s.changed),
    ),
    Feature(
        "variable",
        "sensitive",
        lambda s: any("var.s" in b for b in s.blocks if s.changes_block(re.escape(b[:40]))),
    ),
    Feature("variable", "ephemeral", lambda s: s.changes_block(r"^  hint = var\.e")),
    Feature("output", "create", lambda s: s.changes_output("create")),
    Feature("output", "update", lambda s: s.changes_output("update")),
    Feature("output", "delete", lambda s: s.changes_output("delete")),
    Feature(
        "output",
        "sensitive",
        lambda s: any(
            e["after_sensitive"] is True for e in (s.plan.get("output_changes") or {}).values()
        ),
    ),
    Feature(
        "output",
        "sensitive, deleted by a destroy",
        lambda s: s.is_destroy and s.changes_output("delete", True),
    ),
    Feature("output", "ephemeral", lambda s: s.changes_block(r"^  hint = .*module\.")),
    Feature(
        "output",
        "precondition fails",
        lambda s: s.complains("(?i)output precondition|precondition"),
    ),
    Feature("output", "precondition holds", lambda s: s.checked("output_value", "pass")),
    Feature(
        "output",
        "depends_on",
        lambda s: (
            any(b.startswith("output ") and "depends_on" in b for b in s.blocks) and bool(s.changed)
        ),
    ),
    Feature("provider", "alias", lambda s: s.stores(r"world\\\"\]\.other")),
    Feature("provider", "for_each", lambda s: s.stores(r"world\\\"\]\.by\[")),
    Feature(
        "provider",
        "configured from a resource",
        lambda s: (
            bool(re.search(r'alias = "other"\n  label = (?!var)', s.run.step.files["main.tf"]))
            and bool(s.changed)
        ),
    ),
    Feature("provider", "function", lambda s: s.changes_block(r"provider::world::shout")),
    Feature("mistakes", "cycle", lambda s: s.complains("Dependency cycle|(?i:circular)")),
    Feature(
        "mistakes",
        "in a destroy",
        lambda s: (
            s.is_destroy
            and any(n in "".join(s.blocks) for n in ("x1 =", '"x1"'))
            and bool(s.run.ours.status)
        ),
    ),
    Feature(
        "mistakes",
        "undeclared name",
        lambda s: s.complains("undeclared|Unknown function"),
    ),
    Feature(
        "mistakes",
        "wrong form",
        lambda s: s.complains("^(Missing|Unsupported|Wrong|Unknown argument|Unexpected)"),
    ),
    Feature("provider failures", "create", lambda s: s.complains("(?m)^create of")),
    Feature("provider failures", "update", lambda s: s.complains(r"(?m)^update of")),
    Feature("provider failures", "delete", lambda s: s.complains(r"(?m)^delete of")),
    Feature("provider failures", "read", lambda s: s.complains(r"(?m)^read of")),
    Feature("provider failures", "half done", lambda s: s.complains(r"Half done")),
    Feature("provider failures", "refused value", lambda s: s.complains("Value refused")),
    Feature("world", "object changed", lambda s: s.has_event("resource_drift update")),
    Feature("world", "object gone", lambda s: s.has_event("resource_drift delete")),
    Feature("world", "gone in a destroy", lambda s: s.is_destroy and bool(gone(s.run.step))),
    Feature("state", "deposed object", lambda s: s.stores('"deposed"')),
    Feature("state", "tainted object", lambda s: s.stores('"tainted"')),
    Feature(
        "state", "sensitive attribute", lambda s: s.stores(r'"sensitive_attributes":\s*\[\s*\[')
    ),
    *_flags(
        "plan",
        "apply p",
        "apply -auto-approve",
        "destroy",
        "refresh",
        "plan -destroy",
        "plan -refresh-only",
        "plan -refresh=false",
        "plan -replace=",
        "plan -target=",
        "plan -exclude=",
        "plan -destroy -target=",
        "plan -destroy -exclude=",
        "plan -var=",
        "-parallelism=1",
    ),
    Feature(
        "commands and flags",
        "state mv",
        lambda s: s.run.command[:2] == ["state", "mv"] and not s.run.ours.status,
    ),
    Feature(
        "commands and flags",
        "state rm",
        lambda s: s.run.command[:2] == ["state", "rm"] and not s.run.ours.status,
    ),
    Feature(
        "commands and flags",
        "taint",
        lambda s: s.run.command[0] == "taint" and not s.run.ours.status,
    ),
    Feature(
        "commands and flags",
        "untaint",
        lambda s: s.run.command[0] == "untaint" and not s.run.ours.status,
    ),
    Feature(
        "commands and flags",
        "two targets",
        lambda s: is_part(s.run.step) and " ".join(s.run.command).count("-target=") > 1,
    ),
    *_events(
        "planned_change create",
        "planned_change update",
        "planned_change delete",
        "planned_change replace",
        "planned_change read",
        "planned_change move",
        "planned_change noop",
        "planned_change remove",
        "planned_change import",
        "resource_drift update",
        "resource_drift delete",
        "refresh_start",
        "refresh_complete",
        "apply_start create",
        "apply_complete create",
        "apply_complete update",
        "apply_complete delete",
        "apply_complete read",
        "apply_errored create",
        "apply_errored update",
        "apply_errored delete",
        "provision_start",
        "provision_complete",
        "provision_errored",
        "change_summary",
        "outputs",
        "diagnostic",
    ),
    *_reasons(
        "replace_because_cannot_update",
        "replace_because_tainted",
        "replace_by_request",
        "replace_by_triggers",
        "delete_because_no_resource_config",
        "delete_because_wrong_repetition",
        "delete_because_count_index",
        "delete_because_each_key",
        "delete_because_no_module",
        "delete_because_enabled_false",
        "read_because_config_unknown",
        "read_because_dependency_pending",
        "read_because_check_nested",
    ),
)
"""All features."""


def exercised(run: CommandRun) -> set[Feature]:
    """Return the features that had an effect in a command."""
    seen = Seen(run)
    return {each for each in FEATURES if each.is_seen(seen)}
