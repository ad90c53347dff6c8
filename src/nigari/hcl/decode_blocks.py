"""Specification pieces that read nested blocks.

The blocks of a type become one value, a list, a set, a tuple, or maps and objects keyed by labels.
Limits on the number of blocks are checked here. Pieces for arguments, and the combination of
pieces, are in `nigari.hcl.decode`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import DYNAMIC, ListType, MapType, SetType, Type, without_optional
from nigari.cty.unify import unify
from nigari.cty.unknown import join_causes
from nigari.cty.values import (
    EMPTY_OBJECT,
    NO_MARKS,
    Value,
    list_value,
    map_value,
    null,
    object_value,
    set_value,
    tuple_value,
    unknown,
)
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Block, BlockSchema, Content
from nigari.hcl.decode import (
    Labels,
    Spec,
    convert_or_report,
    decode_block_body,
    label_names,
    labels_of,
    schema_of,
    variables,
)
from nigari.hcl.quoting import quoted, with_article
from nigari.hcl.scope import Scope
from nigari.hcl.traversal import Traversal


class BlocksSpec(Spec):
    """A piece that reads all blocks of one type, each with the same nested specification."""

    __slots__ = ("nested", "type_name")

    type_name: str
    nested: Spec

    def __init__(self, type_name: str, nested: Spec) -> None:
        self.type_name = type_name
        self.nested = nested

    def label_names(self) -> tuple[str, ...]:
        """List the label names of such a block."""
        return label_names(self.nested)

    def blocks(self) -> Sequence[BlockSchema]:
        return (BlockSchema(self.type_name, self.label_names()),)

    def own_variables(self, content: Content) -> list[Traversal]:
        return [
            traversal
            for block in content.blocks_of(self.type_name)
            for traversal in variables(block.body, self.nested)
        ]

    def place(self, content: Content, labels: Labels) -> Range:
        blocks = content.blocks_of(self.type_name)
        return self.place_of(blocks[0]) if blocks else content.missing_item_range

    def place_of(self, block: Block) -> Range:
        """Return the range that the value of one of the blocks comes from."""
        inner, _ = block.body.partial_content(schema_of(self.nested), Diagnostics())
        # The first labels belong to this piece, the rest to the nested one.
        own = len(self.label_names()) - len(label_names(self.nested))
        return self.nested.place(inner, labels_of(block)[own:])

    def decode_one(self, block: Block, scope: Scope, diags: Diagnostics, skip: int = 0) -> Value:
        """Decode one block whose first `skip` labels are already consumed."""
        # Each argument already carries the marks of the block. The nested specification decides
        # whether the whole value carries them too.
        labels = labels_of(block)[skip:]
        return decode_block_body(block.body, labels, self.nested, scope, diags)

    def unknown_result(self, blocks: list[Block]) -> Value | None:
        """Return an unknown value if it is unknown which blocks exist, otherwise None."""
        causes: tuple[object, ...] = ()
        marks = NO_MARKS
        is_unknown = False
        for block in blocks:
            marks = marks | block.body.marks
            if block.body.unknown_causes is not None:
                is_unknown = True
                causes = join_causes(causes, block.body.unknown_causes)
        return self.placeholder.with_causes(causes).with_marks(marks) if is_unknown else None

    def report_difference(self, block: Block, why: str, diags: Diagnostics) -> None:
        diags.error(
            "Blocks of different types",
            f'All "{self.type_name}" blocks must have values of the same types: {why}.',
            self.place_of(block),
        )


def alike(values: list[Value]) -> tuple[Type, list[Value]]:
    """Convert values to one common type; raise a `CtyError` if there is none."""
    # A value of unknown type adopts the type of the others.
    types = [value.type for value in values if value.type is not DYNAMIC] or [DYNAMIC]
    element = unify(types, unsafe=True)
    if element is None:
        raise CtyError("their values have no type in common")
    converted = [convert(value, element) for value in values]
    if any(value.type != converted[0].type for value in converted):
        raise CtyError("their values have no type in common")
    return converted[0].type, converted


class SingleBlock(BlocksSpec):
    """At most one block; null if there is none."""

    __slots__ = ("required",)

    required: bool

    def __init__(self, type_name: str, nested: Spec, required: bool = False) -> None:
        super().__init__(type_name, nested)
        self.required = required

    @property
    def implied_type(self) -> Type:
        return self.nested.implied_type

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        block = only_block(content, self.type_name, self.required, diags)
        if block is None:
            return null(without_optional(self.implied_type))
        return self.decode_one(block, scope, diags)


def only_block(
    content: Content, type_name: str, required: bool, diags: Diagnostics
) -> Block | None:
    """Return the only block of a type, if there is one; more than one is an error."""
    blocks = content.blocks_of(type_name)
    if not blocks:
        if required:
            diags.error(
                "Missing block",
                f'A block of type "{type_name}" is required here.',
                content.missing_item_range,
            )
        return None
    # BlockSpec: the second block is the mistake, the first one may be right.
    if len(blocks) > 1:
        diags.error(
            "Duplicate block",
            f'Only one block of type "{type_name}" is allowed here. The first is at '
            f"{blocks[0].def_range}.",
            blocks[1].def_range,
        )
    return blocks[0]


class RepeatedBlocks(BlocksSpec):
    """Any number of blocks within limits."""

    __slots__ = ("max_items", "min_items")

    min_items: int
    max_items: int

    def __init__(
        self, type_name: str, nested: Spec, min_items: int = 0, max_items: int = 0
    ) -> None:
        super().__init__(type_name, nested)
        self.min_items = min_items
        self.max_items = max_items
        """Zero means unlimited."""

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        blocks = content.blocks_of(self.type_name)
        values = [self.decode_one(block, scope, diags) for block in blocks]
        unknown_ = self.unknown_result(blocks)
        # hcldec (dynblock.UnknownBody): with an unknown number of blocks, even their
        # limits cannot be checked.
        if unknown_ is not None:
            return unknown_
        self._check_count(blocks, content, diags)
        return self.collect(values, blocks, diags)

    def _check_count(self, blocks: list[Block], content: Content, diags: Diagnostics) -> None:
        if len(blocks) < self.min_items:
            diags.error(
                "Too few blocks",
                f'At least {self.min_items} blocks of type "{self.type_name}" are required here.',
                content.missing_item_range,
            )
        elif 0 < self.max_items < len(blocks):
            diags.error(
                "Too many blocks",
                f'At most {self.max_items} blocks of type "{self.type_name}" are allowed here.',
                self.place_of(blocks[self.max_items]),
            )

    @abstractmethod
    def collect(self, values: list[Value], blocks: list[Block], diags: Diagnostics) -> Value:
        """Combine the blocks' values into a collection."""

    def unified(
        self, values: list[Value], blocks: list[Block], diags: Diagnostics
    ) -> tuple[Type, list[Value]] | None:
        """Convert the values to a common type, and report a failure."""
        if not values:
            return without_optional(self.nested.implied_type), []
        try:
            return alike(values)
        except CtyError as error:
            self.report_difference(blocks[0], error.message, diags)
            return None


