"""Bodies of all syntaxes: arguments and nested blocks, selected by a schema.

A schema is applied late, so that a caller can read the part it knows and pass on the rest. The
rules about unknown, missing and mislabelled items are here and apply to all syntaxes. Deliberately
unknown here: the syntax of a body, and the meaning of its expressions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from nigari.cty.copying import reduced
from nigari.cty.values import NO_MARKS, Mark
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.expressions import Expression
from nigari.hcl.quoting import at_the_start, with_article
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean, did_you_mean_name


class AttributeSchema:
    """An attribute that a body may have, or must have."""

    __slots__ = ("name", "required")

    name: str
    required: bool

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def __init__(self, name: str, required: bool = False) -> None:
        self.name = name
        self.required = required


class BlockSchema:
    """A type of nested block, and the names of its labels."""

    __slots__ = ("labels", "type")

    type: str
    labels: tuple[str, ...]

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def __init__(self, type: str, labels: tuple[str, ...] = ()) -> None:
        self.type = type
        self.labels = labels


class BodySchema:
    """The arguments and blocks that a caller selects from a body."""

    __slots__ = ("attributes", "blocks")

    attributes: tuple[AttributeSchema, ...]
    blocks: tuple[BlockSchema, ...]

    def __init__(
        self,
        attributes: tuple[AttributeSchema, ...] = (),
        blocks: tuple[BlockSchema, ...] = (),
    ) -> None:
        self.attributes = attributes
        self.blocks = blocks

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)


class Attribute:
    """An argument: a name and the expression of its value."""

    __slots__ = ("end", "expr", "name", "name_end", "name_start", "source", "start")

    name: str
    expr: Expression
    source: Source
    start: int
    end: int
    name_start: int
    name_end: int

    def __init__(
        self,
        name: str,
        expr: Expression,
        source: Source,
        start: int,
        end: int,
        name_start: int,
        name_end: int,
    ) -> None:
        self.name = name
        self.expr = expr
        self.source = source
        self.start = start
        self.end = end
        self.name_start = name_start
        self.name_end = name_end

    def __repr__(self) -> str:
        return f"<Attribute {self.source.glimpse(self.start, self.end)}>"

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    @property
    def range(self) -> Range:
        """Range of the whole argument."""
        return self.source.range(self.start, self.end)

    @property
    def name_range(self) -> Range:
        """Range of the name."""
        return self.source.range(self.name_start, self.name_end)

    def with_expr(self, expr: Expression) -> Attribute:
        """Replace the expression."""
        return Attribute(
            self.name, expr, self.source, self.start, self.end, self.name_start, self.name_end
        )


class Block:
    """A nested block: a type, labels and its own body.

    `def_start` and `def_end` delimit the header; `open_start` is the offset of the opening brace.
    """

    __slots__ = (
        "body",
        "def_end",
        "def_start",
        "end",
        "label_spans",
        "labels",
        "open_start",
        "source",
        "start",
        "type",
        "type_end",
        "type_start",
    )

    type: str
    labels: list[str]
    body: Body
    source: Source
    start: int
    end: int
    type_start: int
    type_end: int
    label_spans: list[tuple[int, int]]
    def_start: int
    def_end: int
    open_start: int

    def __init__(
        self,
        type: str,
        labels: list[str],
        body: Body,
        source: Source,
        start: int,
        end: int,
        type_start: int,
        type_end: int,
        label_spans: list[tuple[int, int]],
        def_start: int,
        def_end: int,
        open_start: int,
    ) -> None:
        self.type = type
        self.labels = labels
        self.body = body
        self.source = source
        self.start = start
        self.end = end
        self.type_start = type_start
        self.type_end = type_end
        self.label_spans = label_spans
        self.def_start = def_start
        self.def_end = def_end
        self.open_start = open_start

    def __repr__(self) -> str:
        return f"<Block {self.source.glimpse(self.def_start, self.def_end)}>"

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    @property
    def range(self) -> Range:
        """Range of the whole block, including its braces."""
        return self.source.range(self.start, self.end)

    @property
    def attributes(self) -> dict[str, Attribute]:
        """Arguments of a block in the native syntax, by name."""
        return self.body.written_attributes()

    @property
    def blocks(self) -> list[Block]:
        """Nested blocks of a block in the native syntax, in order."""
        return self.body.written_blocks()

    @property
    def type_range(self) -> Range:
        """Range of the type."""
        return self.source.range(self.type_start, self.type_end)

    @property
    def label_ranges(self) -> list[Range]:
        """Ranges of the labels."""
        return [self.source.range(start, end) for start, end in self.label_spans]

    @property
    def def_range(self) -> Range:
        """Range of the header: type and labels."""
        return self.source.range(self.def_start, self.def_end)

    @property
    def open_range(self) -> Range:
        """Range of the opening brace."""
        return self.source.range(self.open_start, self.open_start + 1)

    def with_body(self, body: Body) -> Block:
        """Replace the body."""
        return Block(
            self.type,
            self.labels,
            body,
            self.source,
            self.start,
            self.end,
            self.type_start,
            self.type_end,
            self.label_spans,
            self.def_start,
            self.def_end,
            self.open_start,
        )


class Content:
    """The items that a schema selected from a body."""

    __slots__ = ("attributes", "blocks", "body")

    attributes: dict[str, Attribute]
    blocks: list[Block]
    body: Body

    def __init__(self, attributes: dict[str, Attribute], blocks: list[Block], body: Body) -> None:
        self.attributes = attributes
        self.blocks = blocks
        self.body = body

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    @property
    def missing_item_range(self) -> Range:
        """The range to report if something is missing from the body."""
        return self.body.missing_item_range

    def blocks_of(self, type: str) -> list[Block]:
        """Return the blocks of one type, in order."""
        return [block for block in self.blocks if block.type == type]


class Body:
    """Arguments and nested blocks in some syntax."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    @abstractmethod
    def content(self, schema: BodySchema, diags: Diagnostics) -> Content:
        """Select all items; those that the schema lacks are errors."""

    @abstractmethod
    def partial_content(self, schema: BodySchema, diags: Diagnostics) -> tuple[Content, Body]:
        """Select the items of the schema; the second result is a body with the rest."""

    def written_attributes(self) -> dict[str, Attribute]:
        """Return all arguments if the syntax alone distinguishes them from blocks; raise
        `TypeError` otherwise.
        """
        raise TypeError("a schema is needed to tell the arguments of this body from its blocks")

    def written_blocks(self) -> list[Block]:
        """Return all blocks if the syntax alone distinguishes them from arguments; raise
        `TypeError` otherwise.
        """
        raise TypeError("a schema is needed to tell the blocks of this body from its arguments")

    @abstractmethod
    def just_attributes(self, diags: Diagnostics) -> dict[str, Attribute]:
        """Return every argument; a nested block is an error."""

    @property
    @abstractmethod
    def missing_item_range(self) -> Range:
        """The range to report if something is missing from the body."""

    @property
    def unknown_causes(self) -> tuple[object, ...] | None:
        """Causes why the number of blocks with this body is unknown; None if it is known."""
        return None

    @property
    def marks(self) -> frozenset[Mark]:
        """Marks that every value decoded from this body carries."""
        return NO_MARKS


