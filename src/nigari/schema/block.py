"""Block schemas, and the types they imply.

A block has attributes and nested blocks; an attribute has a type or nested attributes. Everything
here is frozen; the implied types are computed once and cached. Deliberately unknown here: the
origin of a schema, and the source text of a configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cached_property

from nigari import cty
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Never


_NONE: Final[Mapping[str, Never]] = {}


class Nesting(Enum):
    """Number of nested objects, and the collection that holds them."""

    SINGLE = "single"
    GROUP = "group"
    """Like single, but an absent block equals one without any arguments."""
    LIST = "list"
    SET = "set"
    MAP = "map"


@record
class Attribute:
    """An argument, a result, or both. Exactly one of `type` and `nested` is set."""

    type: cty.Type | None = None
    nested: NestedAttributes | None = None
    required: bool = False
    optional: bool = False
    computed: bool = False
    sensitive: bool = False
    write_only: bool = False
    description: str = ""
    markdown: bool = False
    deprecated: bool = False
    deprecation_message: str = ""

    @property
    def spec_type(self) -> cty.Type:
        """Type to which a configured value is converted; it may have optional attributes."""
        if self.nested is not None:
            return self.nested.spec_type
        return self.type if self.type is not None else cty.DYNAMIC

    @property
    def implied_type(self) -> cty.Type:
        """Type of the attribute's value."""
        if self.nested is not None:
            return self.nested.implied_type
        return self.type if self.type is not None else cty.DYNAMIC


@record
class NestedAttributes:
    """Attributes inside an attribute, written with `=` as an object or a collection of objects."""

    __slots__ = ("__dict__",)

    attributes: Mapping[str, Attribute]
    nesting: Nesting = Nesting.SINGLE

    @cached_property
    def spec_type(self) -> cty.Type:
        optional = frozenset(n for n, a in self.attributes.items() if a.optional or a.computed)
        types = {name: attribute.spec_type for name, attribute in self.attributes.items()}
        return _collected(self.nesting, cty.ObjectType(types, optional))

    @cached_property
    def implied_type(self) -> cty.Type:
        return cty.without_optional(self.spec_type)

    @cached_property
    def has_sensitive(self) -> bool:
        return any(
            a.sensitive or (a.nested is not None and a.nested.has_sensitive)
            for a in self.attributes.values()
        )

    @cached_property
    def has_write_only(self) -> bool:
        return any(
            a.write_only or (a.nested is not None and a.nested.has_write_only)
            for a in self.attributes.values()
        )

    @cached_property
    def has_deprecated(self) -> bool:
        return any(
            a.deprecated or (a.nested is not None and a.nested.has_deprecated)
            for a in self.attributes.values()
        )


@record
class NestedBlock:
    """A type of nested block, and its allowed number."""

    block: Block
    nesting: Nesting
    min_items: int = 0
    max_items: int = 0
    """Zero means unlimited."""
    computed: bool = False
    """True if the provider may add blocks where none is configured."""
    is_stored_if_null: bool = True
    """False if states leave out its null, for programs whose schema lacks the block."""

    @property
    def spec_type(self) -> cty.Type:
        """Type of all blocks of this type together.

        If the nested type is open, elements may differ in type, so that the type of lists and maps
        is open as well.
        """
        inner = self.block.spec_type
        if inner.has_dynamic and self.nesting in (Nesting.LIST, Nesting.MAP):
            return cty.DYNAMIC
        return _collected(self.nesting, inner)


@record
class Block:
    """The body of a block: its attributes and nested block types."""

    __slots__ = ("__dict__",)

    attributes: Mapping[str, Attribute] = _NONE
    blocks: Mapping[str, NestedBlock] = _NONE
    description: str = ""
    markdown: bool = False
    deprecated: bool = False
    deprecation_message: str = ""

    @cached_property
    def spec_type(self) -> cty.Type:
        """Type to which a configured body is converted; it may have optional attributes."""
        types = {name: attribute.spec_type for name, attribute in self.attributes.items()}
        for name, nested in self.blocks.items():
            types.setdefault(name, nested.spec_type)
        return cty.ObjectType(types)

    @cached_property
    def implied_type(self) -> cty.ObjectType:
        """Type of every value of this block: configuration, plan and state."""
        implied = cty.without_optional(self.spec_type)
        assert isinstance(implied, cty.ObjectType)
        return implied

    @cached_property
    def cache(self) -> dict[str, object]:
        """Cache for other modules, for data derived from this block."""
        return {}

    @cached_property
    def unstored_nulls(self) -> tuple[str, ...]:
        """Blocks that are left out of stored and shown objects if they are null."""
        return tuple(name for name, nested in self.blocks.items() if not nested.is_stored_if_null)

    @cached_property
    def has_computed_blocks(self) -> bool:
        return any(
            nested.computed or nested.block.has_computed_blocks for nested in self.blocks.values()
        )

    @cached_property
    def has_sensitive(self) -> bool:
        return any(
            a.sensitive or (a.nested is not None and a.nested.has_sensitive)
            for a in self.attributes.values()
        ) or any(nested.block.has_sensitive for nested in self.blocks.values())

    @cached_property
    def has_write_only(self) -> bool:
        return any(
            a.write_only or (a.nested is not None and a.nested.has_write_only)
            for a in self.attributes.values()
        ) or any(nested.block.has_write_only for nested in self.blocks.values())

    @cached_property
    def has_deprecated(self) -> bool:
        """True if the provider deprecates anything in it, or all of it."""
        return (
            self.deprecated
            or any(
                a.deprecated or (a.nested is not None and a.nested.has_deprecated)
                for a in self.attributes.values()
            )
            or any(nested.block.has_deprecated for nested in self.blocks.values())
        )


def _collected(nesting: Nesting, element: cty.Type) -> cty.Type:
    if nesting is Nesting.LIST:
        return cty.ListType(element)
    if nesting is Nesting.SET:
        return cty.SetType(element)
    if nesting is Nesting.MAP:
        return cty.MapType(element)
    return element
