"""Hover text for a name: its kind, its documentation, its value or the reason why it has none.

The text is Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nigari.hcl.body import Block
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import DottedKey, KeyName
from nigari.hcl.expressions import Expression, Literal, Reference
from nigari.hcl.templates import StringLiteral
from nigari.lang.functions.descriptions import DESCRIPTIONS
from nigari.lang.functions.table import CORE
from nigari.lang.render import value_display
from nigari.language.cursor import Cursor, cursor_at
from nigari.language.described import described, file_blocks, nested_type, resource_block
from nigari.language.document import Document, Kind
from nigari.language.occurrences import (
    GIVEN,
    LOCAL,
    MODULE,
    OUTPUT,
    RESOURCE,
    VARIABLE,
    Occurrence,
)
from nigari.language.signatures import signature_text
from nigari.language.values import ValueInInstance, shows_values, values_of
from nigari.language.workbench import Workbench
from nigari.record import record
from nigari.schema.block import Attribute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_LONGEST: Final = 2_000
"""Characters of a value that are shown."""
_MOST_REASONS: Final = 4
_ROOTS: Final = {VARIABLE: "var", LOCAL: "local", MODULE: "module"}
_PLAIN: Final = (Literal, StringLiteral, KeyName, DottedKey)


@record
class Hover:
    """A text about a part of a document."""

    text: str
    start: int
    end: int


def hover_at(workbench: Workbench, document: Document, offset: int) -> Hover | None:
    """The hover at an offset of a document, if there is one."""
    cursor = cursor_at(document, offset)
    parts: list[str]
    occurrence = workbench.project.occurrence_at(document.path, offset)
    if cursor.is_in_name and cursor.attribute is not None:
        attribute = cursor.attribute
        parts = list(_of_argument(workbench, cursor, attribute.name))
        return _hover(parts, attribute.name_start, attribute.name_end)
    if occurrence is not None:
        whole = _whole_reference(cursor, occurrence)
        span = (occurrence.start, occurrence.end) if whole is None else (whole.start, whole.end)
        parts = list(_of_name(workbench, cursor, occurrence, whole))
        return _hover(parts, *span)
    if cursor.header is not None:
        return _of_header(workbench, cursor, cursor.header)
    expr = cursor.expression
    if isinstance(expr, FunctionCall) and offset <= expr.name_end:
        return _hover(_of_function(expr.name), expr.start, expr.name_end)
    if expr is None or isinstance(expr, _PLAIN) or not shows_values(cursor.blocks):
        return None
    return _hover(list(_value(workbench, cursor, _text(expr))), expr.start, expr.end)


def _hover(parts: Sequence[str], start: int, end: int) -> Hover | None:
    shown = [each for each in parts if each]
    return Hover("\n\n".join(shown), start, end) if shown else None


# -- names ----------------------------------------------------------------------------------------


def _of_name(
    workbench: Workbench, cursor: Cursor, occurrence: Occurrence, whole: Expression | None
) -> Iterator[str]:
    document = cursor.document
    for symbol in workbench.project.symbols_of(document.directory, occurrence)[:1]:
        yield from _declared(workbench, symbol.directory, occurrence)
    if whole is not None:
        if shows_values(cursor.blocks):
            yield from _value(workbench, cursor, _text(whole))
        return
    address = _address(occurrence)
    if address and occurrence.role != GIVEN and not occurrence.calls:
        yield from _value(workbench, cursor, address)


def _address(occurrence: Occurrence) -> str:
    """The name as an expression would have it; nothing for what no expression can name."""
    if occurrence.kind in _ROOTS:
        return f"{_ROOTS[occurrence.kind]}.{occurrence.name}"
    return occurrence.name if occurrence.kind == RESOURCE else ""


def _declared(workbench: Workbench, directory: str, occurrence: Occurrence) -> Iterator[str]:
    """The documentation in the declaration of a name."""
    module, name = workbench.module(directory), occurrence.name
    if module is None:
        return
    if occurrence.kind == VARIABLE and name in module.variables:
        variable = module.variables[name]
        given = module.variables[name].block.attributes.get("type")
        type_ = "any" if given is None else _text(given.expr)
        yield _code(f'variable "{name}" {{ type = {type_} }}')
        if variable.deprecated:
            yield f"**Deprecated**: {variable.deprecated}"
        yield variable.description
        if variable.default is not None and not (variable.sensitive or variable.ephemeral):
            yield f"Default: `{_short(_text(variable.default))}`"
    elif occurrence.kind == OUTPUT and name in module.outputs:
        output = module.outputs[name]
        yield _code(f'output "{name}"')
        if output.deprecated:
            yield f"**Deprecated**: {output.deprecated}"
        yield output.description
    elif occurrence.kind == LOCAL and name in module.locals:
        yield _code(f"local.{name}")
    elif occurrence.kind == MODULE and name in module.calls:
        call = module.calls[name]
        yield _code(f'module "{name}" {{ source = {_short(_text(call.source))} }}')
        for place in workbench.project.called(directory, (name,)):
            yield f"Directory: `{place}`"
    elif occurrence.kind == RESOURCE:
        yield from _resource(workbench, directory, name)


def _resource(workbench: Workbench, directory: str, name: str) -> Iterator[str]:
    parts = name.split(".")
    mode = parts[0] if len(parts) == 3 else "resource"
    type_, short = parts[-2:]
    yield _code(f'{mode} "{type_}" "{short}"')
    module = workbench.module(directory)
    found = None
    if module is not None:
        declared = next((e for a, e in module.resources.items() if str(a) == name), None)
        if declared is not None:
            local = declared.provider_name
            found = resource_block(workbench, directory, mode, type_, local)
    if found is not None:
        yield found[0].description
        yield f"Provider: `{found[1]}`"


def _whole_reference(cursor: Cursor, occurrence: Occurrence) -> Expression | None:
    """The expression that ends with a name, or leads on from it."""
    for expr in reversed(cursor.expressions):
        if isinstance(expr, Reference) and expr.start < occurrence.start:
            return expr
    return None


# -- arguments and blocks -------------------------------------------------------------------------


def _of_argument(workbench: Workbench, cursor: Cursor, name: str) -> Iterator[str]:
    document, attribute = cursor.document, cursor.attribute
    assert attribute is not None
    is_local = bool(cursor.blocks) and cursor.blocks[0].type == "locals"
    occurrence = workbench.project.occurrence_at(document.path, cursor.offset)
    description = described(workbench, document, cursor.blocks)
    schema = description.block.attributes.get(name)
    if schema is not None:
        yield from _attribute(name, schema, description.source)
    elif occurrence is not None:
        for symbol in workbench.project.symbols_of(document.directory, occurrence)[:1]:
            yield from _declared(workbench, symbol.directory, occurrence)
    is_secret = schema is not None and schema.sensitive
    if is_secret or not shows_values(cursor.blocks):
        return
    if is_local or not isinstance(attribute.expr, _PLAIN):
        yield from _value(workbench, cursor, _text(attribute.expr))


def _attribute(name: str, schema: Attribute, source: str) -> Iterator[str]:
    words = [
        word
        for word, holds in (
            ("required", schema.required),
            ("optional", schema.optional),
            ("computed", schema.computed),
            ("sensitive", schema.sensitive),
            ("write-only", schema.write_only),
        )
        if holds
    ]
    yield _code(f"{name} = {schema.implied_type.friendly_name()} ({', '.join(words)})")
    if schema.deprecated:
        yield f"**Deprecated**{': ' + schema.deprecation_message if schema.deprecation_message else ''}"
    yield schema.description
    if source:
        yield f"From `{source}`"


def _of_header(workbench: Workbench, cursor: Cursor, block: Block) -> Hover | None:
    document = cursor.document
    if cursor.offset <= block.type_end:
        outer = described(workbench, document, cursor.blocks)
        nested = outer.block.blocks.get(block.type)
        own = nested.block if nested is not None else None
        if not cursor.blocks:
            own = file_blocks(document.kind).get(block.type)
        if own is None:
            return None
        head = f"{block.type} ({nested_type(nested)})" if nested is not None else block.type
        return _hover([_code(head), own.description], block.type_start, block.type_end)
    for index, (start, end) in enumerate(block.label_spans):
        if start <= cursor.offset <= end and index == 0:
            found = described(workbench, document, (*cursor.blocks, block))
            texts = [_code(f'{block.type} "{block.labels[0]}"'), found.block.description]
            if found.source:
                texts.append(f"Provider: `{found.source}`")
            return _hover(texts if found.is_whole else texts[:1], start, end)
    return None


def _of_function(name: str) -> list[str]:
    short = name.removeprefix(CORE)
    signature = signature_text(short)
    return [] if signature is None else [_code(signature), DESCRIPTIONS.get(short, "")]


# -- values ---------------------------------------------------------------------------------------


def _value(workbench: Workbench, cursor: Cursor, text: str) -> Iterator[str]:
    """The value of an expression, or why there is none."""
    if cursor.document.kind not in (Kind.CONFIGURATION, Kind.VALUES):
        return
    block = cursor.blocks[0] if cursor.blocks else cursor.header
    found = values_of(workbench, cursor.document.directory, text, block)
    for each in found:
        if not each.has_failed:
            yield _shown(each)


def _shown(found: ValueInInstance) -> str:
    where = f"In `{found.instance}`: " if found.instance else ""
    lines = []
    if found.value.is_known or not found.reasons:
        display = value_display(found.value)
        lines.append(
            f"{where}\n{_code(display)}" if "\n" in display else f"{where}`{_short(display)}`"
        )
    else:
        lines.append(f"{where}Known after apply, as a {found.value.type.friendly_name()}:")
    lines += [f"- {reason}" for reason in found.reasons[:_MOST_REASONS]]
    if found.origin:
        lines.append(f"\nFrom {found.origin}")
    return "\n".join(lines).strip()


def _code(text: str) -> str:
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    return f"```terraform\n{text}\n```"


def _short(text: str) -> str:
    first = " ".join(text.split())
    return first.replace("`", "'") if len(first) <= 200 else f"{first[:200]}…".replace("`", "'")


def _text(expr: Expression) -> str:
    return expr.source.text[expr.start : expr.end]
