"""`prevent_destroy`: objects that no plan may destroy.

The argument is evaluated for every planned instance. It must be known, and not null, only if the
plan would destroy the object.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.values import CountAttr, EachAttr
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL
from nigari.cty.values import FALSE, Value
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.eval.core.instances import Origin
from nigari.eval.core.scope import evaluate_origin
from nigari.eval.core.worklist import Need
from nigari.lang.marks import EPHEMERAL, SENSITIVE


def protection(
    origin: Origin, address: AbsResourceInstance, diags: Diagnostics
) -> Value | list[Need]:
    """Evaluate `prevent_destroy` of an instance: true, false, null or unknown; false after
    reporting a mistake. Undeclared instances need it, too, so it cannot depend on `each` or
    `count`, or on arguments of a module instance that no longer exists.
    """

    def report(problem: str) -> None:
        where = origin.compiled.expr.range
        diags.error("Invalid prevent_destroy", problem, where, address=str(address))

    for reference in origin.compiled.references:
        if isinstance(reference.subject, CountAttr | EachAttr):
            report(
                "It is also evaluated for instances that no longer exist, so it cannot use "
                f"{reference.subject}."
            )
            return FALSE
    value = evaluate_origin(origin)
    if not isinstance(value, Value):
        return value
    value, marks = value.unmark()
    if SENSITIVE in marks or EPHEMERAL in marks:
        kind = "sensitive" if SENSITIVE in marks else "ephemeral"
        report(f"It is {kind}, and refusing a plan would reveal its value.")
        return FALSE
    try:
        return convert(value, BOOL)
    except CtyError as error:
        report(f"{error.message}.")
        return FALSE


def refuse_destruction(
    address: AbsResourceInstance, protected: Value, origin: Origin, diags: Diagnostics
) -> bool:
    """Report a plan that would destroy what must not be destroyed, or may not have to be."""
    where = origin.compiled.expr.range
    if not protected.is_known or protected.is_null:
        problem = "is null" if protected.is_null else "is known only after something is applied"
        diags.error(
            "Invalid prevent_destroy",
            f"The plan would destroy {address}, but its prevent_destroy {problem}, so it does "
            "not say whether that is allowed. Give it a value, or leave the object out with "
            f"{advice().option('-exclude')}.",
            where,
            address=str(address),
        )
        return True
    if protected.as_bool():
        diags.error(
            "Destroying is prevented",
            f"{address} has prevent_destroy set, but the plan would destroy it. If it should be "
            "destroyed, set prevent_destroy to false; otherwise undo the change that requires "
            f"it, or leave the object out with {advice().option('-exclude')}.",
            where,
            address=str(address),
        )
        return True
    return False
