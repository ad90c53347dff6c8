"""Stories of actions: configurations, commands, and what the provider did.

Nigari follows them in `tests/cli`, and Terraform, which has actions too, beside it in `tests/real`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

SERVE = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from tests.providers.stage import stage_provider

stage_provider(Path("log").absolute()).serve()
"""
"""The program of the provider."""
HEAD = """\
terraform {
  required_providers {
    stage = {
      source = "example.com/test/stage"
    }
  }
}
variable "x" {
  default = "one"
}
"""
ALL = "before_create, after_create, before_update, after_update, before_destroy, after_destroy"


@dataclass(frozen=True, slots=True)
class Step:
    """One apply."""

    text: str
    log: str = ""
    """The work of the provider, without what it does while planning, separated by commas."""
    args: tuple[str, ...] = ()
    fails: bool = False
    state: str | None = None
    """Names of the objects afterwards, those that are tainted with an exclamation mark."""


def prop(lifecycle: str = "", name: str = "var.x", label: str = "a", more: str = "") -> str:
    return (
        f'resource "stage_prop" "{label}" {{\n  name = {name}\n  {more}\n  lifecycle {{\n'
        f"{lifecycle}\n  }}\n}}\n"
    )


def trigger(events: str, actions: str = "action.stage_cue.c", more: str = "") -> str:
    return (
        f"    action_trigger {{\n      events = [{events}]\n      actions = [{actions}]\n"
        f"      {more}\n    }}\n"
    )


def cue(text: str = "c ${caller.name}", more: str = "", config: str = "") -> str:
    return (
        f'action "stage_cue" "c" {{\n  {more}\n  config {{\n    text = "{text}"\n    {config}\n'
        "  }\n}\n"
    )


BOW = 'action "stage_bow" "b" {}\n'
_FAILING = cue("c", config="fails = true")
_LATER = 'resource "stage_prop" "z" {\n  name = stage_prop.a.id\n}\n'
_EVERY = prop(trigger(ALL)) + cue()
_EVERY_TWO = prop(trigger(ALL), '"two"') + cue()
_FIRST = prop(trigger(ALL) + "    create_before_destroy = true") + cue()
_COUNTED = trigger(ALL, "action.stage_cue.c[count.index]")
_PAIR = prop(trigger("after_create"), '"n${count.index}"', more="count = 2") + cue()
_OTHERS = (
    'resource "stage_prop" "a" {\n  name = "r"\n}\nresource "stage_prop" "o" {\n  name = "%s"\n}\n'
    + cue("c ${stage_prop.a.id}")
)
_CREATED, _UPDATED = "cue c one,create one,cue c one", "cue c two,update two,cue c two"

