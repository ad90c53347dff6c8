"""The values that a unit gets from other units, as text for a plain configuration.

Each other unit becomes a `terraform_remote_state` data source. The expressions of `fleet.hcl` stay,
with everything that is known written as a literal, and references to units replaced.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Mapping

from nigari.backends.harmless import is_harmless
from nigari.backends.local import LOCAL
from nigari.cty.types import STRING
from nigari.cty.values import Value, plain_value
from nigari.diagnostics import Diagnostic, Diagnostics, Range, Severity
from nigari.diagnostics.secret_urls import carries_secret
from nigari.fleet.units.inspection import WrittenState
from nigari.fleet.units.unit_values import UnitMark, UnitValues
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import DottedKey, For, KeyName, ObjectConstructor
from nigari.hcl.expressions import Expression, Index, Parentheses, Reference
from nigari.hcl.quoting import quoted
from nigari.hcl.render import render_key, render_value
from nigari.hcl.scope import Scope
from nigari.hcl.templates import StringLiteral
from nigari.hcl.traversal import TraverseAttr, TraverseIndex, TraverseRoot
from nigari.lang.render import value_display
from nigari.plain.expressions import Rewriting, as_operand
from nigari.plain.names import free_name, identifier
from nigari.plain.passed_inputs import NO_INPUTS, PassedInputs
from nigari.plain.spots import Spot, spot_of
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_TYPE: Final = "terraform_remote_state"
_PATHS: Final = {"path": "terraform.tfstate", "workspace_dir": "terraform.tfstate.d"}
_UNREADABLE: Final = ("cloud",)
"""Backends that the data source does not know."""


@record
class StatePlace:
    """The state of a unit, seen from the written directory of another one."""

    unit: str
    state: WrittenState | None
    directory: str
    """The path to the written directory of the unit that writes the state."""


class PlainInputs:
    """The inputs of one unit, on their way into text."""

    def __init__(
        self,
        values: UnitValues,
        name: str,
        state_of: Callable[[str], StatePlace],
        severity: Severity,
    ) -> None:
        self.diags: Diagnostics = Diagnostics()
        self._values = values
        self._name = name
        self._state_of = state_of
        self._severity = severity
        self._labels: dict[str, str] = {}

    def passed(self) -> PassedInputs:
        """The expressions of the variables whose values are not known, and the data sources."""
        found = self._values.expression(self._name)
        if found is None:
            return NO_INPUTS
        expr, scope = found
        given = self._values.variables(self._name, {}, Diagnostics())
        if given.needs and not given.values:
            self._refuse(
                f"The names of the variables of {self._name} depend on outputs of other units. "
                "Write an object with a value for each variable.",
                expr.range,
            )
            return NO_INPUTS
        texts = {
            key: self._variable(expr, key, scope)
            for key, value in given.values.items()
            if not value.is_wholly_known
        }
        blocks = [self._data(self._state_of(unit), expr.range) for unit in self._labels]
        return PassedInputs(texts, "\n".join(blocks))

    def _refuse(self, detail: str, place: Range) -> None:
        self.diags.append(Diagnostic(self._severity, "Value from another unit", detail, place))

    # -- expressions ----------------------------------------------------------------------------

    def _variable(self, expr: Expression, key: str, scope: Scope) -> str:
        part = _member(expr, key, scope)
        if part is not None:
            return self._text(part, scope)
        return f"{as_operand(self._text(expr, scope), expr)}[{quoted(key)}]"

    def _text(self, expr: Expression, scope: Scope) -> str:
        literals: dict[Spot, str] = {}
        pending: list[tuple[Expression, frozenset[str]]] = [(expr, frozenset())]
        while pending:
            current, bound = pending.pop()
            if isinstance(current, KeyName | DottedKey | StringLiteral):
                continue
            text = self._own_text(current, scope, bound)
            if text is not None:
                literals[spot_of(current)] = text
            elif isinstance(current, For):
                inner = bound | {current.key_name, current.value_name}
                pending.append((current.collection, bound))
                rest = (current.key, current.result, current.condition)
                pending.extend((each, inner) for each in rest if each is not None)
            else:
                pending.extend((each, bound) for each in current.children())
        return Rewriting(literals, {}).text(expr)

    def _own_text(self, expr: Expression, scope: Scope, bound: frozenset[str]) -> str | None:
        """The text of an expression that is known, or of a reference to units; None where its parts
        decide.
        """
        if not any(each.root_name in bound for each in expr.variables()):
            diags = Diagnostics()
            value = expr.value(scope, diags)
            marks = value.unmark_deep()[1]
            of_units = any(isinstance(each, UnitMark) for each in marks)
            if not diags.has_errors and value.is_wholly_known and not of_units:
                text = render_value(value.unmark_deep()[0], "  ")
                return f"sensitive({text})" if marks else text
        if isinstance(expr, Index) and isinstance(expr.collection, Reference):
            key = expr.key.value(scope, Diagnostics())
            return self._indexed(expr.collection, key)
        return self._reference(expr) if isinstance(expr, Reference) else None

    def _indexed(self, reference: Reference, key: Value) -> str | None:
        """`unit[each.key]` or `unit.network[each.key]`, with a key that is known."""
        if _root(reference) != "unit" or not _is_text(key):
            return None
        name = key.unmark_deep()[0].as_string()
        if len(reference.steps) == 1:
            return self._units(name)
        step = reference.steps[1]
        if len(reference.steps) == 2 and isinstance(step, TraverseAttr):
            unit = self._values.instances(step.name).get(name)
            return None if unit is None else self._address(unit)
        return None

    def _reference(self, reference: Reference) -> str | None:
        steps = reference.steps
        if _root(reference) != "unit" or len(steps) < 2:
            return None
        first, used = steps[1], 2
        name = first.name if isinstance(first, TraverseAttr) else _key(first)
        instances = self._values.instances(name)
        text = self._units(name)
        if None not in instances and len(steps) > 2:
            key = _key(steps[2])
            if key in instances:
                text, used = self._address(instances[key]), 3
        return text + reference.source.text[steps[used - 1].end : reference.end]

    def _units(self, block: str) -> str:
        """The units that a name after `unit.` refers to."""
        instances = self._values.instances(block)
        if None in instances:
            return self._address(instances[None])
        items = [
            f"{render_key(str(key))} = {self._address(each)}" for key, each in instances.items()
        ]
        return f"{{ {', '.join(items)} }}"

    def _address(self, unit: str) -> str:
        """The data source that reads the state of a unit."""
        if unit not in self._labels:
            # A name that no configuration has chosen for a data source of its own.
            name = identifier(unit.replace('["', "_").replace('"]', ""))
            self._labels[unit] = free_name(f"fleet_{name}", self._labels.values())
        return f"data.{_TYPE}.{self._labels[unit]}"

    # -- states ---------------------------------------------------------------------------------

    def _data(self, place: StatePlace, where: Range) -> str:
        """The data source for the state of a unit."""
        state = place.state
        if state is None or state.backend in _UNREADABLE or state.is_encrypted:
            self._refuse(
                f"The variables of {self._name} use outputs of {place.unit}, and {_reason(state)}. "
                "Read them in the configuration with a data source of your own instead.",
                where,
            )
            return ""
        lines = [f'backend = "{state.backend}"']
        is_default = state.workspace == "default"
        if not is_default:
            lines.append(f"workspace = {quoted(state.workspace)}")
        config = dict(state.config)
        if state.backend == LOCAL:
            name = "path" if is_default else "workspace_dir"
            path = str(config.get(name) or _PATHS[name])
            config = {name: _seen_from(place.directory, path)}
        texts = self._arguments(place.unit, state.backend, config, where)
        lines.append(f"config = {{\n{texts}}}")
        body = "\n".join(lines)
        return f'data "{_TYPE}" "{self._labels[place.unit]}" {{\n{body}\n}}\n'

    def _arguments(
        self, unit: str, backend: str, config: Mapping[str, object], where: Range
    ) -> str:
        texts: list[str] = []
        for name, data in config.items():
            if data is None:
                continue
            value = plain_value(data)
            if not is_harmless(backend, name) or carries_secret(value_display(value)):
                self.diags.append(
                    Diagnostic(
                        Severity.WARNING,
                        "Secret in a position for literals",
                        f"The backend argument {name} of {unit} may be a secret, so it is left out where "
                        f"{self._name} reads that state. Set it in an environment variable of the "
                        "backend.",
                        where,
                    )
                )
                continue
            texts.append(f"{name} = {render_value(value, '  ')}\n")
        return "".join(texts)


def _reason(state: WrittenState | None) -> str:
    if state is None:
        return "the location of its state is not known"
    if state.is_encrypted:
        return "its state is encrypted"
    return f"no data source reads states of the backend {state.backend}"


def _seen_from(directory: str, path: str) -> str:
    """The path of a local state, as the unit that reads it needs it."""
    return path if os.path.isabs(path) else posixpath.normpath(posixpath.join(directory, path))


def _member(expr: Expression, key: str, scope: Scope) -> Expression | None:
    """The expression of one member of an object, if it is written as such."""
    if isinstance(expr, Parentheses):
        return _member(expr.inner, key, scope)
    if isinstance(expr, ObjectConstructor):
        found = [
            value
            for name, value in expr.items
            if _is_text(text := name.value(scope, Diagnostics()))
            and text.unmark_deep()[0].as_string() == key
        ]
        return found[-1] if found else None
    if isinstance(expr, FunctionCall) and expr.name == "merge" and not expr.expand_final:
        for each in reversed(expr.arguments):
            value = each.value(scope, Diagnostics()).unmark()[0]
            if not value.is_known:
                return None
            if key in value.mapping():
                return _member(each, key, scope)
    return None


def _is_text(value: Value) -> bool:
    return value.is_wholly_known and not value.is_null and value.type == STRING


def _root(reference: Reference) -> str:
    root = reference.steps[0]
    return root.name if isinstance(root, TraverseRoot) else ""


def _key(step: object) -> str:
    return str(step.key.data) if isinstance(step, TraverseIndex) else ""
