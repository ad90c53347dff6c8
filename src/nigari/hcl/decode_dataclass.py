"""Decoding bodies into dataclasses, for Python authors who have a fixed shape in mind.

    @dataclass
    class Check:
        kind: Annotated[str, Label()]
        every: int = 30

    @dataclass
    class Service:
        name: Annotated[str, Label()]
        port: int
        hosts: list[str] = field(default_factory=list)
        checks: Annotated[list[Check], Named("check")] = field(default_factory=list)
        more: Annotated[Body, Remain()] | None = None

    service = decode_dataclass(Service, block.body, scope, diags, labels_of(block))

The annotations say what to read. A field of a dataclass type is a nested block, a list or tuple of
one any number of blocks, a dict of one blocks by their first label. Every other field is an
argument: `str`, `int`, `float`, `bool`, lists, tuples, sets and dicts of them, `object` for any
plain data, `Value` for a value of the language with its marks and unknowns, `Expression` for the
expression itself. A field with a default, or whose type allows None, may be left out.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Sequence
from typing import Annotated, Protocol, TypeVar, Union, cast, get_args, get_origin

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    NUMBER,
    STRING,
    ListType,
    MapType,
    SetType,
    TupleType,
    Type,
)
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import (
    Attribute,
    AttributeSchema,
    Block,
    BlockSchema,
    Body,
    BodySchema,
    Content,
)
from nigari.hcl.decode import Labels, labels_of
from nigari.hcl.described import scope_values
from nigari.hcl.evaluation import sentence
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope

T = TypeVar("T")
Made_co = TypeVar("Made_co", covariant=True)

_PRIMITIVES: tuple[tuple[object, Type], ...] = (
    (str, STRING),
    (bool, BOOL),
    (int, NUMBER),
    (float, NUMBER),
    (object, DYNAMIC),
    (Value, DYNAMIC),
)

_ARGUMENT = "argument"
_LABEL = "label"
_REMAIN = "remain"
_BLOCK = "block"
_BLOCKS = "blocks"
_BLOCKS_BY_LABEL = "blocks by label"


class _Make(Protocol[Made_co]):
    """A dataclass as what it is to us: something that takes its fields by name."""

    def __call__(self, **given: object) -> Made_co: ...


class Label:
    """The field is a label of the block; labels are taken in the order of their fields."""


class Remain:
    """The field, of type `Body`, takes whatever the other fields do not."""


class Named:
    """The field is written under another name than its own."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Field:
    """What a field of a dataclass reads."""

    __slots__ = ("has_default", "kind", "may_be_none", "name", "nested", "type", "written")

    def __init__(
        self,
        name: str,
        written: str,
        kind: str,
        type_: object,
        nested: type[object] | None,
        has_default: bool,
        may_be_none: bool,
    ) -> None:
        self.name = name
        self.written = written
        self.kind = kind
        self.type = type_
        self.nested = nested
        self.has_default = has_default
        self.may_be_none = may_be_none

    @property
    def required(self) -> bool:
        return not self.has_default and not self.may_be_none


def decode_dataclass(
    cls: type[T], body: Body, scope: Scope, diags: Diagnostics, labels: Labels = ()
) -> T | None:
    """An object of the class with what the body says; None after an error."""
    fields = _fields(cls)
    errors = diags.error_count
    schema = _schema(fields)
    takes_rest = any(field.kind == _REMAIN for field in fields)
    if takes_rest:
        content, rest = body.partial_content(schema, diags)
    else:
        content, rest = body.content(schema, diags), body
    given: dict[str, object] = {}
    remaining = list(labels)
    for field in fields:
        if field.kind == _LABEL:
            if remaining:
                given[field.name] = remaining.pop(0)[0]
        elif field.kind == _REMAIN:
            given[field.name] = rest
        elif field.kind == _ARGUMENT:
            _decode_argument(field, content, scope, diags, given)
        else:
            _decode_blocks(field, content, scope, diags, given)
    if diags.error_count > errors:
        return None
    return cast(_Make[T], cls)(**given)


# -- what a class says --------------------------------------------------------------------------


def _fields(cls: type[object]) -> list[_Field]:
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is not a dataclass")
    hints = typing.get_type_hints(cls, include_extras=True)
    return [_field(field, hints[field.name]) for field in dataclasses.fields(cls) if field.init]


def _field(field: dataclasses.Field[object], hint: object) -> _Field:
    has_default = (
        field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
    )
    bare, notes, may_be_none = _unwrapped(hint)
    written = field.name
    kind = ""
    for note in notes:
        if isinstance(note, Named):
            written = note.name
        elif isinstance(note, Label) or note is Label:
            kind = _LABEL
        elif isinstance(note, Remain) or note is Remain:
            kind = _REMAIN
    nested: type[object] | None = None
    if not kind:
        kind, nested = _nested_class(bare)
    return _Field(field.name, written, kind, bare, nested, has_default, may_be_none)


def _unwrapped(hint: object) -> tuple[object, list[object], bool]:
    """The type inside annotations and `| None`, the annotations, and whether None is allowed."""
    notes: list[object] = []
    may_be_none = False
    while True:
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            notes.extend(more)
        elif get_origin(hint) in (Union, types.UnionType):
            others = [each for each in get_args(hint) if each is not type(None)]
            if len(others) != 1 or len(others) == len(get_args(hint)):
                raise TypeError(f"{hint} is not a type that a body can be decoded into")
            hint = others[0]
            may_be_none = True
        else:
            return hint, notes, may_be_none