STORIES: dict[str, tuple[Step, ...]] = {
    "every event": (
        Step(_EVERY, _CREATED),
        Step(_EVERY_TWO, _UPDATED),
        Step(_EVERY_TWO),
        Step(
            _EVERY_TWO,
            "cue c two,delete two,cue c two,cue c two,create two,cue c two",
            ("-replace=stage_prop.a",),
        ),
        Step(_EVERY_TWO, "cue c two,delete two,cue c two", ("-destroy",), state=""),
    ),
    "created first": (
        Step(_FIRST, _CREATED),
        Step(
            _FIRST,
            "cue c one,create one,cue c one,cue c one,delete one,cue c one",
            ("-replace=stage_prop.a",),
        ),
    ),
    "unknown before it is created": (
        Step(prop(trigger("before_create")) + cue("${caller.id}"), fails=True, state=""),
    ),
    "a result of the change": (
        Step(prop(trigger("after_create")) + cue("${caller.id}"), "create one,cue id-one"),
    ),
    "a failure before": (
        Step(prop(trigger("before_create")) + _FAILING + _LATER, "cue c", fails=True, state=""),
    ),
    "a failure after": (
        Step(
            prop(trigger("after_create")) + _FAILING + _LATER,
            "create one,cue c",
            fails=True,
            state="a",
        ),
        Step(prop(trigger("after_create")) + _FAILING, state="a"),
    ),
    "a failure that taints": (
        Step(
            prop(trigger("after_create", more="on_failure = taint")) + _FAILING,
            "create one,cue c",
            fails=True,
            state="a!",
        ),
        Step(
            prop(trigger("after_create", more="on_failure = taint")) + cue("c"),
            "delete one,create one,cue c",
            state="a",
        ),
    ),
    "an update cannot taint": (
        Step(prop() + _FAILING, "create one"),
        Step(
            prop(trigger("after_update", more="on_failure = taint"), '"two"') + _FAILING,
            "update two,cue c",
            fails=True,
            state="a",
        ),
    ),
    "a failure that is only a warning": (
        Step(
            prop(trigger("before_create, after_create", more="on_failure = continue"))
            + _FAILING
            + _LATER,
            "cue c,create one,cue c,create id-one",
            state="a z",
        ),
    ),
    "a failure before a replacement": (
        Step(prop(trigger("before_destroy")) + _FAILING, "create one"),
        Step(
            prop(trigger("before_destroy")) + _FAILING,
            "cue c",
            ("-replace=stage_prop.a",),
            fails=True,
            state="a",
        ),
        Step(
            prop(trigger("before_destroy")) + _FAILING, "cue c,delete one", ("-destroy",), state=""
        ),
    ),
    "a failure after an object has gone": (
        Step(prop(trigger("after_destroy")) + _FAILING, "create one"),
        Step(
            prop(trigger("after_destroy")) + _FAILING,
            "delete one,cue c",
            ("-replace=stage_prop.a",),
            fails=True,
            state="",
        ),
    ),
    "conditions": (
        Step(prop(trigger("after_create", more='condition = var.x == "no"')) + cue(), "create one"),
        Step(
            prop(trigger("after_update", more='condition = self.name == "3"'), '"3"') + cue(),
            "update 3,cue c 3",
        ),
        Step(
            prop(trigger("after_update", more='condition = self.name == "3"'), '"4"') + cue(),
            "update 4",
        ),
    ),
    "a condition that is known later": (
        Step(
            prop(trigger("after_create", more='condition = self.id == "id-one"')) + cue(),
            "create one,cue c one",
        ),
        Step(
            prop(trigger("after_create", more='condition = self.id == "id-one"'))
            + prop(trigger("after_create", more='condition = self.id == "nope"'), '"b"', "b")
            + cue(),
            "create b",
        ),
    ),
    "instances": (
        Step(
            prop(_COUNTED, '"n${count.index}"', more="count = 2") + cue(more="count = 3"),
            "cue c n0,create n0,cue c n0,cue c n1,create n1,cue c n1",
        ),
        Step(
            prop(_COUNTED, '"n${count.index}"', more="count = 1") + cue(more="count = 3"),
            "cue c n1,delete n1,cue c n1",
        ),
    ),
    "an orphan of an instance that has gone": (
        Step(
            prop(_COUNTED, '"n${count.index}"', more="count = 2") + cue(more="count = 2"),
            "cue c n0,create n0,cue c n0,cue c n1,create n1,cue c n1",
        ),
        Step(
            prop(_COUNTED, '"n${count.index}"', more="count = 1") + cue(more="count = 1"),
            "delete n1",
        ),
    ),
    "an orphan of a resource that has gone": (
        Step(_EVERY, _CREATED),
        Step(cue("c"), "delete one"),
    ),
    "keys": (
        Step(
            prop(
                trigger("after_create", "action.stage_cue.c[each.key]"),
                "each.value",
                more='for_each = toset(["p", "q"])',
            )
            + cue("${each.key} ${caller.name}", 'for_each = toset(["p", "q", "r"])'),
            "create p,cue p p,create q,cue q q",
        ),
    ),
    "other resources": (
        Step(
            prop(trigger("before_create")) + cue("${stage_prop.o.id}") + prop("", '"o"', "o"),
            "create o,cue id-o,create one",
        ),
    ),
    "its own address": (
        Step(prop(trigger("after_create")) + cue("${stage_prop.a.id}"), "create one,cue id-one"),
    ),
    "no configuration": (
        Step(prop(trigger("after_create", "action.stage_bow.b")) + BOW, "create one,bow 1"),
    ),
    "several": (
        Step(
            prop(
                trigger("after_create, before_create", "action.stage_bow.b, action.stage_cue.c")
                + trigger("after_create")
            )
            + cue()
            + BOW,
            "bow 1,cue c one,create one,bow 1,cue c one,cue c one",
        ),
    ),
    "targets": (
        Step(
            prop(trigger("after_create")) + prop(trigger("after_create"), '"b"', "b") + cue(),
            "create one,cue c one",
            ("-target=stage_prop.a",),
        ),
    ),
    "another provider configuration": (
        Step(
            'provider "stage" {\n  alias = "two"\n}\n'
            + prop(trigger("after_create"))
            + cue(more="provider = stage.two"),
            "create one,cue c one",
        ),
    ),
    "write-only arguments": (
        Step(
            'variable "s" {\n  default = "hush"\n  ephemeral = true\n}\n'
            + prop(trigger("after_create"))
            + cue(config="secret = var.s"),
            "create one,cue c one hush",
        ),
    ),
    "invoked": (
        Step(BOW, "bow 1", ("-invoke=action.stage_bow.b",), state=""),
        Step(BOW, "", ("-invoke=action.stage_bow.other",), fails=True),
        Step(_FAILING, "cue c", ("-invoke=action.stage_cue.c",), fails=True),
    ),
    "invoked too early": (
        Step(
            prop(trigger("after_create")) + cue(),
            args=("-invoke=action.stage_cue.c",),
            fails=True,
            state="",
        ),
        Step(_OTHERS % "o", args=("-invoke=action.stage_cue.c",), fails=True, state=""),
    ),
    "invoked for all callers": (
        Step(_PAIR, "create n0,cue c n0,create n1,cue c n1"),
        Step(_PAIR, "cue c n0,cue c n1", ("-invoke=action.stage_cue.c",)),
        Step(_PAIR, "cue c n1", ("-invoke=action.stage_cue.c", "-target=stage_prop.a[1]")),
    ),
    "invoked with references": (
        Step(_OTHERS % "o", "create o,create r"),
        Step(_OTHERS % "p", "cue c id-r", ("-invoke=action.stage_cue.c",)),
    ),
    "invoked instances": (
        Step(cue("c${count.index}", "count = 2"), "cue c0,cue c1", ("-invoke=action.stage_cue.c",)),
        Step(cue("c${count.index}", "count = 2"), "cue c1", ("-invoke=action.stage_cue.c[1]",)),
    ),
}

