"""`action_trigger` blocks: which actions run before or after the changes of a resource.

The actions are addresses in the same module, whose keys may depend on the instance. Whether they are
declared is checked once all blocks of the module are known.
"""

from __future__ import annotations

from enum import Enum

from nigari.addrs.resource import ACTION, ResourceInstance
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.values import CountAttr, EachAttr
from nigari.config.core.declared import expression, schema
from nigari.config.core.literals import native
from nigari.config.core.written_address import WrittenAddress, decode_address
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block
from nigari.hcl.expressions import Expression
from nigari.hcl.static import expr_as_keyword, expr_list
from nigari.hcl.suggestion import did_you_mean, listed
from nigari.lang.references import parse_reference, references_in_expression
from nigari.record import record


class TriggerEvent(Enum):
    """A moment in the life of an object; the value is its keyword."""

    BEFORE_CREATE = "before_create"
    AFTER_CREATE = "after_create"
    BEFORE_UPDATE = "before_update"
    AFTER_UPDATE = "after_update"
    BEFORE_DESTROY = "before_destroy"
    AFTER_DESTROY = "after_destroy"

    @property
    def is_before(self) -> bool:
        """Return whether it precedes the change."""
        return self.value.startswith("before_")

    @property
    def is_destroy(self) -> bool:
        """Return whether the change is the end of the object."""
        return self.value.endswith("_destroy")


class OnFailure(Enum):
    """Consequence of a failed action; the value is its keyword."""

    HALT = "halt"
    """The operation fails, and whatever depends on it is skipped."""
    TAINT = "taint"
    """In addition, an object that was just created is replaced by the next apply."""
    CONTINUE = "continue"
    """The error is only a warning."""


@record
class TriggeredAction:
    """An action in a list of actions."""

    addr: ResourceAddr
    written: WrittenAddress
    expr: Expression

    @property
    def has_key(self) -> bool:
        """Return whether the address has a key in brackets."""
        return len(self.written.steps) > len(str(self.addr).split("."))


@record
class ActionTrigger:
    """An `action_trigger` block of a resource."""

    events: tuple[TriggerEvent, ...]
    condition: Expression | None
    actions: tuple[TriggeredAction, ...]
    on_failure: OnFailure
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


_SCHEMA = schema("condition", "on_failure", required=("events", "actions"))


def decode_trigger(block: Block, diags: Diagnostics) -> ActionTrigger | None:
    """Decode an `action_trigger` block; None after reporting that it triggers nothing."""
    errors = diags.error_count
    given = block.body.content(_SCHEMA, diags).attributes
    events = _events(given.get("events"), diags)
    actions = _actions(given.get("actions"), diags)
    on_failure = _on_failure(given.get("on_failure"), diags)
    for name, found in (("events", events), ("actions", actions)):
        if not found and diags.error_count == errors:
            _report_empty(name, given[name], diags)
    if diags.error_count > errors:
        return None
    return ActionTrigger(events, expression(given, "condition"), actions, on_failure, block)


def _events(attribute: Attribute | None, diags: Diagnostics) -> tuple[TriggerEvent, ...]:
    if attribute is None:
        return ()
    found: list[TriggerEvent] = []
    known = [each.value for each in TriggerEvent]
    for element in expr_list(attribute.expr, diags) or ():
        word = expr_as_keyword(element)
        if word not in known:
            _report_word("event", known, word, element, diags)
        elif TriggerEvent(word) in found:
            diags.error(
                "Duplicate event",
                f"The event {word} is already in the list. Remove one of the two.",
                element.range,
            )
        else:
            found.append(TriggerEvent(word))
    return tuple(found)


def _on_failure(attribute: Attribute | None, diags: Diagnostics) -> OnFailure:
    if attribute is None:
        return OnFailure.HALT
    known = [each.value for each in OnFailure]
    word = expr_as_keyword(attribute.expr)
    if word in known:
        return OnFailure(word)
    _report_word("on_failure argument", known, word, attribute.expr, diags)
    return OnFailure.HALT


def _actions(attribute: Attribute | None, diags: Diagnostics) -> tuple[TriggeredAction, ...]:
    if attribute is None:
        return ()
    found: list[TriggeredAction] = []
    for element in expr_list(attribute.expr, diags) or ():
        errors = diags.error_count
        expr = native(element, diags)
        written = decode_address(expr, diags) if diags.error_count == errors else None
        if written is None:
            continue
        reference = parse_reference(written.shape, diags)
        subject = None if reference is None else reference.subject
        addr = subject.resource if isinstance(subject, ResourceInstance) else subject
        if reference is None or not _check_keys(written, diags):
            continue
        if not isinstance(addr, ResourceAddr) or addr.mode is not ACTION:
            _report_no_action(expr, f"{reference.subject} is none.", diags)
        elif reference.remaining.steps:
            _report_no_action(expr, f"Remove what follows {reference.subject}.", diags)
        else:
            found.append(TriggeredAction(addr, written, expr))
    return tuple(found)


def _check_keys(written: WrittenAddress, diags: Diagnostics) -> bool:
    """Check that keys depend on nothing but the instance that triggers the action."""
    errors = diags.error_count
    for key in written.keys:
        for reference in references_in_expression(key, diags):
            subject = reference.subject
            is_key = isinstance(subject, EachAttr) and subject.name == "key"
            if not is_key and not isinstance(subject, CountAttr):
                diags.error(
                    "Invalid key of an action",
                    f"The key of an action can depend only on each.key and count.index, not on "
                    f"{subject}.",
                    reference.range,
                )
    return diags.error_count == errors


def _report_empty(name: str, attribute: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Trigger without effect",
        f"The list {name} of an action_trigger block needs at least one element.",
        attribute.expr.range,
    )


def _report_word(
    what: str, known: list[str], word: str | None, expr: Expression, diags: Diagnostics
) -> None:
    hint = "" if word is None else did_you_mean(word, known)
    diags.error(
        f"Invalid {what}",
        f"It must be one of the keywords {listed(known)}, without quotes.{hint}",
        expr.range,
    )


def _report_no_action(expr: Expression, wrong: str, diags: Diagnostics) -> None:
    diags.error(
        "Invalid list of actions",
        "Each element must be the address of an action of the same module, such as "
        f"action.aws_lambda_invoke.notify. {wrong}",
        expr.range,
    )
