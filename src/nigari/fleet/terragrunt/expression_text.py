"""Expressions of Terragrunt as expressions of `fleet.hcl`.

What is known is written as a literal. References to outputs of dependencies become references to units,
and the text around them stays. A path below the directory of the fleet is written so that it is right
wherever that directory is.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.fleet.terragrunt.functions import ONLY_TERRAGRUNT
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import DottedKey, For, KeyName
from nigari.hcl.expressions import Expression, Reference
from nigari.hcl.quoting import quoted
from nigari.hcl.render import render_key, render_value
from nigari.hcl.scope import Scope
from nigari.hcl.templates import StringLiteral
from nigari.hcl.traversal import TraverseRoot
from nigari.plain.expressions import Rewriting
from nigari.plain.spots import Spot, spot_of
from nigari.record import record
from nigari.workspace.explain.file_calls import file_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Written: TypeAlias = Callable[[], str]
"""Gives the text of a value once all units are known; raises `NotWritten`."""


class NotWritten(Exception):
    """A value that cannot be written; the text says why."""


@record
class Names:
    """Meaning of the names in an expression."""

    scope: Scope
    root: str
    """The directory of the fleet, as an absolute path."""
    directory: str
    """The directory that relative paths in the expression start at."""
    reference: Callable[[Reference], str]
    """The text of a reference whose value is not known; raises `NotWritten`."""
    refuse: Callable[[Value], None]
    """Raises `NotWritten` for a value that must not be written."""


def expression_text(expr: Expression, names: Names) -> str:
    """The text of an expression."""
    literals: dict[Spot, str] = {}
    pending: list[tuple[Expression, frozenset[str]]] = [(expr, frozenset())]
    while pending:
        current, bound = pending.pop()
        if isinstance(current, KeyName | DottedKey | StringLiteral):
            continue
        text = _own_text(current, names, bound)
        if text is not None:
            literals[spot_of(current)] = text
        elif isinstance(current, FunctionCall):
            path = _path_argument(current, names, bound)
            if path is not None:
                literals[spot_of(current.arguments[0])] = path
            left = current.arguments if path is None else current.arguments[1:]
            pending.extend((each, bound) for each in left)
        elif isinstance(current, For):
            inner = bound | {current.key_name, current.value_name}
            pending.append((current.collection, bound))
            rest = (current.key, current.result, current.condition)
            pending.extend((each, inner) for each in rest if each is not None)
        else:
            pending.extend((each, bound) for each in current.children())
    return Rewriting(literals, {}).text(expr)


def _own_text(expr: Expression, names: Names, bound: frozenset[str]) -> str | None:
    """The text of an expression that is known, or a reference; None where its parts decide, as they
    do where a file is read: what the file says when the fleet runs is what counts.
    """
    if isinstance(expr, FunctionCall) and expr.name in ONLY_TERRAGRUNT:
        raise_unless_known(expr, names)
    if not any(each.root_name in bound for each in expr.variables()):
        diags = Diagnostics()
        value = expr.value(names.scope, diags)
        if not diags.has_errors:
            names.refuse(value)
            if value.is_wholly_known and not file_calls(expr):
                return literal_text(value, names.root)
    root = expr.steps[0] if isinstance(expr, Reference) else None
    is_bound = isinstance(root, TraverseRoot) and root.name in bound
    return names.reference(expr) if isinstance(expr, Reference) and not is_bound else None


def raise_unless_known(call: FunctionCall, names: Names) -> None:
    """Refuse a call that only Terragrunt can make, if its arguments come from other units."""
    if not call.value(names.scope, Diagnostics()).is_wholly_known:
        raise NotWritten(f"it comes from {call.name}(), which is not called here")


def _path_argument(call: FunctionCall, names: Names, bound: frozenset[str]) -> str | None:
    """The path that a function reads, which is relative to another directory in `fleet.hcl`."""
    if not call.arguments or call not in file_calls(call):
        return None
    path = call.arguments[0]
    if any(each.root_name in bound for each in path.variables()):
        return None
    value = path.value(names.scope, Diagnostics()).unmark_deep()[0]
    if not isinstance(value.data, str):
        return None
    whole = os.path.normpath(os.path.join(names.directory, value.data))
    near = os.path.relpath(whole, names.root).replace(os.sep, "/")
    return quoted(near)


def literal_text(value: Value, root: str, indent: str = "") -> str:
    """The text of a known value."""
    plain, _ = value.unmark_deep()
    data = plain.data
    if isinstance(data, str):
        return _path_text(data, root)
    if isinstance(data, tuple):
        parts = [literal_text(each, root, indent) for each in plain.elements()]
        return f"[{', '.join(parts)}]"
    if not isinstance(data, dict) or not data:
        return render_value(plain)
    inner = f"{indent}  "
    lines = [
        f"{inner}{render_key(name)} = {literal_text(each, root, inner)}\n"
        for name, each in sorted(plain.mapping().items())
    ]
    return f"{{\n{''.join(lines)}{indent}}}"


def _path_text(text: str, root: str) -> str:
    """A text in which paths below the directory of the fleet are worked out when it is read."""
    if text == root:
        return 'abspath(".")'
    before, found, after = text.partition(f"{root}/")
    if not found:
        return quoted(text)
    if not before and "\n" not in after and f"{root}/" not in after:
        return f"abspath({quoted(os.path.normpath(after))})" if after else 'abspath(".")'
    pieces = [quoted(each)[1:-1] for each in text.split(f"{root}/")]
    return '"' + '${abspath(".")}/'.join(pieces) + '"'
