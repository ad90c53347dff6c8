"""Messages about names that stand for nothing, or not for what they seem to."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.resource import Resource
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame, ResourceNode
from nigari.hcl.suggestion import did_you_mean
from nigari.lang.references import Reference, undeclared_resource_hint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_DECLARING: Final = {
    "local value": "it to a locals block",
    "variable": 'a variable "{name}" block',
}
"""The form of a declaration of something undeclared."""


def report_undeclared(
    frame: Frame,
    reference: Reference,
    what: str,
    declared: Mapping[str, object],
    diags: Diagnostics,
) -> None:
    """A name of something that a module could declare, and this one does not."""
    name = str(reference.subject).split(".")[1].split("[")[0]
    hint = did_you_mean(name, declared)
    if not hint and what in _DECLARING:
        hint = f" To declare it, add {_DECLARING[what].format(name=name)}."
    diags.error(
        f"Reference to undeclared {what}",
        f'There is no {what} named "{name}" in {frame.place}.{hint}',
        reference.range,
    )


def report_missing_key(reference: Reference, node: ResourceNode, diags: Diagnostics) -> None:
    """A repeated resource without a key."""
    addr = node.resource.addr
    argument, key = ("count", "0") if node.resource.repetition.count else ("for_each", '"key"')
    diags.error(
        "Missing instance key",
        f"{addr} has {argument}, so it has several instances. Select one of them: {addr}[{key}].",
        reference.range,
    )


def report_needless_key(reference: Reference, node: ResourceNode, diags: Diagnostics) -> None:
    """A single resource with a key."""
    addr = node.resource.addr
    diags.error(
        "Unexpected instance key",
        f"{addr} has neither count nor for_each, so it has only one instance. Remove the key in "
        "brackets.",
        reference.range,
    )


def report_in_check(reference: Reference, node: ResourceNode, diags: Diagnostics) -> None:
    """The data source of a check, named outside of it."""
    resource = node.resource
    diags.error(
        "Reference to the data source of a check",
        f"{resource.addr} belongs to check.{resource.in_check}, and only its assertions can "
        "refer to it. To use it elsewhere, declare it outside the check.",
        reference.range,
    )


def report_undeclared_resource(
    frame: Frame, reference: Reference, subject: Resource, diags: Diagnostics
) -> None:
    """A resource that a module does not declare."""
    what = subject.mode.noun
    hint = undeclared_resource_hint(subject, frame.resources)
    diags.error(
        f"Reference to undeclared {what}",
        f"The {what} {subject} is not declared in {frame.place}.{hint}",
        reference.range,
    )
