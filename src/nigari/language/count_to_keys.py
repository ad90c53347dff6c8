"""From `count` to `for_each`: instances that are numbered get the elements of their list as keys.

`moved` blocks lead each object to its new address, so the plan afterwards changes nothing. That is
possible where the list is known, has each string once, and nothing else names an instance.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.hcl.body import Attribute, Block
from nigari.hcl.calls import FunctionCall
from nigari.hcl.edits import Edit
from nigari.hcl.expressions import Expression, Index
from nigari.hcl.quoting import quoted
from nigari.language.document import Document
from nigari.language.fixes import Fix
from nigari.language.occurrences import DECLARED, MODULE, RESOURCE, resource_name
from nigari.language.project import Symbol
from nigari.language.values import static_value
from nigari.language.workbench import Workbench


def to_for_each(workbench: Workbench, document: Document, block: Block) -> Fix | None:
    """Return the edits that give the instances of a block keys, if that is possible."""
    count = block.attributes.get("count")
    elements = None if count is None else _list_of(count)
    if count is None or elements is None or block.type not in ("resource", "module"):
        return None
    name = resource_name(block) if block.type == "resource" else "".join(block.labels[:1])
    symbol = Symbol(MODULE if block.type == "module" else RESOURCE, document.directory, name)
    named = workbench.project.places([symbol])
    keys = _keys(workbench, document.directory, _text(elements))
    uses = _uses(block, _text(elements))
    if keys is None or uses is None or any(e.occurrence.role != DECLARED for e in named):
        return None
    edits = [
        Edit(count.name_start, count.name_end, "for_each"),
        Edit(count.expr.start, count.expr.end, f"toset({_text(elements)})"),
        *(Edit(each.start, each.end, "each.value") for each in uses),
    ]
    address = f"module.{name}" if block.type == "module" else name
    moved = "".join(
        f"\nmoved {{\n  from = {address}[{index}]\n  to   = {address}[{quoted(key)}]\n}}\n"
        for index, key in enumerate(keys)
    )
    end = document.text.find("\n", block.end) + 1
    if end:
        edits.append(Edit(end, end, moved))
    else:
        edits.append(Edit(len(document.text), len(document.text), f"\n{moved}"))
    return Fix("Use for_each with these keys", {document.path: tuple(edits)})


def _list_of(count: Attribute) -> Expression | None:
    """Return the list whose length a count is."""
    expr = count.expr
    if isinstance(expr, FunctionCall) and expr.name == "length" and len(expr.arguments) == 1:
        return expr.arguments[0]
    return None


def _keys(workbench: Workbench, directory: str, text: str) -> list[str] | None:
    """Return the elements of a list of strings; None unless each is known, and there once."""
    value = static_value(workbench, directory, f"tolist({text})")
    if value is None or not value.is_wholly_known or value.is_null or value.contains_marked:
        return None
    found = [each.data for each in value.sequence() if isinstance(each.data, str)]
    return found if len(set(found)) == len(value.sequence()) else None


def _uses(block: Block, elements: str) -> list[Expression] | None:
    """Find what selects the element of an instance; None if its number is used for anything else."""
    found: list[Expression] = []
    for attribute in _attributes(block):
        pending = [attribute.expr]
        while pending:
            expr = pending.pop()
            if _selects(expr, elements):
                found.append(expr)
            elif _text(expr) == "count.index":
                return None
            else:
                pending.extend(expr.children())
    return found


def _selects(expr: Expression, elements: str) -> bool:
    if isinstance(expr, Index):
        return _text(expr.collection) == elements and _text(expr.key) == "count.index"
    if isinstance(expr, FunctionCall) and expr.name == "element":
        return [_text(each) for each in expr.arguments] == [elements, "count.index"]
    return False


def _attributes(block: Block) -> Iterator[Attribute]:
    pending = [block]
    while pending:
        current = pending.pop()
        yield from (each for each in current.attributes.values() if each.name != "count")
        pending.extend(current.blocks)


def _text(expr: Expression) -> str:
    return expr.source.text[expr.start : expr.end]
