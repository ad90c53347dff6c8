"""Completion at an offset: arguments and blocks, labels, references, functions, values, paths.

Finds out what kind of place it is and gathers the candidates; those of references are in
`nigari.language.candidates`. Whatever fits is offered, however it begins: clients select by what has
been typed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from nigari.addrs.resource import ACTION
from nigari.config.blocks.action_trigger import OnFailure, TriggerEvent
from nigari.cty import BOOL, Type
from nigari.hcl.body import Block
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import TupleConstructor
from nigari.hcl.expressions import Expression
from nigari.language.candidates import (
    ARGUMENT,
    BLOCK,
    KEYWORD,
    MODULE,
    NAME,
    PATH,
    SNIPPET,
    TYPE,
    VALUE,
    Candidate,
    constants,
    following,
    function_calls,
    keys,
    of_type,
    roots,
    symbol_functions,
)
from nigari.language.cursor import Cursor, cursor_at
from nigari.language.described import (
    called_variables,
    described,
    file_blocks,
    nested_type,
    resource_types,
)
from nigari.language.document import Document, Kind
from nigari.language.language_blocks import LABELS
from nigari.language.occurrences import written_text
from nigari.language.typed_text import (
    argument_on_line,
    for_names,
    is_name_line,
    typed_reference,
    within,
    word_start,
)
from nigari.language.workbench import Workbench
from nigari.record import record
from nigari.schema.block import Attribute, NestedBlock
from nigari.schema.block import Block as SchemaBlock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.config.blocks.variable import Variable
    from nigari.config.module import Module

_TYPES: Final = (
    "string",
    "number",
    "bool",
    "any",
    "list()",
    "set()",
    "map()",
    "object({})",
    "tuple([])",
)
_RESOURCES: Final = frozenset(("resource", "data", "ephemeral", "action"))
_TRIGGERS: Final = frozenset(("events", "actions", "on_failure"))
_ADDRESSES: Final = frozenset(("depends_on", "replace_triggered_by", "from", "to", "target"))


@record
class Completion:
    """A candidate, and the part of the text that it replaces."""

    candidates: tuple[Candidate, ...]
    start: int
    end: int


_NOTHING: Final = Completion((), 0, 0)


def complete(workbench: Workbench, document: Document, offset: int) -> Completion:
    """The candidates at an offset."""
    cursor = cursor_at(document, offset)
    text = document.text
    if document.body is None or document.kind is Kind.LOCK:
        return _NOTHING
    if cursor.header is not None:
        return _labels(workbench, cursor, cursor.header)
    on_line = argument_on_line(text, offset)
    if cursor.attribute is not None and offset >= cursor.attribute.expr.start:
        return _expression(workbench, cursor, cursor.attribute.name, cursor.attribute.expr.start)
    if on_line is not None:
        return _expression(workbench, cursor, *on_line)
    if is_name_line(text, offset):
        start = word_start(text, offset)
        return Completion(tuple(_names(workbench, cursor)), start, offset)
    return _unfinished_label(workbench, cursor)


# -- names ----------------------------------------------------------------------------------------


def _names(workbench: Workbench, cursor: Cursor) -> Iterator[Candidate]:
    """The arguments and blocks that a body can have more of."""
    document = cursor.document
    if document.kind is Kind.VALUES:
        yield from _variables(workbench, document)
        return
    if not cursor.blocks:
        for type_, own in file_blocks(document.kind).items():
            yield _block(type_, own)
        return
    block = cursor.blocks[-1]
    if document.kind is Kind.TESTS and block.type == "variables":
        yield from _variables(workbench, document)
        return
    description = described(workbench, document, cursor.blocks).block
    written = block.attributes
    missing: list[str] = []
    for name, attribute in description.attributes.items():
        if name in written or not (attribute.required or attribute.optional):
            continue
        yield _argument(name, attribute)
        if attribute.required:
            missing.append(name)
    for type_, nested in description.blocks.items():
        if nested.max_items != 1 or not any(each.type == type_ for each in block.blocks):
            yield _block(type_, nested.block, nested)
    if len(missing) > 1:
        width = max(len(each) for each in missing)
        lines = [f"{name:{width}} = ${{{index}}}" for index, name in enumerate(missing, 1)]
        yield Candidate(
            "required arguments", SNIPPET, ", ".join(missing), "", "\n".join(lines), True, rank=0
        )
    if cursor.blocks[0].type in _RESOURCES | {"provider", "module"} and description.blocks:
        yield Candidate(
            "dynamic",
            BLOCK,
            "blocks for the elements of a collection",
            "",
            'dynamic "${1:block}" {\n  for_each = $2\n  content {\n    $0\n  }\n}',
            True,
            rank=8,
        )


def _argument(name: str, attribute: Attribute) -> Candidate:
    need = "required" if attribute.required else "optional"
    detail = f"{need}, {attribute.implied_type.friendly_name()}"
    return Candidate(
        label=name,
        kind=ARGUMENT,
        detail=detail,
        documentation=attribute.description,
        insert=f"{name} = ",
        is_snippet=False,
        is_deprecated=attribute.deprecated,
        rank=1 if attribute.required else 3,
    )


def _block(type_: str, block: SchemaBlock, nested: NestedBlock | None = None) -> Candidate:
    labels = [f'"${{{index}:{each}}}"' for index, each in enumerate(LABELS.get(type_, ()), 1)]
    head = " ".join([type_, *labels])
    detail = "block" if nested is None else nested_type(nested)
    rank = 2 if nested is not None and nested.min_items else 4
    return Candidate(
        label=type_,
        kind=BLOCK,
        detail=detail,
        documentation=block.description,
        insert=f"{head} {{\n  $0\n}}",
        is_snippet=True,
        is_deprecated=block.deprecated,
        rank=rank,
    )


def _variables(workbench: Workbench, document: Document) -> Iterator[Candidate]:
    """The variables of the module that have no value in this file yet."""
    body = document.body
    written = {} if body is None else body.attributes
    for name, variable in (workbench.variables(document.directory) or {}).items():
        if name not in written:
            rank = 1 if variable.default is None else 3
            type_ = variable.type.friendly_name()
            yield Candidate(name, ARGUMENT, type_, variable.description, f"{name} = ", rank=rank)


# -- labels ---------------------------------------------------------------------------------------


def _labels(workbench: Workbench, cursor: Cursor, block: Block) -> Completion:
    for index, (start, end) in enumerate(block.label_spans):
        if start < cursor.offset <= end:
            is_quoted = block.source.text.startswith('"', start)
            inner = (start + 1, max(end - 1, start + 1)) if is_quoted else (start, end)
            found = tuple(_label(workbench, cursor.document, block.type, index))
            return Completion(found, *inner)
    if cursor.offset <= block.type_end:
        return Completion(tuple(_names(workbench, cursor)), block.type_start, block.type_end)
    return _NOTHING


def _unfinished_label(workbench: Workbench, cursor: Cursor) -> Completion:
    """A label that is being typed before the block has braces."""
    text, offset = cursor.document.text, cursor.offset
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    type_, _, rest = line.strip().partition(" ")
    if type_ not in LABELS or rest.count('"') % 2 == 0:
        return _NOTHING
    start = text.rfind('"', 0, offset) + 1
    found = _label(workbench, cursor.document, type_, rest.count('"') // 2)
    return Completion(tuple(found), start, offset)


def _label(workbench: Workbench, document: Document, type_: str, index: int) -> Iterator[Candidate]:
    if index != 0:
        return
    directory = document.directory
    names = _provider_names(workbench, directory)
    if type_ in _RESOURCES:
        for name in names:
            provider = workbench.provider(directory, name)
            offered = None if provider is None else workbench.offered(directory, provider)
            if offered is not None:
                for each, schema in resource_types(offered, type_).items():
                    yield Candidate(
                        each,
                        TYPE,
                        str(provider),
                        schema.description,
                        is_deprecated=schema.deprecated,
                    )
    elif type_ in ("provider", "mock_provider", "provider_meta"):
        yield from (Candidate(each, NAME) for each in names)
    elif type_ == "backend":
        from nigari.backends.known_backends import OURS

        yield from (Candidate(each, TYPE, "backend") for each in OURS)
    elif type_ == "provisioner":
        yield from (Candidate(each, TYPE) for each in ("local-exec", "remote-exec", "file"))


def _provider_names(workbench: Workbench, directory: str) -> list[str]:
    """The local names of providers that a module has, or uses."""
    module = workbench.module(directory)
    found: dict[str, None] = {"terraform": None}
    if module is not None:
        found.update(dict.fromkeys(module.required_providers))
        found.update(dict.fromkeys(each.name for each in module.provider_configs))
        found.update(dict.fromkeys(each.provider_name for each in module.resources.values()))
    return [*found]


# -- values ---------------------------------------------------------------------------------------


def _expression(workbench: Workbench, cursor: Cursor, name: str, start: int) -> Completion:
    text, offset = cursor.document.text, cursor.offset
    place = within(text, start, offset)
    module = workbench.module(cursor.document.directory)
    attribute = _attribute(workbench, cursor, name)
    if place.is_string:
        found = [*_in_string(workbench, cursor, name, text[place.string_start : offset])]
        begin = place.string_start
        if found and found[0].kind == PATH:
            begin += text[begin:offset].rfind("/") + 1
        reference = typed_reference(text, start, offset)
        if not found and reference.is_key and reference.is_quoted:
            found = [
                each
                for each in keys(workbench, module, cursor, reference.base)
                if each.label.startswith('"')
            ]
            inner = [Candidate(each.label[1:-1], each.kind, each.detail) for each in found]
            return Completion(tuple(inner), reference.start, offset)
        return Completion(tuple(found), begin, offset)
    reference = typed_reference(text, start, offset)
    if reference.is_key:
        return Completion(
            tuple(keys(workbench, module, cursor, reference.base)), reference.start, offset
        )
    if reference.base or text.startswith(".", reference.start - 1):
        found = [*following(workbench, module, cursor, reference.base)]
        return Completion(tuple(found), reference.start, offset)
    whole = {each.label: each for each in _whole_values(workbench, cursor, name, attribute)}
    more = _parts(workbench, cursor, name, for_names(text, start, offset))
    return Completion(
        tuple(({each.label: each for each in more} | whole).values()), reference.start, offset
    )


def _parts(
    workbench: Workbench, cursor: Cursor, name: str, bound: Iterable[str]
) -> Iterator[Candidate]:
    """What an expression for an argument can begin with."""
    if cursor.document.kind is Kind.VALUES:
        yield from constants()
        return
    if _is_type(cursor, name) or _is_provider(cursor, name):
        return
    directory = cursor.document.directory
    yield from roots(workbench.module(directory), cursor)
    if name not in _ADDRESSES:
        yield from (Candidate(each, NAME, "the element of a collection", rank=1) for each in bound)
        yield from constants()
        yield from function_calls()
        yield from symbol_functions(workbench, directory)


def _is_type(cursor: Cursor, name: str) -> bool:
    """Return whether an argument is the type of a variable."""
    return name == "type" and bool(cursor.blocks) and cursor.blocks[0].type == "variable"


def _is_provider(cursor: Cursor, name: str) -> bool:
    """Return whether an argument names configurations of providers."""
    types = [each.type for each in cursor.blocks]
    if name == "providers":
        return types in (["module"], ["run"])
    return name == "provider" and len(types) == 1 and types[0] in _RESOURCES


def _attribute(workbench: Workbench, cursor: Cursor, name: str) -> Attribute | None:
    return described(workbench, cursor.document, cursor.blocks).block.attributes.get(name)


def _of_trigger(module: Module | None, name: str) -> Iterator[Candidate]:
    """Values of the arguments of an `action_trigger` block."""
    if name == "actions":
        for each in () if module is None else module.resources:
            if each.mode is ACTION:
                yield Candidate(str(each), NAME, "action", rank=0)
        return
    words = TriggerEvent if name == "events" else OnFailure
    yield from (Candidate(each.value, KEYWORD, rank=0) for each in words)


def _whole_values(
    workbench: Workbench, cursor: Cursor, name: str, attribute: Attribute | None
) -> Iterator[Candidate]:
    """Values that fit an argument as a whole."""
    directory = cursor.document.directory
    module = workbench.module(directory)
    if _is_type(cursor, name):
        yield from (Candidate(each, TYPE, rank=0) for each in _TYPES)
    elif _is_provider(cursor, name):
        configured = [] if module is None else [str(each) for each in module.provider_configs]
        for each in dict.fromkeys((*configured, *_provider_names(workbench, directory))):
            yield Candidate(each, NAME, "provider", rank=0)
    elif name in _ADDRESSES and module is not None:
        resources = [each for each in module.resources if each.mode is not ACTION]
        yield from (Candidate(str(each), NAME, "resource", rank=0) for each in resources)
        yield from (Candidate(f"module.{each}", MODULE, "call", rank=0) for each in module.calls)
    elif name in _TRIGGERS and cursor.blocks and cursor.blocks[-1].type == "action_trigger":
        yield from _of_trigger(module, name)
    elif attribute is not None and attribute.type == BOOL:
        yield from (Candidate(each, VALUE, rank=0) for each in ("true", "false"))
    elif name == "ignore_changes":
        description = described(workbench, cursor.document, cursor.blocks[:1]).block
        yield Candidate("all", KEYWORD, rank=0)
        yield from (Candidate(each, ARGUMENT, rank=0) for each in description.attributes)
    for value in _allowed(_variable(workbench, cursor, name)):
        yield Candidate(f'"{value}"', VALUE, "allowed value", rank=0)
    if attribute is not None and cursor.expressions[1:]:
        yield from _object_keys(attribute.implied_type)


def _object_keys(type_: Type) -> Iterable[Candidate]:
    return [
        Candidate(e.label, ARGUMENT, e.detail, insert=f"{e.label} = ", rank=0)
        for e in of_type(type_)
    ]


def _in_string(workbench: Workbench, cursor: Cursor, name: str, typed: str) -> Iterator[Candidate]:
    """The candidates for the text of a string."""
    top = cursor.blocks[0].type if cursor.blocks else ""
    directory = cursor.document.directory
    call = next((e for e in reversed(cursor.expressions) if isinstance(e, FunctionCall)), None)
    if top == "module" and name == "source":
        if typed.startswith("."):
            yield from _paths(directory, typed, only_directories=True)
        else:
            yield from (Candidate(each, PATH, rank=0) for each in ("./", "../"))
    elif call is not None and (call.name.startswith("file") or call.name == "templatefile"):
        roots_ = [each.root for each in workbench.evaluations_of(directory)]
        yield from _paths(roots_[0] if roots_ else directory, typed, only_directories=False)
    else:
        for value in _allowed(_variable(workbench, cursor, name)):
            yield Candidate(value, VALUE, "allowed value", rank=0)


def _paths(directory: str, typed: str, only_directories: bool) -> Iterator[Candidate]:
    """The files and directories that a path can go on with."""
    head = typed.rpartition("/")[0]
    try:
        entries = sorted(os.scandir(os.path.join(directory, head)), key=lambda each: each.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield Candidate(entry.name, PATH, "directory", rank=1)
        elif not only_directories:
            yield Candidate(entry.name, PATH, "file", rank=2)


def _variable(workbench: Workbench, cursor: Cursor, name: str) -> Variable | None:
    """The variable that an argument gives a value to, if it does."""
    document = cursor.document
    if document.kind is Kind.VALUES:
        return (workbench.variables(document.directory) or {}).get(name)
    if cursor.blocks and cursor.blocks[0].type == "module":
        return (called_variables(workbench, document.directory, cursor.blocks[0]) or {}).get(name)
    return None


def _allowed(variable: Variable | None) -> list[str]:
    """The values that validations allow: those of `contains([...], var.x)`."""
    found: list[str] = []
    for rule in () if variable is None else variable.validations:
        pending: list[Expression] = [rule.condition]
        while pending:
            expr = pending.pop()
            if (
                isinstance(expr, FunctionCall)
                and expr.name == "contains"
                and len(expr.arguments) == 2
                and isinstance(expr.arguments[0], TupleConstructor)
            ):
                texts = [written_text(each) for each in expr.arguments[0].elements]
                found += [each for each in texts if each is not None]
            pending.extend(expr.children())
    return list(dict.fromkeys(found))
