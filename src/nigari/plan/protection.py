"""`prevent_destroy`: objects that no plan may destroy."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Range, Severity
from nigari.eval.instances import Origin
from nigari.eval.once import Need
from nigari.eval.scope import evaluate_origin


def flag(origin: Origin, name: str) -> bool | list[Need]:
    """The truth of a lifecycle argument; what is not known, or null, counts as false."""
    value = evaluate_origin(origin)
    if not isinstance(value, Value):
        return value
    value, _ = value.unmark()
    try:
        value = convert(value, BOOL)
    except CtyError as error:
        where = origin.compiled.expr.range
        origin.frame.run.diags.error(f"Invalid {name}", f"{error.message}.", where)
        return False
    return value.data is True


def protected(address: AbsResourceInstance, where: Range | None) -> Diagnostic:
    """A plan that would destroy what must not be destroyed."""
    return Diagnostic(
        Severity.ERROR,
        "Destruction is prevented",
        f"{address} has prevent_destroy set, and the plan would destroy it. Set prevent_destroy to "
        "false if that is meant, undo the change that makes it necessary, or leave the object out "
        "with -exclude.",
        where,
        address=str(address),
    )