class BlockList(RepeatedBlocks):
    """A list of the blocks' values."""

    __slots__ = ()

    @property
    def implied_type(self) -> Type:
        return ListType(self.nested.implied_type)

    def collect(self, values: list[Value], blocks: list[Block], diags: Diagnostics) -> Value:
        unified = self.unified(values, blocks, diags)
        return unknown(DYNAMIC) if unified is None else list_value(*unified)


class BlockSet(RepeatedBlocks):
    """A set of the blocks' values."""

    __slots__ = ()

    @property
    def implied_type(self) -> Type:
        return SetType(self.nested.implied_type)

    def collect(self, values: list[Value], blocks: list[Block], diags: Diagnostics) -> Value:
        unified = self.unified(values, blocks, diags)
        return unknown(DYNAMIC) if unified is None else set_value(*unified)


class BlockTuple(RepeatedBlocks):
    """A tuple of the blocks' values, which may differ in type."""

    __slots__ = ()

    @property
    def implied_type(self) -> Type:
        return DYNAMIC

    def collect(self, values: list[Value], blocks: list[Block], diags: Diagnostics) -> Value:
        return tuple_value(values)


class LabelledBlocks(BlocksSpec):
    """Blocks distinguished by their first labels, which become keys."""

    __slots__ = ("key_labels",)

    def __init__(self, type_name: str, key_labels: Sequence[str], nested: Spec) -> None:
        super().__init__(type_name, nested)
        if not key_labels:
            raise ValueError("block types that are keyed by labels need at least one label")
        self.key_labels: tuple[str, ...] = tuple(key_labels)

    def label_names(self) -> tuple[str, ...]:
        return self.key_labels + label_names(self.nested)

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        blocks = content.blocks_of(self.type_name)
        unknown_ = self.unknown_result(blocks)
        if unknown_ is not None:
            return unknown_
        depth = len(self.key_labels)
        found: dict[tuple[str, ...], Value] = {}
        for block in blocks:
            value = self.decode_one(block, scope, diags, depth)
            key = tuple(block.labels[:depth])
            if key in found:
                self._report_duplicate(block, diags)
            else:
                found[key] = value
        try:
            return self.collect(found)
        except CtyError as error:
            self.report_difference(blocks[0], error.message, diags)
            return self.placeholder

    def _report_duplicate(self, block: Block, diags: Diagnostics) -> None:
        named = " ".join([quoted(label) for label in block.labels[: len(self.key_labels)]])
        diags.error(
            "Duplicate block",
            f"There is already {with_article(self.type_name)} block {named}. Its labels must be unique.",
            block.def_range,
        )

    @abstractmethod
    def collect(self, found: dict[tuple[str, ...], Value]) -> Value:
        """Combine the blocks' values into nested collections keyed by label."""