def merge_bodies(bodies: Sequence[Body]) -> Body:
    """Combine bodies into one; an argument in two of them is an error."""
    if len(bodies) == 1:
        return bodies[0]
    return MergedBody(bodies)


class MergedBody(Body):
    """Several bodies as one."""

    __slots__ = ("bodies",)

    def __init__(self, bodies: Sequence[Body]) -> None:
        self.bodies: tuple[Body, ...] = tuple(bodies)

    def content(self, schema: BodySchema, diags: Diagnostics) -> Content:
        content, _ = self._merge(schema, diags, False)
        return content

    def partial_content(self, schema: BodySchema, diags: Diagnostics) -> tuple[Content, Body]:
        content, rest = self._merge(schema, diags, True)
        return content, MergedBody(rest)

    def just_attributes(self, diags: Diagnostics) -> dict[str, Attribute]:
        merged: dict[str, Attribute] = {}
        for body in self.bodies:
            _add_attributes(merged, body.just_attributes(diags), diags)
        return merged

    @property
    def missing_item_range(self) -> Range:
        if not self.bodies:
            return Source("", "").range(0, 0)
        return self.bodies[0].missing_item_range

    def _merge(
        self, schema: BodySchema, diags: Diagnostics, partial: bool
    ) -> tuple[Content, list[Body]]:
        # A required argument may be in any of the bodies, so no single one must have it.
        optional = BodySchema(
            tuple([AttributeSchema(wanted.name) for wanted in schema.attributes]), schema.blocks
        )
        attributes: dict[str, Attribute] = {}
        blocks: list[Block] = []
        rest: list[Body] = []
        for body in self.bodies:
            if partial:
                content, remain = body.partial_content(optional, diags)
                rest.append(remain)
            else:
                content = body.content(optional, diags)
            _add_attributes(attributes, content.attributes, diags)
            blocks.extend(content.blocks)
        for wanted in schema.attributes:
            if wanted.required and wanted.name not in attributes:
                report_missing_argument(wanted.name, self.missing_item_range, diags)
        return Content(attributes, blocks, self), rest


