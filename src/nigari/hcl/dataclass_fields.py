"""Fields of a class that bodies are decoded into and encoded from.

Owns the kinds of fields and the kind that each annotation selects. Deliberately unknown here:
bodies and values.
"""

from __future__ import annotations

from typing import Final, get_args, get_origin

from nigari.cty.annotations import Named, shape_of, unwrapped
from nigari.cty.models import ModelField, checks_itself, is_model, model_fields
from nigari.cty.shapes import Shape
from nigari.cty.types import DYNAMIC
from nigari.hcl.body import Attribute, AttributeSchema, BlockSchema, BodySchema
from nigari.hcl.expressions import Expression

ARGUMENT: Final = "argument"
LABEL: Final = "label"
REMAIN: Final = "remain"
BLOCK: Final = "block"
BLOCKS: Final = "blocks"
BLOCKS_BY_LABEL: Final = "blocks by label"


class Label:
    """Annotation for a label of the block; labels fill such fields in order."""

    __slots__ = ()


class Remain:
    r"""Annotation for a field of type `Body` that receives all items without a field of their own.

    from dataclasses import dataclass
    from typing import Annotated

    from nigari import hcl
    from nigari.diagnostics import Diagnostics


    @dataclass
    class Plugin:
        name: str
        settings: Annotated[hcl.Body, hcl.Remain()]


    plugin = hcl.loads_as(Plugin, 'name = "mail"\nserver = "localhost"\n')
    print(list(plugin.settings.just_attributes(Diagnostics())))  # ['server']
    """

    __slots__ = ()


class Argument:
    """Annotation for an argument whose type would otherwise make it a block."""

    __slots__ = ()


class DecodedField:
    """A field and the items that it reads. `bare` is its type without `Annotated` and `| None`."""

    __slots__ = ("bare", "field", "kind", "may_be_none", "nested", "shape", "written")

    field: ModelField
    written: str
    kind: str
    bare: object
    nested: type[object] | None
    may_be_none: bool
    shape: Shape | None

    def __init__(
        self,
        field: ModelField,
        written: str,
        kind: str,
        bare: object,
        nested: type[object] | None,
        may_be_none: bool,
        shape: Shape | None,
    ) -> None:
        self.field = field
        self.written = written
        self.kind = kind
        self.bare = bare
        self.nested = nested
        self.may_be_none = may_be_none
        self.shape = shape

    @property
    def required(self) -> bool:
        return not self.field.has_default and not self.may_be_none

    def as_argument(self) -> DecodedField:
        """Convert a field for blocks to one for an argument, for bodies that have it as an
        argument.
        """
        shape = shape_of(self.field.hint)
        return DecodedField(
            self.field, self.written, ARGUMENT, self.bare, None, self.may_be_none, shape
        )


_read: Final[dict[type[object], list[DecodedField]]] = {}


def fields_of(cls: type[object]) -> list[DecodedField]:
    """List the fields of a class; raise `TypeError` if no body can be decoded into it."""
    found = _read.get(cls)
    if found is None:
        if not is_model(cls):
            name = getattr(cls, "__name__", repr(cls))
            raise TypeError(
                f"{name} is neither a dataclass nor an attrs class nor a pydantic model"
            )
        found = [_field(cls, each) for each in model_fields(cls)]
        _read[cls] = found
    return found


def label_names(cls: type[object]) -> tuple[str, ...]:
    """List the label names of blocks that are decoded into the class."""
    return tuple([each.written for each in fields_of(cls) if each.kind == LABEL])


def body_schema(fields: list[DecodedField]) -> BodySchema:
    """Build the schema of the arguments and blocks that the fields read."""
    attributes: list[AttributeSchema] = []
    blocks: list[BlockSchema] = []
    for field in fields:
        if field.kind == ARGUMENT:
            attributes.append(AttributeSchema(field.written, field.required))
        elif field.nested is not None:
            labels = label_names(field.nested)
            if field.kind == BLOCKS_BY_LABEL and not labels:
                labels = ("name",)
            blocks.append(BlockSchema(field.written, labels))
    return BodySchema(tuple(attributes), tuple(blocks))


def _field(cls: type[object], field: ModelField) -> DecodedField:
    bare, notes, may_be_none = unwrapped(field.hint)
    written = field.written
    kind = ""
    for note in notes:
        if isinstance(note, Named):
            written = note.name
        elif isinstance(note, Label) or note is Label:
            kind = LABEL
        elif isinstance(note, Remain) or note is Remain:
            kind = REMAIN
        elif isinstance(note, Argument) or note is Argument:
            kind = ARGUMENT
    nested: type[object] | None = None
    if not kind:
        kind, nested = _nested_class(bare)
    shape: Shape | None = None
    if kind == LABEL or (kind == ARGUMENT and bare not in (Expression, Attribute)):
        shape = _shape(cls, field)
        may_be_none = may_be_none or (shape.takes_none and bare is not object)
    return DecodedField(field, written, kind, bare, nested, may_be_none, shape)


def _shape(cls: type[object], field: ModelField) -> Shape:
    try:
        return shape_of(field.hint)
    except TypeError as error:
        if checks_itself(cls):
            return Shape(DYNAMIC, True)
        raise TypeError(f"{cls.__qualname__}.{field.name}: {error}") from None


def _nested_class(hint: object) -> tuple[str, type[object] | None]:
    if isinstance(hint, type) and is_model(hint):
        return BLOCK, hint
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (list, tuple) and _is_only(arguments) and is_model(arguments[0]):
        return BLOCKS, arguments[0]
    if origin is dict and is_model(arguments[1]):
        return BLOCKS_BY_LABEL, arguments[1]
    return ARGUMENT, None


def _is_only(arguments: tuple[object, ...]) -> bool:
    return len(arguments) == 1 or arguments[1:] == (...,)
