"""Attributes and nested blocks from the annotated fields of a dataclass.

A field without a default is required, one with a default (or `| None`) is optional, `Computed[…]`
is a result. Markers in `Annotated[…]` add properties. A field of a dataclass type, or of a list,
set or dict of one, has nested attributes, or nested blocks with `BLOCK`. `nigari.cty.annotations`
interprets all other annotations.
"""

import dataclasses
import typing
from collections.abc import Callable, Mapping
from typing import Final, get_args, get_origin

from nigari import cty
from nigari.cty.annotations import Named, shape_of, unwrapped
from nigari.cty.shapes import Shape
from nigari.providers.python.fields import Field, Fields, Objects, written
from nigari.providers.python.markers import (
    COMPUTED,
    IDENTITY,
    KEEP,
    REPLACE,
    SENSITIVE,
    WRITE_ONLY,
    Blocks,
    Text,
)
from nigari.schema.block import Attribute, NestedAttributes, NestedBlock, Nesting

_HOLDERS: Final = {
    list: Nesting.LIST,
    set: Nesting.SET,
    frozenset: Nesting.SET,
    dict: Nesting.MAP,
}


def fields_of(owner: type, within: tuple[type, ...] = ()) -> Fields:
    """Read the fields of a dataclass; raise `TypeError` if no schema can represent them.

    `within` are the enclosing classes.
    """
    if not dataclasses.is_dataclass(owner):
        raise TypeError(f"{owner.__qualname__} must be a dataclass")
    hints = typing.get_type_hints(owner, include_extras=True)
    fields = tuple(
        _field((*within, owner), field, hints[field.name])
        for field in dataclasses.fields(owner)
        if field.init
    )
    return Fields(owner, fields, _documentation(owner))


def _field(owners: tuple[type, ...], field: "dataclasses.Field[object]", hint: object) -> Field:
    bare, notes, takes_none = unwrapped(hint)
    try:
        return _defined(owners, field, bare, notes, takes_none or field.default is None)
    except (TypeError, cty.CtyError) as error:
        raise TypeError(f"{owners[-1].__qualname__}.{field.name}: {error}") from None


def _defined(
    owners: tuple[type, ...],
    field: "dataclasses.Field[object]",
    bare: object,
    notes: list[object],
    takes_none: bool,
) -> Field:
    holds = _objects(bare, owners) or shape_of(bare)
    if isinstance(holds, Shape):
        _check_results(bare, [])
    fallback = _fallback(field)
    names = [note.name for note in notes if isinstance(note, Named)]
    blocks = next((note for note in notes if isinstance(note, Blocks)), None)
    default: object = fallback() if _has_default(field) else dataclasses.MISSING
    schema: Attribute | NestedBlock
    if blocks is not None:
        schema = _blocks(holds, blocks, default, takes_none, notes)
        holds = dataclasses.replace(typing.cast(Objects, holds), nesting=schema.nesting)
    else:
        schema = _attribute(holds, notes, takes_none, default)
    made = Field(
        name=names[-1] if names else field.name,
        keyword=field.name,
        holds=holds,
        schema=schema,
        fallback=fallback,
        default=None,
        replaces=REPLACE in notes,
        keeps=KEEP in notes,
        identifies=IDENTITY in notes,
    )
    if isinstance(schema, NestedBlock) or not schema.computed or COMPUTED in notes:
        return made
    return dataclasses.replace(made, default=written(made, default))


def _objects(hint: object, owners: tuple[type, ...]) -> Objects | None:
    """Read nested objects in at most one collection; deeper ones can only be represented by types."""
    if (nested := _nested_class(hint, owners)) is not None:
        return Objects(fields_of(nested, owners), Nesting.SINGLE, False, nested)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin not in _HOLDERS or (origin is dict and arguments[0] is not str):
        return None
    element, _, takes_none = unwrapped(arguments[-1])
    if (nested := _nested_class(element, owners)) is None:
        return None
    # Python has no sets of mutable objects that compare by content, so a list holds them.
    is_hashable = getattr(nested, "__hash__", None) is not None
    make = list if origin in (set, frozenset) and not is_hashable else origin
    return Objects(fields_of(nested, owners), _HOLDERS[origin], takes_none, make)