def _grouped(found: dict[tuple[str, ...], Value]) -> dict[str, dict[tuple[str, ...], Value]]:
    """Group the values by the first element of their keys."""
    groups: dict[str, dict[tuple[str, ...], Value]] = {}
    for key, value in found.items():
        groups.setdefault(key[0], {})[key[1:]] = value
    return groups


class BlockMap(LabelledBlocks):
    """Nested maps of the blocks' values, one level for each label."""

    __slots__ = ()

    @property
    def implied_type(self) -> Type:
        type_ = self.nested.implied_type
        for _ in self.key_labels:
            type_ = MapType(type_)
        return type_

    def collect(self, found: dict[tuple[str, ...], Value]) -> Value:
        return self._maps(found, without_optional(self.implied_type))

    def _maps(self, found: dict[tuple[str, ...], Value], type_: Type) -> Value:
        if not isinstance(type_, MapType) or () in found:
            return found[()]
        groups = {key: self._maps(group, type_.element) for key, group in _grouped(found).items()}
        if not groups:
            return map_value(type_.element, {})
        element, values = alike(list(groups.values()))
        return map_value(element, dict(zip(groups, values, strict=True)))


class BlockObject(LabelledBlocks):
    """Nested objects of the blocks' values, one level for each label."""

    __slots__ = ()

    @property
    def implied_type(self) -> Type:
        return DYNAMIC

    def collect(self, found: dict[tuple[str, ...], Value]) -> Value:
        if not found:
            return EMPTY_OBJECT
        if () in found:
            return found[()]
        return object_value({key: self.collect(group) for key, group in _grouped(found).items()})


class BlockAttrs(Spec):
    """A map of all arguments of a block, regardless of their names."""

    __slots__ = ("element", "required", "type_name")

    type_name: str
    element: Type
    required: bool

    def __init__(self, type_name: str, element: Type, required: bool = False) -> None:
        self.type_name = type_name
        self.element = element
        self.required = required

    @property
    def implied_type(self) -> Type:
        return MapType(self.element)

    def blocks(self) -> Sequence[BlockSchema]:
        return (BlockSchema(self.type_name),)

    def own_variables(self, content: Content) -> list[Traversal]:
        found: list[Traversal] = []
        for block in content.blocks_of(self.type_name)[:1]:
            for attribute in block.body.just_attributes(Diagnostics()).values():
                found.extend(attribute.expr.variables())
        return found

    def place(self, content: Content, labels: Labels) -> Range:
        blocks = content.blocks_of(self.type_name)
        return blocks[0].def_range if blocks else content.missing_item_range

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        block = only_block(content, self.type_name, self.required, diags)
        if block is None:
            return null(without_optional(self.implied_type))
        element = without_optional(self.element)
        values: dict[str, Value] = {}
        for name, attribute in block.body.just_attributes(diags).items():
            value = attribute.expr.value(scope, diags)
            values[name] = convert_or_report(value, self.element, attribute, scope, diags)
        # BlockAttrsSpec: elements of a known type were converted to it above.
        if not element.has_dynamic or not values:
            return map_value(element, values)
        try:
            element, alike_values = alike(list(values.values()))
        except CtyError as error:
            diags.error(
                "Arguments of different types",
                f'All arguments of a "{self.type_name}" block must have the same type: '
                f"{error.message}.",
                block.def_range,
            )
            return self.placeholder
        return map_value(element, dict(zip(values, alike_values, strict=True)))
