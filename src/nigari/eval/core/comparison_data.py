"""Two values that should have been equal, as data that a diagnostic can carry.

Every secret is left out here, so that views of the data need not know of marks. What
an expression compares is looked up in its syntax: only `a == b` says what was wanted.
"""

from __future__ import annotations

from math import isfinite

from nigari.cty import numbers
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Difference
from nigari.hcl.expressions import Expression, Parentheses
from nigari.hcl.operators import EQUAL, Operation
from nigari.hcl.scope import Scope
from nigari.lang.marks import EPHEMERAL, SENSITIVE


def compared(condition: Expression, scope: Scope) -> Difference | None:
    """Compare the two sides of a comparison; None for all other expressions."""
    while isinstance(condition, Parentheses):
        condition = condition.inner
    if not isinstance(condition, Operation) or condition.operators != [EQUAL]:
        return None
    ignored = Diagnostics()
    before, after = (operand.value(scope, ignored) for operand in condition.operands)
    if ignored.has_errors or _is_hidden(before) or _is_hidden(after):
        return None
    import json

    from nigari.state.show.show_json import sensitive_shape

    return Difference(
        json.dumps(_data(before)),
        json.dumps(_data(after)),
        json.dumps(_unknown_shape(after)),
        json.dumps(sensitive_shape(before)),
        json.dumps(sensitive_shape(after)),
    )


def _is_hidden(value: Value) -> bool:
    """Return whether a value is empty or must not be shown."""
    if not value.contains_marked:
        return False
    return SENSITIVE in value.marks or EPHEMERAL in value.unmark_deep()[1]


def _data(value: Value) -> object:
    """A value as JSON data, with null for what is secret or not known."""
    data = value.data
    if SENSITIVE in value.marks or not value.is_known or data is None:
        return None
    if isinstance(data, str | bool | int):
        return data
    if isinstance(data, numbers.Number):
        number = float(numbers.to_text(data))
        return number if isfinite(number) else numbers.to_text(data)
    if isinstance(data, dict):
        return {name: _data(data[name]) for name in sorted(data)}
    if isinstance(data, tuple):
        return [_data(element) for element in value.unmark()[0].sequence()]
    return None


def _unknown_shape(value: Value) -> object:
    """True where a value is not known, in the shape of the value; false where all of it is."""
    if value.is_wholly_known:
        return False
    data = value.data
    if isinstance(data, dict):
        shapes = {name: _unknown_shape(data[name]) for name in sorted(data)}
        return {name: shape for name, shape in shapes.items() if shape is not False}
    if isinstance(data, tuple):
        return [_unknown_shape(element) for element in value.unmark()[0].sequence()]
    return True
