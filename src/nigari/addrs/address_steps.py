"""Address parser state: the steps of an address, and the module path at its beginning.

The parts after a module path are parsed by `parse`.
"""

from __future__ import annotations

from nigari.addrs.keys import DEFERRED, InstanceKey, key_from_value
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.expressions import Expression, Reference, RelativeTraversal
from nigari.hcl.parser import parse_expression, parse_traversal
from nigari.hcl.source import Source
from nigari.hcl.splats import Splat, SplatItem
from nigari.hcl.traversal import (
    Step,
    Traversal,
    TraverseAttr,
    TraverseIndex,
    TraverseRoot,
    TraverseSplat,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


Given: TypeAlias = str | Traversal
"""An address as text, or as a traversal from the configuration."""


class Steps:
    """The unread steps of an address, and the collector for mistakes."""

    __slots__ = ("at", "deferred_allowed", "diags", "module", "steps", "traversal")

    def __init__(
        self, traversal: Traversal, diags: Diagnostics, deferred_allowed: bool = False
    ) -> None:
        self.traversal: Traversal = traversal
        self.steps: list[Step] = traversal.steps
        self.at: int = 0
        self.diags: Diagnostics = diags
        self.deferred_allowed: bool = deferred_allowed
        self.module: ModuleAddr = ROOT_MODULE
        """The module to which the steps read so far lead."""

    @property
    def left(self) -> int:
        """Number of unread steps."""
        return len(self.steps) - self.at

    def peek_name(self, ahead: int = 0) -> str | None:
        """Return the next name, without reading it; None if the next step is not a name."""
        if self.left <= ahead:
            return None
        step = self.steps[self.at + ahead]
        return step.name if isinstance(step, TraverseRoot | TraverseAttr) else None

    def peek_key(self) -> Step | None:
        """Return the next step in brackets, without reading it."""
        step = self.steps[self.at] if self.left else None
        return step if isinstance(step, TraverseIndex | TraverseSplat) else None

    def key(self, what: str) -> tuple[InstanceKey, bool]:
        """Read an instance key, `None` if the next step is not one; also return whether it is
        valid.
        """
        step = self.peek_key()
        if step is None:
            return None, True
        self.at += 1
        if isinstance(step, TraverseSplat):
            if self.deferred_allowed:
                return DEFERRED, True
        elif isinstance(step, TraverseIndex):
            key = key_from_value(step.key)
            if key is not None:
                return key, True
        self.error(
            "Invalid instance key",
            f"The key of {what} must be a whole number, if it uses count, or a string in quotes, "
            "if it uses for_each.",
            step,
        )
        return None, False

    def range_from(self, at: int) -> Range:
        """Return the range from one step to the end; that of the last step if none is left."""
        first = self.steps[min(at, len(self.steps) - 1)]
        return self.traversal.source.range(first.start, self.traversal.end)

    def error(self, summary: str, detail: str, step: Step | None = None) -> None:
        """Report a mistake at a step, or at all unread steps."""
        subject = self.range_from(self.at) if step is None else self.traversal.step_range(step)
        self.diags.error(summary, detail, subject, self.traversal.range)

    def ends(self, what: str) -> bool:
        """Check that no step is left, and report those that are."""
        if self.left:
            self.error("Invalid address", f"Nothing can follow {what} here. Remove the rest.")
        return not self.left


def steps_of(given: Given, diags: Diagnostics, deferred_allowed: bool = False) -> Steps | None:
    """Split an address into its steps; None after an error."""
    if isinstance(given, Traversal):
        return Steps(given, diags, deferred_allowed)
    source = Source("", given)
    if "[*]" in given:
        steps = _splat_steps(parse_expression(source, Diagnostics()))
        if steps is not None:
            return Steps(Traversal(source, steps), diags, deferred_allowed)
    traversal = parse_traversal(source, diags)
    return None if traversal is None else Steps(traversal, diags, deferred_allowed)


def steps_in_module(
    given: Given, diags: Diagnostics, keyed: bool = True, deferred_allowed: bool = False
) -> Steps | None:
    """Read a module path and return the steps after it; None after an error.

    The path has instance keys if `keyed`; otherwise it is a declared path without keys.
    """
    steps = steps_of(given, diags, deferred_allowed)
    return steps if steps is not None and _read_module(steps, keyed) else None


def _splat_steps(expression: Expression) -> list[Step] | None:
    """Parse an address in which splats stand for unknown instance keys."""
    if isinstance(expression, SplatItem):
        return []
    if isinstance(expression, Reference):
        return expression.steps
    if isinstance(expression, RelativeTraversal):
        base = _splat_steps(expression.base)
        return None if base is None else base + expression.steps
    if isinstance(expression, Splat):
        operand, rest = _splat_steps(expression.operand), _splat_steps(expression.each)
        if operand is not None and rest is not None:
            marker = TraverseSplat(expression.marker_start, expression.marker_end)
            return [*operand, marker, *rest]
    return None


def _read_module(steps: Steps, keyed: bool) -> bool:
    """Read a module path; return whether it is valid."""
    while steps.peek_name() == "module":
        name = steps.peek_name(1)
        if name is None:
            wrong = steps.steps[steps.at + 1] if steps.left > 1 else steps.steps[steps.at]
            steps.error(
                "Invalid address",
                '"module" must be followed by a dot and the name of the call.',
                wrong,
            )
            return False
        steps.at += 2
        step = steps.peek_key()
        if step is not None and not keyed:
            steps.error(
                "Invalid address",
                f"A single instance cannot be named here. Name the whole call, module.{name}, "
                "without the key.",
                step,
            )
            return False
        key, ok = steps.key("a module instance")
        if not ok:
            return False
        steps.module = steps.module.child(name, key)
    return True