def _nested_class(hint: object) -> tuple[str, type[object] | None]:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _BLOCK, hint
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (list, tuple) and arguments and _is_dataclass(arguments[0]):
        return _BLOCKS, arguments[0]
    if origin is dict and _is_dataclass(arguments[1]):
        return _BLOCKS_BY_LABEL, arguments[1]
    return _ARGUMENT, None


def _is_dataclass(hint: object) -> bool:
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def _schema(fields: Sequence[_Field]) -> BodySchema:
    attributes: list[AttributeSchema] = []
    blocks: list[BlockSchema] = []
    for field in fields:
        if field.kind == _ARGUMENT:
            attributes.append(AttributeSchema(field.written, field.required))
        elif field.nested is not None:
            labels = [each.written for each in _fields(field.nested) if each.kind == _LABEL]
            if field.kind == _BLOCKS_BY_LABEL and not labels:
                labels = ["name"]
            blocks.append(BlockSchema(field.written, tuple(labels)))
    return BodySchema(tuple(attributes), tuple(blocks))


def _type_of(hint: object) -> Type:
    """The type of the language for values of a Python type."""
    hint, _, _ = _unwrapped(hint)
    for python_type, type_ in _PRIMITIVES:
        if hint is python_type:
            return type_
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        return ListType(_type_of(arguments[0]))
    if origin in (set, frozenset):
        return SetType(_type_of(arguments[0]))
    if origin is tuple:
        return TupleType(tuple([_type_of(each) for each in arguments]))
    if origin is dict and arguments[0] is str:
        return MapType(_type_of(arguments[1]))
    raise TypeError(f"{hint} is not a type that an argument can be decoded into")


# -- what a body says ---------------------------------------------------------------------------


def _decode_argument(
    field: _Field, content: Content, scope: Scope, diags: Diagnostics, given: dict[str, object]
) -> None:
    attribute = content.attributes.get(field.written)
    if attribute is None:
        if field.may_be_none and not field.has_default:
            given[field.name] = None
        return
    if field.type is Expression:
        given[field.name] = attribute.expr
        return
    if field.type is Attribute:
        given[field.name] = attribute
        return
    errors = diags.error_count
    value = attribute.expr.value(scope, diags)
    if diags.error_count > errors:
        return
    try:
        value = convert(value, _type_of(field.type))
        if value.is_null and not field.may_be_none and field.type not in (Value, object):
            raise CtyError("it must not be null")
        given[field.name] = _to_python(value, field.type)
    except CtyError as error:
        diags.error(
            "Wrong value type",
            f'Invalid value for the argument "{attribute.name}": {sentence(error)}.',
            attribute.expr.start_range,
            attribute.expr.range,
            values=scope_values(attribute.expr, scope),
        )


def _to_python(value: Value, hint: object) -> object:
    hint, _, _ = _unwrapped(hint)
    if hint is Value:
        return value
    if value.marks:
        raise CtyError("it is sensitive, and plain data cannot carry that mark")
    if not value.is_known:
        raise CtyError("it is not known yet")
    if value.is_null:
        return None
    if hint is int:
        whole = value.to_python()
        if not isinstance(whole, int):
            raise CtyError("a whole number is required")
        return whole
    if hint is float:
        return float(str(value.to_python()))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is dict:
        return {name: _to_python(part, arguments[1]) for name, part in value.mapping().items()}
    if origin is tuple and arguments[1:] != (...,):
        pairs = zip(value.elements(), arguments, strict=True)
        return tuple([_to_python(part, each) for part, each in pairs])
    if origin in (list, tuple, set, frozenset):
        return origin([_to_python(part, arguments[0]) for part in value.elements()])
    return value.to_python()


def _decode_blocks(
    field: _Field, content: Content, scope: Scope, diags: Diagnostics, given: dict[str, object]
) -> None:
    blocks = content.blocks_of(field.written)
    nested = field.nested
    assert nested is not None
    if field.kind == _BLOCK:
        _decode_one_block(field, nested, blocks, content, scope, diags, given)
        return
    if not blocks and field.has_default:
        return
    if field.kind == _BLOCKS:
        decoded = [decode_dataclass(nested, b.body, scope, diags, labels_of(b)) for b in blocks]
        given[field.name] = tuple(decoded) if get_origin(field.type) is tuple else decoded
        return
    by_label: dict[str, object] = {}
    for block in blocks:
        if block.labels[0] in by_label:
            _report_duplicate(block, f'with the label "{block.labels[0]}"', diags)
        has_own = any(each.kind == _LABEL for each in _fields(nested))
        labels = labels_of(block) if has_own else labels_of(block)[1:]
        by_label[block.labels[0]] = decode_dataclass(nested, block.body, scope, diags, labels)
    given[field.name] = by_label


def _decode_one_block(
    field: _Field,
    nested: type[object],
    blocks: list[Block],
    content: Content,
    scope: Scope,
    diags: Diagnostics,
    given: dict[str, object],
) -> None:
    if len(blocks) > 1:
        _report_duplicate(blocks[1], "here", diags)
    if blocks:
        block = blocks[0]
        given[field.name] = decode_dataclass(nested, block.body, scope, diags, labels_of(block))
    elif field.may_be_none and not field.has_default:
        given[field.name] = None
    elif field.required:
        diags.error(
            "Missing block",
            f'A block of type "{field.written}" is required here.',
            content.missing_item_range,
        )


def _report_duplicate(block: Block, where: str, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate block",
        f'Only one block of type "{block.type}" is allowed {where}.',
        block.def_range,
    )
