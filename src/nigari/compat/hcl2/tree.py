"""Intermediate stages of python-hcl2 between source and data, each represented by the source.

python-hcl2 has a separate tree for each stage; here a `Tree` and a `StartRule` hold the source, so
nothing is lost between them. The rule classes of its grammar are not supported: use the tree of
`nigari.hcl.parse` or, for changes, `nigari.hcl.edit`.
"""

from __future__ import annotations

import json
from functools import cached_property

from nigari.compat.hcl2.deserializer import DeserializerOptions, source_of_data
from nigari.compat.hcl2.formatter import FormatterOptions
from nigari.compat.hcl2.serializer import serialize_file
from nigari.compat.hcl2.utils import SerializationOptions
from nigari.hcl import PlainData
from nigari.hcl.evaluated import raise_for_errors
from nigari.hcl.native_body import NativeBody
from nigari.hcl.source import Source


class Tree:
    """Source whose syntax has been checked."""

    data = "start"

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def body(self) -> NativeBody:
        """The tree of this package; raises `HclError` for invalid source."""
        from nigari.diagnostics import Diagnostics
        from nigari.hcl.parser import parse_body

        source, diags = Source("<input>", self.text), Diagnostics()
        body = parse_body(source, diags)
        raise_for_errors(source, diags)
        return body


class StartRule:
    """A document that can be converted to data or back to source."""

    def __init__(self, tree: Tree, discard_comments: bool = False) -> None:
        self._tree = tree
        self._keeps_comments = not discard_comments

    def serialize(self, options: SerializationOptions | None = None) -> dict[str, PlainData]:
        """Convert the document to data."""
        body = self.to_lark().body
        return serialize_file(body, options or SerializationOptions(), self._keeps_comments)

    def to_lark(self) -> Tree:
        """Convert the document to its source."""
        return self._tree


class MadeDocument(StartRule):
    """A document created from data; its source is laid out on demand."""

    def __init__(self, data: object, options: DeserializerOptions) -> None:
        self._data = data
        self._options = options
        self.layout: FormatterOptions = FormatterOptions()
        super().__init__(self.to_lark())

    def to_lark(self) -> Tree:
        return Tree(source_of_data(self._data, self._options, self.layout))


class BaseDeserializer:
    """Converts data to documents."""

    def __init__(self, options: DeserializerOptions | None = None) -> None:
        self.options: DeserializerOptions = options or DeserializerOptions()

    def load_python(self, value: object) -> StartRule:
        """Convert data to a document."""
        return MadeDocument(value, self.options)

    def loads(self, value: str) -> StartRule:
        """Convert data in JSON to a document."""
        return self.load_python(json.loads(value))


class BaseFormatter:
    """Lays out documents that were created from data; others keep their layout."""

    def __init__(self, options: FormatterOptions | None = None) -> None:
        self.options: FormatterOptions = options or FormatterOptions()

    def format_tree(self, tree: StartRule) -> None:
        """Lay out a document."""
        if isinstance(tree, MadeDocument):
            tree.layout = self.options


class RuleTransformer:
    """Converts trees to documents."""

    def __init__(self, discard_new_line_or_comments: bool = False) -> None:
        self._discard = discard_new_line_or_comments

    def transform(self, tree: Tree) -> StartRule:
        """Convert a tree to a document."""
        return StartRule(tree, self._discard)


class HCLReconstructor:
    """Converts documents to source."""

    def reconstruct(self, tree: Tree | StartRule) -> str:
        """Convert a document to source."""
        return (tree.to_lark() if isinstance(tree, StartRule) else tree).text
