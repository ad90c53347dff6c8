"""Attributes and nested blocks of a dataclass, and conversion of its instances to and from values.

`definitions` derives them from annotations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from nigari import cty
from nigari.cty.models import failure_text, make_model
from nigari.cty.paths import index_step
from nigari.cty.shapes import Shape
from nigari.providers.python.attempt import ProviderError
from nigari.providers.python.markers import UNKNOWN
from nigari.providers.python.timeouts import Timeouts
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.placeholders import empty_nested
from nigari.schema.provider import IdentitySchema

_ONE: Final = (Nesting.SINGLE, Nesting.GROUP)


@dataclass(frozen=True, slots=True)
class Objects:
    """Instances of another dataclass in a field: one, or a collection of them."""

    fields: "Fields"
    nesting: Nesting
    takes_none: bool
    """True if elements may be null."""
    make: type
    """The Python collection."""

    @property
    def is_one(self) -> bool:
        """True if the field holds a single object."""
        return self.nesting in _ONE

    def collected(self, parts: list[cty.Value]) -> cty.Value:
        """Build the value of a list or set of objects."""
        element = self.fields.block.implied_type
        if self.nesting is Nesting.SET:
            return cty.set_value(element, parts)
        if element.has_dynamic:
            return cty.tuple_value(parts)
        return cty.list_value(element, parts)

    def keyed(self, parts: dict[str, cty.Value]) -> cty.Value:
        """Build the value of a map of objects."""
        element = self.fields.block.implied_type
        return cty.object_value(parts) if element.has_dynamic else cty.map_value(element, parts)


@dataclass(frozen=True, slots=True)
class Field:
    """An attribute of a resource type, or a nested block type."""

    name: str
    keyword: str
    """Name of the field in the dataclass."""
    holds: Shape | Objects
    schema: Attribute | NestedBlock
    fallback: Callable[[], object]
    """Creates the field's content in an instance for an absent value."""
    default: cty.Value | None = None
    """Replaces null in the configuration."""
    replaces: bool = False
    keeps: bool = False
    identifies: bool = False

    @property
    def type(self) -> cty.Type:
        """Type of its values."""
        if isinstance(self.schema, Attribute):
            return self.schema.implied_type
        return cty.without_optional(self.schema.spec_type)

    @property
    def is_result(self) -> bool:
        """True if only the provider determines the value."""
        return isinstance(self.schema, Attribute) and self.schema.computed and self.default is None

    @property
    def is_limit(self) -> bool:
        """True for operation timeouts, which are not part of the remote object."""
        return isinstance(self.holds, Objects) and self.holds.fields.owner is Timeouts

    @property
    def is_write_only(self) -> bool:
        """True if the value is never stored."""
        return isinstance(self.schema, Attribute) and self.schema.write_only


class Fields:
    """All attributes and nested blocks of a dataclass."""

    def __init__(self, owner: type, fields: tuple[Field, ...], description: str) -> None:
        self.owner = owner
        self.fields = fields
        self.block: Block = Block(
            {f.name: f.schema for f in fields if isinstance(f.schema, Attribute)},
            {f.name: f.schema for f in fields if isinstance(f.schema, NestedBlock)},
            description=description,
        )

    @property
    def identity(self) -> IdentitySchema | None:
        """Identity schema of the fields marked `IDENTITY`; a part is optional if its argument is."""
        parts = [
            (field.name, field.schema)
            for field in self.fields
            if field.identifies and isinstance(field.schema, Attribute)
        ]
        if not parts:
            return None
        return IdentitySchema(
            0,
            {name: attribute.implied_type for name, attribute in parts},
            frozenset(name for name, attribute in parts if not attribute.optional),
            frozenset(name for name, attribute in parts if attribute.optional),
            {name: attribute.description for name, attribute in parts if attribute.description},
        )

    def identity_of(self, value: cty.Value) -> cty.Value | None:
        """Build the identity of an object, if it is known already."""
        names = [field.name for field in self.fields if field.identifies]
        if not names or value.is_null:
            return None
        identity = cty.object_value({name: value.attribute(name) for name in names})
        return identity if identity.is_wholly_known else None

    def parts(self, identity: cty.Value) -> dict[str, object]:
        """Map the parts of an identity to the names of their fields."""
        found = {field.name: field for field in self.fields if field.identifies}
        return {
            found[name].keyword: _read(found[name], part, False)
            for name, part in identity.mapping().items()
            if not part.is_null
        }

    def to_value(self, instance: object, base: cty.Value | None = None) -> cty.Value:
        """Convert an instance to a value of the block, without write-only attributes.

        `base` is the value from which the instance was created. Unchanged fields keep its value:
        Python cannot represent every number and every kind of null. Fields with `UNKNOWN` keep its
        refinements.
        """
        values: dict[str, cty.Value] = {}
        for field in self.fields:
            if field.is_write_only:
                values[field.name] = cty.null(field.type)
                continue
            was = None if base is None else base.attribute(field.name)
            try:
                values[field.name] = written(field, getattr(instance, field.keyword), was)
            except cty.CtyError as error:
                raise error.under(cty.GetAttr(field.name)) from None
        return cty.object_value(values)

    def to_instance(self, value: cty.Value, shows_unknown: bool = False) -> object:
        """Create an instance from `value`; null and unknown attributes get the field's default.

        With `shows_unknown` unknown ones are `UNKNOWN`. Raises `CtyError` for a value that the
        fields cannot represent.
        """
        given: dict[str, object] = {}
        for field in self.fields:
            part = value.attribute(field.name)
            if part.is_null:
                given[field.keyword] = field.fallback()
                continue
            try:
                given[field.keyword] = _read(field, part, shows_unknown)
            except cty.CtyError as error:
                raise error.under(cty.GetAttr(field.name)) from None
        try:
            return make_model(self.owner, given)
        except (cty.CtyError, ProviderError):
            raise
        except Exception as error:  # other people's constructors may raise anything
            raise cty.CtyError(failure_text(error)) from error


