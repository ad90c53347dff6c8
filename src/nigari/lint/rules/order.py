"""Rules about dependencies and repetition in time: `depends_on` that is implied, values that never settle.

Both are read off what is written, so that they hold for all values.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.resource import MANAGED, Resource
from nigari.config.blocks.resource import Resource as ResourceBlock
from nigari.hcl.body import Block
from nigari.hcl.edits import Edit
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.hcl.traversal import Traversal
from nigari.lang.references import function_calls
from nigari.lint.model import LintedModule, LintedTree
from nigari.lint.rule import Fix, Hit, Rule, removal
from nigari.lint.written import WrittenExpression, subject_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


# -- depends_on -----------------------------------------------------------------------------------


def implied_dependencies(tree: LintedTree) -> Iterator[Hit]:
    """Elements of `depends_on` that the arguments of the resource lead to anyway.

    Only between managed resources: for a data source or a module `depends_on` means more than a
    reference does.
    """
    for module in tree.modules:
        resources = module.module.resources
        if not any(each.depends_on for each in resources.values()):
            continue
        needs = _needs(module)
        for addr, resource in resources.items():
            if addr.mode is MANAGED and isinstance(resource.block.body, NativeBody):
                yield from _implied(resource, needs)


def _needs(module: LintedModule) -> dict[str, set[str]]:
    """Return the references of each resource and local, except `depends_on`."""
    found: dict[str, set[str]] = {}
    for reference, written in module.written.references:
        owner = _owner(written)
        if owner and written.attribute.name != "depends_on":
            found.setdefault(owner, set()).add(subject_name(reference))
    return found


def _owner(written: WrittenExpression) -> str:
    block = written.block
    if block is None:
        return ""
    if block.type == "locals":
        return f"local.{written.attribute.name}"
    is_lifecycle = len(written.blocks) > 1 and written.blocks[1].type == "lifecycle"
    if block.type == "resource" and not is_lifecycle and len(block.labels) == 2:
        return ".".join(block.labels)
    return ""


def _implied(resource: ResourceBlock, needs: dict[str, set[str]]) -> Iterator[Hit]:
    address = str(resource.addr)
    for position, traversal in enumerate(resource.depends_on):
        wanted = _resource_of(traversal)
        path = _path(needs, address, wanted) if wanted else None
        if path is None:
            continue
        through = "directly" if len(path) == 1 else f"through {path[0]}"
        yield Hit(
            f"The arguments of {address} refer to {wanted} {through}, so it is created after that "
            "in any case.",
            traversal.range,
            fix=_without(resource.block, position, len(resource.depends_on), traversal),
        )


def _resource_of(traversal: Traversal) -> str:
    text = str(traversal)
    names = text.split(".")
    is_other = names[0] in ("module", "data", "ephemeral", "var", "local")
    return "" if is_other or len(names) != 2 or "[" in text else text


def _path(needs: dict[str, set[str]], start: str, wanted: str) -> list[str] | None:
    """The steps from one resource to another, over locals and resources of the module."""
    seen = {start}
    pending: list[tuple[str, list[str]]] = [(start, [])]
    for current, path in pending:
        for each in sorted(needs.get(current, ())):
            if each == wanted:
                return [*path, each]
            if each not in seen and each in needs:
                seen.add(each)
                pending.append((each, [*path, each]))
    return None


def _without(block: Block, position: int, count: int, traversal: Traversal) -> Fix | None:
    """Remove an element of `depends_on`; the whole argument with its last one."""
    attribute = block.body.written_attributes().get("depends_on")
    if attribute is None:
        return None
    source, title = attribute.source, f"Remove {traversal} from depends_on"
    if count == 1:
        return removal(title, source, attribute.start, attribute.end)
    elements = attribute.expr.static_list()
    if elements is None or len(elements) != count:
        return None
    if position + 1 < count:
        start, end = elements[position].start, elements[position + 1].start
    else:
        start, end = elements[position - 1].end, elements[position].end
    return Fix(title, source.filename, (Edit(start, end, ""),))


# -- values that never settle ---------------------------------------------------------------------

_IMPURE: Final = frozenset(("bcrypt", "plantimestamp", "timestamp", "uuid"))
_TRIGGERS: Final = frozenset(("triggers", "triggers_replace", "keepers"))
"""Arguments that exist to be changed."""


def unsettled_values(tree: LintedTree) -> Iterator[Hit]:
    """Impure functions in arguments of resources: every plan changes something."""
    for module in tree.modules:
        calls = [
            (written, call)
            for written in module.written.expressions
            for call in _impure_calls(written.expr)
        ]
        if not calls:
            continue
        felt = _felt_locals(module)
        for written, (name, where) in calls:
            block = written.block
            if block is None:
                continue
            user = felt.get(f"local.{written.attribute.name}", "") if block.type == "locals" else ""
            if block.type == "resource" and not _is_ignored(module, written):
                user = ".".join(block.labels)
            if user:
                yield Hit(
                    f"{name}() returns another value with every plan, so {user} is changed by every "
                    "apply. Use a resource that retains the value, such as time_static or "
                    "random_uuid, or ignore_changes.",
                    where.range,
                )


def _impure_calls(expr: Expression) -> Iterator[tuple[str, Expression]]:
    for call in function_calls(expr):
        name = call.name.removeprefix("core::")
        if name in _IMPURE:
            yield name, call


def _felt_locals(module: LintedModule) -> dict[str, str]:
    """The resource that each local ends up in, in an argument whose changes count."""
    found: dict[str, str] = {}
    users: dict[str, list[str]] = {}
    pending: list[str] = []
    for reference, written in module.written.references:
        name, block = subject_name(reference), written.block
        if not name.startswith("local.") or block is None:
            continue
        if block.type == "locals":
            users.setdefault(f"local.{written.attribute.name}", []).append(name)
        elif block.type == "resource" and not _is_ignored(module, written) and name not in found:
            found[name] = ".".join(block.labels)
            pending.append(name)
    for name in pending:
        for behind in users.get(name, ()):
            if behind not in found:
                found[behind] = found[name]
                pending.append(behind)
    return found


def _is_ignored(module: LintedModule, written: WrittenExpression) -> bool:
    """Return whether an argument's changes are ignored."""
    block = written.blocks[0]
    if len(block.labels) != 2:
        return True
    resource = module.module.resources.get(Resource(MANAGED, *block.labels))
    inner = [each.type for each in written.blocks[1:]]
    if resource is None or (inner and inner[0] in ("lifecycle", "provisioner", "connection")):
        return True
    ignored = resource.lifecycle.ignore_changes
    name = written.blocks[1].type if len(written.blocks) > 1 else written.attribute.name
    if name in _TRIGGERS or resource.lifecycle.ignore_all_changes:
        return True
    if isinstance(ignored, Expression):
        return True
    return any(getattr(each.steps[0], "name", "") == name for each in ignored or ())


ORDER_RULES: Final = (
    Rule(
        "nigari:implied-depends-on",
        ("improvement", "recommended"),
        "Dependency that is implied",
        implied_dependencies,
    ),
    Rule(
        "nigari:unsettled-value",
        ("confusing", "recommended"),
        "Value that never settles",
        unsettled_values,
    ),
)