def _add_attributes(
    merged: dict[str, Attribute], more: dict[str, Attribute], diags: Diagnostics
) -> None:
    for name, attribute in more.items():
        if name in merged:
            report_duplicate_argument(merged[name], attribute, diags)
        else:
            merged[name] = attribute


def check_labels(block: Block, schema: BlockSchema, diags: Diagnostics) -> bool:
    """Check the number of labels, and report a wrong one."""
    have, want = len(block.labels), len(schema.labels)
    if have > want:
        _report_extra_label(block, schema, diags)
    elif have < want:
        _report_missing_label(block, schema, diags)
    return have == want


def report_duplicate_argument(first: Attribute, second: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate argument",
        f'The argument "{second.name}" was already set at {first.name_range}. An argument can be '
        "set only once in a body.",
        second.name_range,
    )


def report_second_form(attribute: Attribute, where: Range, diags: Diagnostics) -> None:
    """Report an item that is written both as an argument and as blocks."""
    diags.error(
        "Argument and block of the same name",
        f'"{attribute.name}" can be written either as an argument or as nested blocks, and it is '
        f"already set as an argument at {attribute.name_range}. Use only one of the two forms.",
        where,
    )


def report_missing_argument(name: str, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Missing argument",
        f'The argument "{name}" is required, but it is not set. Add a line that sets it.',
        where,
    )


def report_unexpected_argument(
    attribute: Attribute, schema: BodySchema, given: dict[str, Attribute], diags: Diagnostics
) -> None:
    name = attribute.name
    # What is set already was hardly meant a second time.
    free = [wanted.name for wanted in schema.attributes if wanted.name not in given]
    hint = did_you_mean(name, free)
    if not hint and (meant := did_you_mean_name(name, [each.type for each in schema.blocks])):
        hint = f' "{meant}" is a block: write it without the equals sign, as {meant} {{ ... }}.'
    diags.error(
        "Unexpected argument",
        f'There is no argument named "{name}" here.{hint}',
        attribute.name_range,
    )


def report_unexpected_block(block: Block, schema: BodySchema, diags: Diagnostics) -> None:
    hint = did_you_mean(block.type, [wanted.type for wanted in schema.blocks])
    if not hint and (
        meant := did_you_mean_name(block.type, [each.name for each in schema.attributes])
    ):
        hint = f' "{meant}" is an argument: set it with an equals sign, as {meant} = ...'
    diags.error(
        "Unexpected block",
        f'There is no block type "{block.type}" here.{hint}',
        block.type_range,
    )


def report_unwanted_block(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Unexpected block",
        f'Only arguments are allowed here, and "{block.type}" is a block. To set an argument, '
        f"use an equals sign: {block.type} = {{ ... }}.",
        block.type_range,
    )


def _a_block(block: Block) -> str:
    return f"{at_the_start(with_article(block.type))} block"


def _report_extra_label(block: Block, schema: BlockSchema, diags: Diagnostics) -> None:
    want = schema.labels
    if want:
        detail = f"{_a_block(block)} takes {_count(len(want))} ({', '.join(want)}) and no more."
    else:
        detail = f"{_a_block(block)} takes no labels."
    # The first superfluous label is where the mistake begins.
    start, end = block.label_spans[len(want)]
    diags.error(
        "Too many block labels", detail, block.source.range(start, end), _header_range(block)
    )


def _report_missing_label(block: Block, schema: BlockSchema, diags: Diagnostics) -> None:
    want = schema.labels
    missing = want[len(block.labels)]
    diags.error(
        "Missing block label",
        f"{_a_block(block)} takes {_count(len(want))} ({', '.join(want)}): write the {missing}"
        " in quotes before the opening brace.",
        block.open_range,
        _header_range(block),
    )


def _header_range(block: Block) -> Range:
    return block.source.range(block.def_start, max(block.open_start + 1, block.def_end))


def _count(labels: int) -> str:
    return "one label" if labels == 1 else f"{labels} labels"
