"""Values in `replace_triggered_by`: an object is replaced if they differ from those at its creation.

The state stores a digest of each value, so that no value is stored twice. Their order does not matter.
Adding or removing an element replaces nothing, because it does not show a change.
"""

from __future__ import annotations

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
    """Return whether another value, or an unknown one, has taken the place of a recorded one.

    An object without recorded values was created without such elements.
    """
    now = Counter([_digest(each) if each.is_wholly_known else "" for each in values])
    before = Counter(stored)
    return bool(before - now) and bool(now - before)


def _digest(value: Value) -> str:
    import hashlib

    plain, _ = infinite_as_null(value.unmark_deep()[0])
    return hashlib.sha256(value_to_json(plain, plain.type).encode()).hexdigest()


def check_trigger_value(value: Value, expr: Expression, address: str, diags: Diagnostics) -> bool:
    """Report an ephemeral value, which the next plan cannot compare with."""
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