# -- values -----------------------------------------------------------------------------------


def _read(field: Field, value: cty.Value, shows_unknown: bool) -> object:
    holds = field.holds
    is_open = not value.is_known or (isinstance(holds, Shape) and not value.is_wholly_known)
    if is_open:
        return UNKNOWN if shows_unknown else field.fallback()
    if isinstance(holds, Shape):
        return holds.read(value)
    if holds.is_one:
        return holds.fields.to_instance(value, shows_unknown)
    found: dict[int | str, object] = {}
    is_map = holds.nesting is Nesting.MAP
    parts = value.mapping().items() if is_map else enumerate(value.elements())
    for key, part in parts:
        try:
            found[key] = _element(holds, part, shows_unknown)
        except cty.CtyError as error:
            step = cty.Index(part) if holds.nesting is Nesting.SET else index_step(key)
            raise error.under(step) from None
    return found if is_map else holds.make(found.values())


def _element(holds: Objects, part: cty.Value, shows_unknown: bool) -> object:
    if part.is_null and holds.takes_none:
        return None
    if part.is_null:
        raise cty.CtyError("it must not be null")
    if not part.is_known:
        raise cty.CtyError("it is unknown")
    return holds.fields.to_instance(part, shows_unknown)


def written(field: Field, obj: object, base: cty.Value | None = None) -> cty.Value:
    """Convert the content of an instance's field to a value."""
    if obj is UNKNOWN:
        return base if base is not None and not base.is_wholly_known else cty.unknown(field.type)
    if obj is None:
        schema = field.schema
        return empty_nested(schema) if isinstance(schema, NestedBlock) else cty.null(field.type)
    holds = field.holds
    if isinstance(holds, Shape):
        if base is not None and _is_unchanged(holds, obj, base):
            return base
        if not holds.accepts(obj):
            raise cty.CtyError(f"{holds.type.with_article()} is required, not {_kind_of(obj)}")
        return holds.write(obj)
    if holds.is_one:
        return _object(holds, obj, base)
    if holds.nesting is Nesting.MAP:
        if not isinstance(obj, Mapping):
            raise cty.CtyError(f"a dict is required, not {_kind_of(obj)}")
        was = {} if base is None or not base.is_known or base.is_null else base.mapping()
        return holds.keyed({key: _object(holds, each, was.get(key)) for key, each in obj.items()})
    if not isinstance(obj, list | tuple | set | frozenset):
        raise cty.CtyError(f"a {holds.nesting.value} is required, not {_kind_of(obj)}")
    before: list[cty.Value] = []
    if holds.nesting is Nesting.LIST and base is not None and base.is_known and not base.is_null:
        before = list(base.elements())
    return holds.collected(
        [
            _object(holds, each, before[index] if index < len(before) else None)
            for index, each in enumerate(obj)
        ]
    )


def _is_unchanged(shape: Shape, obj: object, base: cty.Value) -> bool:
    if base.is_null or not base.is_wholly_known:
        return False
    try:
        before = shape.read(base)
    except cty.CtyError:
        return False
    return type(before) is type(obj) and before == obj


def _object(holds: Objects, obj: object, base: cty.Value | None) -> cty.Value:
    if obj is None and holds.takes_none:
        return cty.null(holds.fields.block.implied_type)
    owner = holds.fields.owner
    if not isinstance(obj, owner):
        raise cty.CtyError(f"a {owner.__name__} is required, not {_kind_of(obj)}")
    has_base = base is not None and base.is_known and not base.is_null
    return holds.fields.to_value(obj, base if has_base else None)


def _kind_of(obj: object) -> str:
    return "None" if obj is None else f"an object of {type(obj).__name__}"
