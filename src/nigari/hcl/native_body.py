"""Bodies in the native syntax.

Owns the selection of parsed items by a schema. The rules for items are in `body`, their parser in
`parse_structure`.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from nigari.cty.copying import reduced
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import (
    Attribute,
    Block,
    Body,
    BodySchema,
    Content,
    check_labels,
    report_missing_argument,
    report_unexpected_argument,
    report_unexpected_block,
    report_unwanted_block,
)
from nigari.hcl.source import Source
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_NONE: frozenset[str] = frozenset()
_PARAMETERS: Final = (
    "attributes",
    "blocks",
    "source",
    "start",
    "end",
    "hidden_attributes",
    "hidden_blocks",
)

_BEGINNING: Final = lazy_pattern(r"(?:[ \t]+|/\*.*?\*/)*", re.DOTALL)
"""Spaces and comments before the first item or line end of a file."""


class NativeBody(Body):
    """Arguments by name, and nested blocks in source order.

    `start` and `end` delimit the body, including its braces if it has any. `attributes` and
    `blocks` hold every item; `hidden_attributes` and `hidden_blocks` name those that an earlier
    `partial_content` selected.
    """

    __slots__ = (
        "attributes",
        "blocks",
        "end",
        "hidden_attributes",
        "hidden_blocks",
        "source",
        "start",
    )

    attributes: dict[str, Attribute]
    blocks: list[Block]
    source: Source
    start: int
    end: int
    hidden_attributes: frozenset[str]
    hidden_blocks: frozenset[str]

    def __init__(
        self,
        attributes: dict[str, Attribute],
        blocks: list[Block],
        source: Source,
        start: int,
        end: int,
        hidden_attributes: frozenset[str] = _NONE,
        hidden_blocks: frozenset[str] = _NONE,
    ) -> None:
        self.attributes = attributes
        self.blocks = blocks
        self.source = source
        self.start = start
        self.end = end
        self.hidden_attributes = hidden_attributes
        self.hidden_blocks = hidden_blocks

    def __repr__(self) -> str:
        names = [*self.attributes, *(block.type for block in self.blocks)]
        return f"<NativeBody {', '.join(names)}>" if names else "<NativeBody, empty>"

    @property
    def range(self) -> Range:
        """Range of the body, including its braces if it has any."""
        return self.source.range(self.start, self.end)

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self, _PARAMETERS)

    def written_attributes(self) -> dict[str, Attribute]:
        return self.attributes

    def written_blocks(self) -> list[Block]:
        return self.blocks

    @property
    def missing_item_range(self) -> Range:
        """The opening brace, the argument of a single-line block, or the beginning of a file."""
        where = self.start
        text = self.source.text
        if where == 0:
            beginning = _BEGINNING.match(text)
            where = beginning.end() if beginning is not None else 0
        elif len(self.attributes) == 1 and not self.blocks:
            (only,) = self.attributes.values()
            if "\n" not in text[where : only.start]:
                where = only.start
        return self.source.range(where, where)

    def content(self, schema: BodySchema, diags: Diagnostics) -> Content:
        # What is written as a block by mistake is reported as such, and is not missing as well.
        content = self._select(schema, diags, {block.type for block in self.blocks})
        known = {wanted.name for wanted in schema.attributes}
        for name, attribute in self.attributes.items():
            if name not in known and name not in self.hidden_attributes:
                report_unexpected_argument(attribute, schema, content.attributes, diags)
        types = {wanted.type for wanted in schema.blocks}
        for block in self.blocks:
            if block.type not in types and block.type not in self.hidden_blocks:
                report_unexpected_block(block, schema, diags)
        return content

    def partial_content(self, schema: BodySchema, diags: Diagnostics) -> tuple[Content, Body]:
        content = self._select(schema, diags)
        rest = NativeBody(
            self.attributes,
            self.blocks,
            self.source,
            self.start,
            self.end,
            self.hidden_attributes | {wanted.name for wanted in schema.attributes},
            self.hidden_blocks | {wanted.type for wanted in schema.blocks},
        )
        return content, rest

    def just_attributes(self, diags: Diagnostics) -> dict[str, Attribute]:
        hidden_blocks = self.hidden_blocks
        for block in self.blocks:
            if block.type not in hidden_blocks:
                report_unwanted_block(block, diags)
                # Body.JustAttributes: one error for the first block; others would
                # repeat it.
                break
        hidden = self.hidden_attributes
        if not hidden:
            return dict(self.attributes)
        return {name: item for name, item in self.attributes.items() if name not in hidden}

    def _select(
        self, schema: BodySchema, diags: Diagnostics, misplaced: Collection[str] = ()
    ) -> Content:
        attributes: dict[str, Attribute] = {}
        for wanted in schema.attributes:
            name = wanted.name
            attribute = self.attributes.get(name)
            if attribute is not None and name not in self.hidden_attributes:
                attributes[name] = attribute
            elif wanted.required and name not in misplaced:
                report_missing_argument(name, self.missing_item_range, diags)
        blocks: list[Block] = []
        if self.blocks:
            types = {wanted.type: wanted for wanted in schema.blocks}
            for block in self.blocks:
                block_schema = types.get(block.type)
                if block_schema is None or block.type in self.hidden_blocks:
                    continue
                if check_labels(block, block_schema, diags):
                    blocks.append(block)
        return Content(attributes, blocks, self)