def _nested_class(hint: object, owners: tuple[type, ...]) -> type | None:
    """Return a nested dataclass; one that contains itself has no finite schema and becomes a type."""
    is_nested = isinstance(hint, type) and dataclasses.is_dataclass(hint) and hint not in owners
    return typing.cast(type, hint) if is_nested else None


def _attribute(
    holds: Shape | Objects, notes: list[object], takes_none: bool, default: object
) -> Attribute:
    computed, write_only = COMPUTED in notes, WRITE_ONLY in notes
    is_optional = not computed and (takes_none or default is not dataclasses.MISSING)
    # The provider plans a default; None only means the absence of a value.
    has_default = default is not dataclasses.MISSING and default is not None and not write_only
    nested: NestedAttributes | None = None
    if isinstance(holds, Objects):
        block = holds.fields.block
        if block.blocks:
            raise TypeError("nested attributes cannot contain blocks, only blocks can")
        _check_elements(holds)
        attributes = _results(block.attributes) if computed else block.attributes
        nested = NestedAttributes(attributes, holds.nesting)
    return Attribute(
        type=None if isinstance(holds, Objects) else cty.without_optional(holds.type),
        nested=nested,
        required=not computed and not is_optional,
        optional=is_optional,
        computed=computed or has_default,
        sensitive=SENSITIVE in notes,
        write_only=write_only,
        description=" ".join(note.text for note in notes if isinstance(note, Text)),
    )


def _results(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Make attributes inside a result computed: nothing in it can be configured."""
    return {
        name: Attribute(
            type=each.type,
            nested=None
            if each.nested is None
            else NestedAttributes(_results(each.nested.attributes), each.nested.nesting),
            computed=True,
            sensitive=each.sensitive,
            description=each.description,
        )
        for name, each in attributes.items()
    }


def _blocks(
    holds: Shape | Objects, limits: Blocks, default: object, takes_none: bool, notes: list[object]
) -> NestedBlock:
    if not isinstance(holds, Objects):
        raise TypeError("only dataclasses, and lists, sets and dicts of them, can be blocks")
    for marker in (COMPUTED, SENSITIVE, WRITE_ONLY, IDENTITY):
        if marker in notes:
            raise TypeError(f"a nested block cannot be {marker}; its attributes can")
    if holds.takes_none:
        raise TypeError("a block cannot be null")
    _check_elements(holds)
    is_required = default is dataclasses.MISSING
    if not holds.is_one:
        if not is_required and default:
            raise TypeError("blocks come from the configuration only, so they have no default")
        has_limits = holds.nesting is not Nesting.MAP
        least = limits.least or int(is_required and has_limits)
        return NestedBlock(holds.fields.block, holds.nesting, least, limits.most)
    if is_required or default is None:
        count = 0 if takes_none else 1
        return NestedBlock(holds.fields.block, Nesting.SINGLE, count, count)
    if default != holds.fields.owner():
        raise TypeError("the default of a block must be the one that its own fields have")
    return NestedBlock(holds.fields.block, Nesting.GROUP)


def _check_results(hint: object, seen: list[object]) -> None:
    """Check that results are only in nested attributes; inside other types everything is
    configured.
    """
    bare, notes, _ = unwrapped(hint)
    if COMPUTED in notes:
        raise TypeError(
            "an object with results can be in one list, set or dict, not in one inside another: "
            "put a dataclass between them"
        )
    for argument in get_args(bare):
        _check_results(argument, seen)
    if isinstance(bare, type) and dataclasses.is_dataclass(bare) and bare not in seen:
        seen.append(bare)
        for each in typing.get_type_hints(bare, include_extras=True).values():
            _check_results(each, seen)


def _check_elements(holds: Objects) -> None:
    if holds.nesting is Nesting.SET and holds.fields.block.has_write_only:
        raise TypeError("elements of a set cannot have write-only attributes")


def _has_default(field: "dataclasses.Field[object]") -> bool:
    return (
        field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
    )


def _fallback(field: "dataclasses.Field[object]") -> Callable[[], object]:
    factory = field.default_factory
    if factory is not dataclasses.MISSING:
        return factory
    default = None if field.default is dataclasses.MISSING else field.default
    return lambda: default


def _documentation(owner: type) -> str:
    """Return the class's own docstring, but not the signature that dataclasses generate without
    one.
    """
    text = owner.__doc__ or ""
    return "" if text.startswith(f"{owner.__name__}(") else " ".join(text.split())
