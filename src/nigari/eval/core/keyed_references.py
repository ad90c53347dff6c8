"""References with the keys that were worked out for them: `aws_vpc.a[each.key].id` as one of `"eu"`.

Such a reference is written as one to all instances. For the provenance of a value, it
is one to the instance whose key the brackets stand for.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.keys import InstanceKey
from nigari.addrs.resource import Resource, ResourceInstance
from nigari.cty.values import Value, number, string
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Origin, ResourceNode, ValueNode
from nigari.eval.core.scope import scope_of
from nigari.hcl.evaluation import Fault, index
from nigari.hcl.expressions import Expression, Index, RelativeTraversal
from nigari.hcl.scope import Scope
from nigari.hcl.traversal import Step, Traversal, TraverseIndex
from nigari.lang.references import Reference, parse_reference


def indexed_references(origin: Origin, found: list[Reference]) -> list[Reference]:
    """The same references, with those to one instance in place of those to all.

    Only to be asked where evaluating the expression has given a value.
    """
    written = list(_indexed(origin.compiled.expr))
    if not written:
        return found
    scope = scope_of(origin.frame, origin.compiled, origin.data)
    exact: dict[str, dict[str, Reference]] = {}
    for base, node, steps in written:
        whole = parse_reference(base, Diagnostics())
        one = _with_key(base, node, steps, scope)
        if whole is not None and one is not None:
            exact.setdefault(str(whole), {})[str(one)] = one
    return [one for each in found for one in exact.get(str(each), {"": each}).values()]


def _indexed(expr: Expression) -> Iterator[tuple[Traversal, Index, list[Step]]]:
    """Yield each selection by a key that must be evaluated: the traversal, the index, and the steps
    after it.
    """
    pending = [expr]
    while pending:
        current = pending.pop()
        steps: list[Step] = []
        if isinstance(current, RelativeTraversal):
            steps, current = current.steps, current.base
        if isinstance(current, Index):
            base = current.collection.static_traversal()
            if base is not None:
                yield base, current, steps
        pending.extend(current.children())


def _with_key(base: Traversal, node: Index, steps: list[Step], scope: Scope) -> Reference | None:
    errors = Diagnostics()
    key = node.key.value(scope, errors).unmark_deep()[0]
    if errors.has_errors or not key.is_known or key.is_null:
        return None
    step = TraverseIndex(key, node.open_start, node.end)
    return parse_reference(Traversal(base.source, [*base.steps, step, *steps]), errors)


def referenced_value(node: ValueNode, value: Value, reference: Reference) -> Value | None:
    """The part of a resource's value that a reference leads to; None where that is not known to be
    there, and for everything else.
    """
    subject = reference.subject
    if not isinstance(subject, Resource | ResourceInstance) or not value.is_known:
        return None
    assert isinstance(node, ResourceNode)
    element = element_of(value, subject.key if isinstance(subject, ResourceInstance) else None)
    if element is None:
        return None
    errors = Diagnostics()
    found = reference.remaining.apply_rel(element, errors)
    return None if errors.has_errors else found


def element_of(value: Value, key: InstanceKey) -> Value | None:
    """One instance in the value of a resource, which is that where there is no key; None where
    there is no such instance.
    """
    if not isinstance(key, str | int):
        return value
    element = index(value, string(key) if isinstance(key, str) else number(key))
    return None if isinstance(element, Fault) else element
