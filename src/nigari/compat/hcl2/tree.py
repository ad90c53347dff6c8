"""The stages of python-hcl2 between source and data, each of which is the source here.

python-hcl2 has a tree of its own kind for each stage; here a `Tree` and a `StartRule` hold the
source, so nothing is lost between them. The rules of its grammar are not there: the tree to work
with is that of `nigari.hcl.parse` or, for changes, `nigari.hcl.edit`.
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
    """Source that has been checked."""

    data = "start"

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def body(self) -> NativeBody:
        """The tree of this package; `HclError` for source that is wrong."""
        from nigari.diagnostics import Diagnostics
        from nigari.hcl.parser import parse_body

        source, diags = Source("<input>", self.text), Diagnostics()
        body = parse_body(source, diags)
        raise_for_errors(source, diags)
        return body


class StartRule:
    """A document that can be made data, or source again."""

    def __init__(self, tree: Tree, discard_comments: bool = False) -> None:
        self._tree = tree
        self._keeps_comments = not discard_comments

    def serialize(self, options: SerializationOptions | None = None) -> dict[str, PlainData]:
        """The document as data."""
        body = self.to_lark().body
        return serialize_file(body, options or SerializationOptions(), self._keeps_comments)

    def to_lark(self) -> Tree:
        """The source of the document."""
        return self._tree


class MadeDocument(StartRule):
    """A document made from data; it is laid out when someone wants its source."""

    def __init__(self, data: object, options: DeserializerOptions) -> None:
        self._data = data
        self._options = options
        self.layout: FormatterOptions = FormatterOptions()
        super().__init__(self.to_lark())

    def to_lark(self) -> Tree:
        return Tree(source_of_data(self._data, self._options, self.layout))


class BaseDeserializer:
    """Data to documents."""

    def __init__(self, options: DeserializerOptions | None = None) -> None:
        self.options: DeserializerOptions = options or DeserializerOptions()

    def load_python(self, value: object) -> StartRule:
        """The document of data."""
        return MadeDocument(value, self.options)

    def loads(self, value: str) -> StartRule:
        """The document of data in JSON."""
        return self.load_python(json.loads(value))


class BaseFormatter:
    """The layout of documents that were made from data; others keep theirs."""

    def __init__(self, options: FormatterOptions | None = None) -> None:
        self.options: FormatterOptions = options or FormatterOptions()

    def format_tree(self, tree: StartRule) -> None:
        """Lay out a document."""
        if isinstance(tree, MadeDocument):
            tree.layout = self.options


class RuleTransformer:
    """Trees to documents."""

    def __init__(self, discard_new_line_or_comments: bool = False) -> None:
        self._discard = discard_new_line_or_comments

    def transform(self, tree: Tree) -> StartRule:
        """The document of a tree."""
        return StartRule(tree, self._discard)


class HCLReconstructor:
    """Documents to source."""

    def reconstruct(self, tree: Tree | StartRule) -> str:
        """The source of a document."""
        return (tree.to_lark() if isinstance(tree, StartRule) else tree).text
