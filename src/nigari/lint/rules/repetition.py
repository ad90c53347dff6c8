"""Rules about instances: keys that move objects to other addresses, and keys that are known too late.

Which attributes a provider decides is known only for names that all providers use alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.resource import MANAGED, Resource, ResourceInstance
from nigari.config.core.declared import Repetition
from nigari.cty.types import KIND_LIST, KIND_TUPLE
from nigari.diagnostics import Diagnostics
from nigari.eval.tree.provider_iteration import check_provider_iteration
from nigari.hcl.body import Block
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import For
from nigari.hcl.expressions import Expression, Index, Reference, RelativeTraversal
from nigari.hcl.native_body import NativeBody
from nigari.hcl.splats import Splat
from nigari.hcl.traversal import TraverseAttr
from nigari.lint.model import LintedModule, LintedTree
from nigari.lint.rule import Hit, Rule
from nigari.lint.written import expressions_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_COLLECTIONS: Final = (KIND_LIST, KIND_TUPLE)


def _repeated(module: LintedModule) -> Iterator[tuple[str, Repetition, Block]]:
    """The blocks of a module that make objects with keys."""
    for addr, resource in module.module.resources.items():
        if addr.mode is MANAGED:
            yield str(addr), resource.repetition, resource.block
    for call in module.module.calls.values():
        yield f"module.{call.name}", call.repetition, call.block


# -- keys that move -------------------------------------------------------------------------------


def shifting_keys(tree: LintedTree) -> Iterator[Hit]:
    """Instances whose keys are positions in a list."""
    for module in tree.modules:
        for address, repetition, block in _repeated(module):
            if repetition.count is not None:
                yield from _counted(tree, module, address, repetition.count, block)
            elif repetition.for_each is not None:
                yield from _numbered(tree, module, address, repetition.for_each)


def _counted(
    tree: LintedTree, module: LintedModule, address: str, count: Expression, block: Block
) -> Iterator[Hit]:
    """`count = length(LIST)` with `LIST[count.index]` in the block."""
    if not isinstance(count, FunctionCall) or count.name != "length" or len(count.arguments) != 1:
        return
    listed = count.arguments[0]
    if isinstance(listed, Reference) and _is_sequence(tree, module, listed):
        if any(_selects(part, listed) for part in _parts(block)):
            yield _moving(address, count, "count.index is a position in a list", "count")


def _parts(block: Block) -> Iterator[Expression]:
    pending = [block]
    while pending:
        body = pending.pop().body
        if isinstance(body, NativeBody):
            pending += body.blocks
            for attribute in body.attributes.values():
                yield from (part for part, _ in expressions_within(attribute.expr))


def _selects(part: Expression, listed: Reference) -> bool:
    """Return whether an expression is a list's element at `count.index`."""
    if isinstance(part, FunctionCall) and part.name == "element" and len(part.arguments) == 2:
        collection, key = part.arguments
    elif isinstance(part, Index):
        collection, key = part.collection, part.key
    else:
        return False
    return (
        isinstance(collection, Reference)
        and str(collection.traversal) == str(listed.traversal)
        and isinstance(key, Reference)
        and str(key.traversal) == "count.index"
    )


def _numbered(
    tree: LintedTree, module: LintedModule, address: str, each: Expression
) -> Iterator[Hit]:
    """`for_each = { for i, v in LIST : i => v }`."""
    if (
        isinstance(each, For)
        and each.key_name
        and isinstance(each.key, Reference)
        and str(each.key.traversal) == each.key_name
        and _is_sequence(tree, module, each.collection)
    ):
        yield _moving(address, each.key, "the keys are positions in a list", "for_each")


def _is_sequence(tree: LintedTree, module: LintedModule, expr: Expression) -> bool:
    """Return whether an expression is a literal list in every instance of the module."""
    for instance in module.instances:
        value = tree.value(instance, expr)
        if value.type.kind not in _COLLECTIONS:
            return False
    return True


