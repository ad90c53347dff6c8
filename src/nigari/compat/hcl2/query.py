"""Lookups in a document: its blocks and arguments by name.

The pipelines and predicates of python-hcl2's query language are not supported: use Python
comprehensions, or the full tree from `nigari.hcl.parse`.
"""

from __future__ import annotations

from os import PathLike

from nigari.compat.hcl2.const import COMMENTS_KEY
from nigari.compat.hcl2.serializer import Serializer, comments_of
from nigari.compat.hcl2.tree import Tree
from nigari.compat.hcl2.utils import SerializationOptions
from nigari.hcl.body import Attribute, Block
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody

_PLAIN = SerializationOptions(with_comments=False)


class BodyView:
    """The content of a file or block."""

    def __init__(self, raw: NativeBody) -> None:
        self.raw = raw

    def blocks(self, block_type: str | None = None, *labels: str) -> list[BlockView]:
        """List the blocks of a type, or all, whose labels begin with these."""
        return [
            BlockView(block, self.raw)
            for block in self.raw.blocks
            if block_type in (None, block.type) and block.labels[: len(labels)] == list(labels)
        ]

    def attributes(self, name: str | None = None) -> list[AttributeView]:
        """List the arguments, or only the one of that name."""
        return [
            AttributeView(each, self.raw)
            for each in self.raw.attributes.values()
            if name in (None, each.name)
        ]

    def attribute(self, name: str) -> AttributeView | None:
        """Return the argument of that name, if there is one."""
        return next(iter(self.attributes(name)), None)


class DocumentView(BodyView):
    """A whole file."""

    @staticmethod
    def parse(text: str) -> DocumentView:
        """Parse a text."""
        return DocumentView(Tree(text).body)

    @staticmethod
    def parse_file(path: str | PathLike[str]) -> DocumentView:
        """Parse a file."""
        with open(path, encoding="utf-8") as opened:
            return DocumentView.parse(opened.read())

    @property
    def body(self) -> BodyView:
        """The content of the file."""
        return BodyView(self.raw)


class _Item:
    """Common base of blocks and arguments."""

    def __init__(self, raw: Block | Attribute, owner: NativeBody) -> None:
        self._item = raw
        self._owner = owner

    def to_hcl(self) -> str:
        """Return the item's source."""
        return self._item.source.text[self._item.start : self._item.end]

    def _with_comments(
        self, data: dict[str, object], options: SerializationOptions
    ) -> dict[str, object]:
        """Add the comments between this item and the previous one to the data."""
        if options.with_comments:
            others: list[Attribute | Block] = [
                *self._owner.attributes.values(),
                *self._owner.blocks,
            ]
            before = max([each.end for each in others if each.end <= self._item.start], default=0)
            found = [
                {"value": text}
                for start, end, text in comments_of(self._item.source.text)
                if before <= start and end <= self._item.start
            ]
            inner = data.get(COMMENTS_KEY, [])
            assert isinstance(inner, list)
            if found:
                data[COMMENTS_KEY] = [*found, *inner]
        return data


class AttributeView(_Item):
    """An argument."""

    def __init__(self, raw: Attribute, owner: NativeBody) -> None:
        super().__init__(raw, owner)
        self.raw = raw

    @property
    def name(self) -> str:
        """Name of the argument."""
        return self.raw.name

    @property
    def value(self) -> object:
        """The value in the shape of `loads`."""
        return Serializer(_PLAIN, []).value(self.raw.expr)

    @property
    def value_node(self) -> Expression:
        """Expression of the value, unevaluated."""
        return self.raw.expr

    def to_dict(self, options: SerializationOptions | None = None) -> dict[str, object]:
        """Convert the argument to data."""
        options = options or _PLAIN
        value = Serializer(options, []).value(self.raw.expr)
        return self._with_comments({self.name: value}, options)


class BlockView(_Item):
    """A block."""

    def __init__(self, raw: Block, owner: NativeBody) -> None:
        super().__init__(raw, owner)
        self.raw = raw

    @property
    def block_type(self) -> str:
        """Type of the block."""
        return self.raw.type

    @property
    def name_labels(self) -> list[str]:
        """Labels of the block."""
        return list(self.raw.labels)

    @property
    def labels(self) -> list[str]:
        """The type and the labels."""
        return [self.raw.type, *self.raw.labels]

    @property
    def body(self) -> BodyView:
        """The content of the block."""
        assert isinstance(self.raw.body, NativeBody)
        return BodyView(self.raw.body)

    def blocks(self, block_type: str | None = None, *labels: str) -> list[BlockView]:
        """List the blocks inside this one."""
        return self.body.blocks(block_type, *labels)

    def attributes(self, name: str | None = None) -> list[AttributeView]:
        """List the arguments of this block."""
        return self.body.attributes(name)

    def attribute(self, name: str) -> AttributeView | None:
        """Return the argument of that name in this block, if there is one."""
        return self.body.attribute(name)

    def to_dict(self, options: SerializationOptions | None = None) -> dict[str, object]:
        """Convert the block to data, wrapped in its labels."""
        options = options or _PLAIN
        comments = comments_of(self.raw.source.text) if options.with_comments else []
        return self._with_comments(Serializer(options, comments).block(self.raw), options)