VALIDATED: dict[str, tuple[str, int, int, str]] = {
    "every event": (_EVERY, 0, 0, ""),
    "unused": (cue("c"), 0, 0, ""),
    "caller without a trigger": (cue(), 1, 0, "Reference to caller without a trigger"),
    "undeclared": (
        prop(trigger("after_create", "action.stage_cue.d")) + cue("c"),
        1,
        0,
        "Trigger of an undeclared action",
    ),
    "unknown attribute": (
        prop(trigger("after_create")) + cue("${caller.nope}"),
        1,
        0,
        "Unsupported attribute",
    ),
    "missing argument": (
        prop(trigger("after_create")) + 'action "stage_cue" "c" {}',
        1,
        0,
        "Missing block",
    ),
    "needless key": (
        prop(trigger("after_create", "action.stage_cue.c[0]")) + cue(),
        1,
        0,
        "Unexpected instance key",
    ),
    "missing key": (
        prop(trigger("after_create")) + cue(more="count = 2"),
        1,
        0,
        "Missing instance key",
    ),
    "unknown event": (prop(trigger("sometime")) + cue(), 1, 0, "Invalid event"),
    "duplicate event": (
        prop(trigger("after_create, after_create")) + cue(),
        1,
        0,
        "Duplicate event",
    ),
    "condition at destroy": (
        prop(trigger("after_destroy", more="condition = true")) + cue(),
        1,
        0,
        "Condition of an action at destroy",
    ),
    "self before it is created": (
        prop(trigger("before_create", more='condition = self.name == "x"')) + cue(),
        1,
        0,
        "Reference to self before it is created",
    ),
    "own address in a condition": (
        prop(trigger("after_create", more='condition = stage_prop.a.name == "x"')) + cue(),
        1,
        0,
        "Condition that refers to its own resource",
    ),
    "a value of an action": (
        'output "o" {\n  value = action.stage_cue.c.text\n}\n' + cue("c"),
        1,
        0,
        "Reference to an action",
    ),
    "a dependency on an action": (
        prop(more="depends_on = [action.stage_cue.c]") + cue("c"),
        1,
        0,
        "Reference to an action",
    ),
    "caller elsewhere": (
        'output "o" {\n  value = caller.name\n}\n',
        1,
        0,
        "Reference to caller without a trigger",
    ),
    "cycle": (
        prop(trigger("after_create"))
        + cue("${stage_prop.o.id}")
        + prop("", "stage_prop.a.id", "o"),
        1,
        0,
        "Cycle through an action",
    ),
    "unknown type": ('action "stage_nope" "c" {}\n', 1, 0, "Unknown action type"),
    "own address": (
        prop(trigger("after_create")) + cue("${stage_prop.a.id}"),
        0,
        1,
        "Reference to the triggering resource",
    ),
    "an action of another module": (
        prop(trigger("after_create", "module.m.action")) + cue(),
        1,
        0,
        "Invalid list of actions",
    ),
    "unknown consequence": (
        prop(trigger("after_create", more="on_failure = maybe")) + cue(),
        1,
        0,
        "Invalid on_failure argument",
    ),
    "no actions": (prop(trigger("after_create", "")) + cue(), 1, 0, "Trigger without effect"),
    "no events": (prop(trigger("")) + cue(), 1, 0, "Trigger without effect"),
    "the provider refuses": (cue("?"), 1, 0, "No question marks"),
}