def _moving(address: str, where: Expression, why: str, argument: str) -> Hit:
    return Hit(
        f"In {argument} of {address} {why}: if an element is removed or added in front of others, "
        "their objects get other addresses, and are changed or replaced. Use for_each with keys "
        "that belong to the elements, such as their names.",
        where.range,
    )


# -- keys that are known too late -----------------------------------------------------------------


def computed_keys(tree: LintedTree) -> Iterator[Hit]:
    """Keys that come from attributes which the provider decides."""
    for module in tree.modules:
        for address, repetition, _ in _repeated(module):
            for name, expr in (("for_each", repetition.for_each), ("count", repetition.count)):
                for found in () if expr is None else _key_parts(expr, name == "count"):
                    attribute = _computed(module, found)
                    if attribute:
                        yield Hit(
                            f"Which instances {address} has depends on {attribute}, which is known "
                            "only after apply, so the first plan cannot say what it creates. Use "
                            "keys that are written in the configuration, and the computed values "
                            "only in the elements.",
                            found.range,
                        )


def _key_parts(expr: Expression, is_count: bool) -> Iterator[Expression]:
    """The parts of a `for_each` or `count` that decide which keys there are."""
    if is_count:
        if isinstance(expr, Reference):
            yield expr
        return
    if isinstance(expr, FunctionCall) and expr.name == "toset" and expr.arguments:
        inner = expr.arguments[0]
        listed = inner.static_list()
        yield from (inner,) if listed is None else listed
    elif isinstance(expr, For) and expr.key is not None:
        yield expr.key
    else:
        for key, _ in expr.static_map() or ():
            yield key


def _computed(module: LintedModule, expr: Expression) -> str:
    """The attribute of a managed resource that an expression is, if its block does not set it."""
    base, attribute = expr, ""
    if isinstance(base, Splat):
        each = base.each
        if isinstance(each, RelativeTraversal) and isinstance(each.steps[0], TraverseAttr):
            attribute = each.steps[0].name
        base = base.operand
    if not isinstance(base, Reference):
        return ""
    compiled = module.instances[0].frame.instance.compiled.expression(base)
    for reference in compiled.references:
        subject = reference.subject
        resource = subject.resource if isinstance(subject, ResourceInstance) else subject
        if not isinstance(resource, Resource) or resource.mode is not MANAGED:
            return ""
        steps = [each for each in reference.remaining.steps if isinstance(each, TraverseAttr)]
        attribute = attribute or (steps[0].name if steps else "")
        declared = module.module.resources.get(resource)
        if declared is None or not attribute:
            return ""
        body = declared.block.body
        if not isinstance(body, NativeBody) or attribute in body.attributes:
            return ""
        if any(attribute in (each.type, *each.labels) for each in body.blocks):
            return ""
        # Only names that every provider uses for what it decides itself.
        return f"{resource}.{attribute}" if attribute in _DECIDED else ""
    return ""


_DECIDED: Final = frozenset(("id", "arn", "self_link", "unique_id", "result", "uid", "etag"))


# -- providers ------------------------------------------------------------------------------------


def shared_iteration(tree: LintedTree) -> Iterator[Hit]:
    """Providers whose instances go together with the resources that use them."""
    for root in tree.roots:
        found = Diagnostics()
        check_provider_iteration(root.queries.run.root.instance, found)
        for each in found:
            if each.subject is not None:
                yield Hit(each.detail, each.subject)


REPETITION_RULES: Final = (
    Rule(
        "nigari:shifting-keys",
        ("confusing", "recommended"),
        "Keys that change addresses",
        shifting_keys,
    ),
    Rule(
        "nigari:computed-keys",
        ("confusing", "recommended"),
        "Keys that are known only after apply",
        computed_keys,
    ),
    Rule(
        "nigari:provider-iteration",
        ("confusing",),
        "Provider with the same for_each as its resources",
        shared_iteration,
    ),
)
