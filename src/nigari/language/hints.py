"""Hints that an editor shows between the words: values, instances, where a value is from.

Only for a part of a document, since each hint is a value that has to be worked out.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.hcl.body import Attribute, Block
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import ObjectConstructor
from nigari.hcl.expressions import Expression
from nigari.hcl.static import expr_as_keyword
from nigari.lang.render import value_glimpse
from nigari.language.described import described
from nigari.language.document import Document, Kind
from nigari.language.occurrences import written_text
from nigari.language.signatures import functions
from nigari.language.values import ValueInInstance, glimpse, shows_values, values_of
from nigari.language.workbench import KnownProvider, Workbench
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

OFF: Final = "off"
NAMES: Final = "names"
VALUES: Final = "values"
LEVELS: Final = (OFF, NAMES, VALUES)
_MOST: Final = 60
"""Characters of a value that are shown."""
_REPEATED: Final = frozenset(("for_each", "count"))


@record
class Hint:
    """A text to be shown at an offset."""

    offset: int
    text: str
    explanation: str = ""
    is_parameter: bool = False
    """True if it names a parameter, in front of its argument."""


def hints(workbench: Workbench, document: Document, start: int, end: int, level: str) -> list[Hint]:
    """The hints between two offsets of a document: names of parameters, and with the level `values`
    also values.
    """
    found: list[Hint] = []
    if document.body is None or level == OFF:
        return found
    for block in document.body.blocks:
        if block.start <= end and block.end >= start:
            found += _of_block(workbench, document, (block,), level)
    if level == VALUES and document.kind is Kind.CONFIGURATION:
        found += _variables(workbench, document)
    return sorted((each for each in found if start <= each.offset <= end), key=_offset)


def _offset(hint: Hint) -> int:
    return hint.offset


def _of_block(
    workbench: Workbench, document: Document, blocks: tuple[Block, ...], level: str
) -> Iterator[Hint]:
    block = blocks[-1]
    if level == VALUES and document.kind is Kind.CONFIGURATION:
        yield from _versions(workbench, document, blocks)
    for attribute in block.attributes.values():
        yield from _parameters(attribute.expr)
        if level == VALUES and document.kind is Kind.CONFIGURATION and shows_values(blocks):
            yield from _value(workbench, document, blocks, attribute)
    for inner in block.blocks:
        yield from _of_block(workbench, document, (*blocks, inner), level)


def _versions(
    workbench: Workbench, document: Document, blocks: tuple[Block, ...]
) -> Iterator[Hint]:
    """The version that a constraint has led to: of a module that is installed, or of a provider that is
    locked, with that of the schema if it is another one.
    """
    block, directory = blocks[-1], document.directory
    types = [each.type for each in blocks]
    if types == ["module"] and block.labels and "version" in block.attributes:
        for evaluation in workbench.evaluations_of(directory)[:1]:
            version = evaluation.versions.get(directory, {}).get(block.labels[0])
            if version:
                yield Hint(block.attributes["version"].expr.end, f"= {version}", "Installed")
    elif types == ["terraform", "required_providers"]:
        for name, attribute in block.attributes.items():
            provider = workbench.provider(directory, name)
            known = None if provider is None else workbench.known_provider(directory, provider)
            if known is not None:
                yield from _provider_version(known, _constraint(attribute.expr))


def _provider_version(known: KnownProvider, constraint: Expression) -> Iterator[Hint]:
    if known.locked:
        yield Hint(constraint.end, f"= {known.locked}", "Locked")
    if known.version:
        yield Hint(
            constraint.end,
            f"schema of {known.version}",
            "The provider is not installed. Completion and documentation are those of the nearest "
            "version that is cached, and its arguments are not checked. Run nigari init.",
        )


def _constraint(expr: Expression) -> Expression:
    """The version constraint in an entry of `required_providers`, else the whole entry."""
    if isinstance(expr, ObjectConstructor):
        for key, value in expr.items:
            if "version" in (expr_as_keyword(key), written_text(key)):
                return value
    return expr


def _parameters(expr: Expression) -> Iterator[Hint]:
    """The names of parameters before arguments that are written out."""
    pending = [expr]
    while pending:
        current = pending.pop()
        pending.extend(current.children())
        if not isinstance(current, FunctionCall) or len(current.arguments) < 2:
            continue
        function = functions().get(current.name)
        if function is None:
            continue
        for parameter, argument in zip(function.parameters, current.arguments, strict=False):
            if not argument.variables():
                yield Hint(argument.start, f"{parameter.name}:", is_parameter=True)


def _value(
    workbench: Workbench, document: Document, blocks: tuple[Block, ...], attribute: Attribute
) -> Iterator[Hint]:
    """The value of an argument that is not written out, or how many instances it makes."""
    expr = attribute.expr
    if attribute.name in _REPEATED and len(blocks) == 1:
        yield from _instances(workbench, document, attribute)
        return
    if not (expr.variables() or isinstance(expr, FunctionCall)) or attribute.name in (
        "provider",
        "providers",
        "depends_on",
        "from",
        "to",
    ):
        return
    if _is_secret(workbench, document, blocks, attribute.name):
        return
    found = values_of(workbench, document.directory, _text(expr), blocks[0])
    if found and not any(each.has_failed for each in found):
        if all(each.value.is_known for each in found):
            yield Hint(expr.end, f"= {_several(found)}", "\n".join(_line(each) for each in found))


def _instances(workbench: Workbench, document: Document, attribute: Attribute) -> Iterator[Hint]:
    found = values_of(workbench, document.directory, _text(attribute.expr))
    if len(found) != 1 or found[0].has_failed or not found[0].value.is_known:
        return
    value = found[0].value
    data = value.data
    if isinstance(data, dict | tuple):
        number = len(data)
        keys = ", ".join(sorted(data)) if isinstance(data, dict) and not value.marks else ""
    elif attribute.name == "count" and not value.marks and data is not None:
        text, keys = value_glimpse(value), ""
        number = int(text) if text.isdigit() else -1
    else:
        return
    if number >= 0:
        yield Hint(attribute.expr.end, f"{number} instance{'' if number == 1 else 's'}", keys)


def _variables(workbench: Workbench, document: Document) -> Iterator[Hint]:
    """The values that variables have, and where they are from."""
    body = document.body
    for block in [] if body is None else body.blocks:
        if block.type == "variable" and block.labels:
            found = values_of(workbench, document.directory, f"var.{block.labels[0]}")
            given = [each for each in found if each.origin and each.origin != "its default"]
            if given and all(each.value.is_known and not each.has_failed for each in given):
                origin = f" from {given[0].origin}" if len(given) == 1 else ""
                yield Hint(
                    block.def_end, f"= {_several(given)}{origin}", "\n".join(map(_line, given))
                )


def _several(found: list[ValueInInstance]) -> str:
    return " | ".join(glimpse(each, _MOST // len(found)) for each in found)


def _line(found: ValueInInstance) -> str:
    return (
        f"{found.instance}: {glimpse(found, _MOST * 3)}"
        if found.instance
        else glimpse(found, _MOST * 3)
    )


def _is_secret(
    workbench: Workbench, document: Document, blocks: tuple[Block, ...], name: str
) -> bool:
    schema = described(workbench, document, blocks).block.attributes.get(name)
    return schema is not None and schema.sensitive


def _text(expr: Expression) -> str:
    return expr.source.text[expr.start : expr.end]
