"""Calls of functions that read files, such as `file` and `templatefile`, in what a configuration says."""

from __future__ import annotations

from collections.abc import Iterator

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.hcl.body import Body
from nigari.hcl.calls import FunctionCall
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.workspace.explain.queries import ValueQueries, compiled_origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


LISTING: Final = "fileset"
"""The function whose path is that of a directory."""
_READING: Final = frozenset(
    (
        "file",
        "fileexists",
        "filebase64",
        "filebase64sha256",
        "filebase64sha512",
        "filemd5",
        "filesha1",
        "filesha256",
        "filesha512",
        "templatefile",
        LISTING,
    )
)


def frames_of(evaluation: ValueQueries) -> Iterator[Frame]:
    """Every module instance, as far as it is known which there are."""
    pending = [evaluation.run.root]
    while pending:
        frame = pending.pop()
        yield frame
        for call in frame.calls.values():
            pending.extend(evaluation.module_instances(call).values())


def expressions_of(body: Body) -> list[Expression]:
    """All expressions of a body, those of inner blocks included."""
    found: list[Expression] = []
    pending = [body]
    while pending:
        current = pending.pop()
        if isinstance(current, NativeBody):
            found += [each.expr for each in current.attributes.values()]
            pending += [each.body for each in current.blocks]
        else:
            found += [each.expr for each in current.just_attributes(Diagnostics()).values()]
    return found


def file_calls(expr: Expression) -> list[FunctionCall]:
    """The calls of functions that read files, in an expression."""
    found: list[FunctionCall] = []
    pending = [expr]
    while pending:
        current = pending.pop()
        if isinstance(current, FunctionCall) and current.arguments:
            if function_name(current) in _READING:
                found.append(current)
        pending.extend(current.children())
    return found


def function_name(call: FunctionCall) -> str:
    """The name of a function of the language, without its namespace."""
    return call.name.removeprefix("core::")


def called_with(
    evaluation: ValueQueries, frame: Frame, expr: Expression, data: InstanceData
) -> Value:
    """The value of an expression in a module instance, as far as it is known before anything runs."""
    return evaluation.value("path", compiled_origin(frame, expr, data)).unmark_deep()[0]
