"""Influences: what the value of an expression depends on, through locals, arguments and outputs.

A rule that claims that something is always so must know what could still change it: the value of a
root variable, the caller of the module, the instance of a block, the workspace, a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Flag, auto

from nigari.addrs.module import ModuleCall as ModuleCallAddr
from nigari.addrs.module import ModuleCallInstance, ModuleCallOutput
from nigari.addrs.resource import Resource, ResourceInstance
from nigari.addrs.values import (
    CountAttr,
    EachAttr,
    InputVariable,
    LocalValue,
    PathAttr,
    ProviderFunction,
    Self,
    TerraformAttr,
)
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.hcl.expressions import Expression
from nigari.lang.references import Reference, function_calls
from nigari.workspace.explain.queries import ValueQueries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Influence(Flag):
    """Things that a value may depend on."""

    NOTHING = 0
    INPUT = auto()
    """A variable of the root module."""
    ARGUMENT = auto()
    """A variable of a called module."""
    LOCAL = auto()
    INSTANCE = auto()
    """`each`, `count` or `self`."""
    WORKSPACE = auto()
    OBJECT = auto()
    """A resource, a data source, or a function of a provider."""
    FILE = auto()
    """A file or a directory, or where the program runs."""
    IMPURE = auto()
    UNTYPED = auto()
    """A variable that accepts values of several types."""


_FILE_FUNCTIONS: Final = frozenset(
    (
        "abspath",
        "file",
        "filebase64",
        "filebase64sha256",
        "filebase64sha512",
        "fileexists",
        "filemd5",
        "fileset",
        "filesha1",
        "filesha256",
        "filesha512",
        "pathexpand",
        "templatefile",
    )
)
_IMPURE: Final = frozenset(("bcrypt", "plantimestamp", "timestamp", "uuid"))
_Key = tuple[Frame, Expression]


class Influences:
    """The influences in one evaluation, each worked out once."""

    def __init__(self, queries: ValueQueries) -> None:
        self._queries = queries
        self._known: dict[_Key, Influence] = {}
        self._direct: dict[_Key, tuple[Influence, tuple[_Key, ...]]] = {}

    def of(self, frame: Frame, expr: Expression) -> Influence:
        """Everything that an expression depends on."""
        key = frame, expr
        if key not in self._known:
            found, seen = Influence.NOTHING, {key}
            pending = [key]
            while pending:
                current = pending.pop()
                known = self._known.get(current)
                if known is not None:
                    found |= known
                    continue
                direct, further = self._step(current)
                found |= direct
                pending += [each for each in further if each not in seen]
                seen.update(further)
            self._known[key] = found
        return self._known[key]

    def _step(self, key: _Key) -> tuple[Influence, tuple[_Key, ...]]:
        """Return an expression's direct influences, and the expressions behind its references."""
        known = self._direct.get(key)
        if known is None:
            frame, expr = key
            found, further = _called(expr), []
            for reference in frame.instance.compiled.expression(expr).references:
                direct, behind = self._subject(frame, reference)
                found |= direct
                further += behind
            known = self._direct[key] = found, tuple(further)
        return known

    def _subject(self, frame: Frame, reference: Reference) -> tuple[Influence, list[_Key]]:
        subject, none = reference.subject, Influence.NOTHING
        if isinstance(subject, InputVariable):
            return self._variable(frame, subject.name)
        if isinstance(subject, LocalValue):
            local = frame.module.locals.get(subject.name)
            return Influence.LOCAL, [] if local is None else [(frame, local.expr)]
        if isinstance(subject, ModuleCallOutput):
            return none, list(self._outputs(frame, subject.call.name, subject.name))
        if isinstance(subject, ModuleCallInstance):
            return none, list(self._outputs(frame, subject.call.name, ""))
        if isinstance(subject, ModuleCallAddr):
            return none, list(self._outputs(frame, subject.name, ""))
        if isinstance(subject, Resource | ResourceInstance | ProviderFunction):
            return Influence.OBJECT, []
        if isinstance(subject, EachAttr | CountAttr | Self):
            return Influence.INSTANCE, []
        if isinstance(subject, TerraformAttr):
            return Influence.WORKSPACE, []
        return Influence.FILE if isinstance(subject, PathAttr) else none, []

    def _variable(self, frame: Frame, name: str) -> tuple[Influence, list[_Key]]:
        parent, call = frame.parent, frame.instance.call
        variable = frame.module.variables.get(name)
        is_untyped = variable is None or variable.type.has_dynamic
        found = Influence.UNTYPED if is_untyped else Influence.NOTHING
        if parent is None or call is None:
            return found | Influence.INPUT, []
        argument = parent.instance.compiled.arguments(call, Diagnostics()).get(name)
        behind = [] if argument is None else [(parent, argument.expr)]
        return found | Influence.ARGUMENT, behind

    def _outputs(self, frame: Frame, call: str, name: str) -> Iterator[_Key]:
        node = frame.calls.get(call)
        if node is None:
            return
        repetition = node.call.repetition
        for expr in (repetition.count, repetition.for_each, repetition.enabled):
            if expr is not None:
                yield frame, expr
        for child in self._queries.module_instances(node).values():
            for output in child.module.outputs.values():
                if not name or output.name == name:
                    yield child, output.expr


def _called(expr: Expression) -> Influence:
    """Return the influences of the functions that an expression calls."""
    found = Influence.NOTHING
    for call in function_calls(expr):
        name = call.name.removeprefix("core::")
        if name in _FILE_FUNCTIONS:
            found |= Influence.FILE
        elif name in _IMPURE:
            found |= Influence.IMPURE
    return found
