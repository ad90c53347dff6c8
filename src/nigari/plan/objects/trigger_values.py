"""Values in `replace_triggered_by`: an object is replaced if they are not those that it was made with.

The state has a digest of each, so that no value is stored twice. Their order does not matter. An
element that is added or removed replaces nothing, since it says nothing about a change.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from nigari.cty.json import value_to_json
from nigari.cty.paths import infinite_as_null
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.hcl.expressions import Expression
from nigari.lang.marks import EPHEMERAL


def trigger_digests(values: Sequence[Value]) -> tuple[str, ...] | None:
    """Return what the state records of the values; None unless all are known."""
    found = [_digest(each) for each in values if each.is_wholly_known]
    return tuple(sorted(found)) if len(found) == len(values) else None


def have_changed(stored: Sequence[str], values: Sequence[Value]) -> bool:
    """Return whether a recorded value is gone and another one, or an unknown one, is in its place.

    An object without recorded values was created without such elements.
    """
    now = Counter([_digest(each) if each.is_wholly_known else "" for each in values])
    before = Counter(stored)
    return bool(before - now) and bool(now - before)


def _digest(value: Value) -> str:
    plain, _ = infinite_as_null(value.unmark_deep()[0])
    return hashlib.sha256(value_to_json(plain, plain.type).encode()).hexdigest()


def check_trigger_value(value: Value, expr: Expression, address: str, diags: Diagnostics) -> bool:
    """Report a value that is gone when the next plan is made, so that nothing can be compared."""
    if EPHEMERAL not in value.unmark_deep()[1]:
        return True
    diags.error(
        "Invalid replace_triggered_by",
        "This value is ephemeral: it differs in each run and cannot be recorded, so it does not show "
        "whether anything has changed. Use a value that is not ephemeral, such as a version number.",
        expr.range,
        address=address,
    )
    return False
