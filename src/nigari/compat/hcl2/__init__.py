"""python-hcl2 (version 8) on top of this package: `import nigari.compat.hcl2 as hcl2`.

Supported are `load` and `loads`, `dump` and `dumps`, `Builder`, the options of both directions, the
intermediate stages, and lookups with `query`; its query language and grammar classes are not. A
text with mistakes raises an `HclError`, a `ValueError` with their source ranges.
docs/migration/python-hcl2.md lists the other differences and their reasons.
"""

from __future__ import annotations

import json
from typing import Protocol

from nigari.compat.hcl2.builder import Builder
from nigari.compat.hcl2.deserializer import DeserializerOptions
from nigari.compat.hcl2.formatter import FormatterOptions
from nigari.compat.hcl2.query import AttributeView, BlockView, BodyView, DocumentView
from nigari.compat.hcl2.tree import (
    BaseDeserializer,
    BaseFormatter,
    HCLReconstructor,
    RuleTransformer,
    StartRule,
    Tree,
)
from nigari.compat.hcl2.utils import SerializationOptions
from nigari.hcl import PlainData
from nigari.hcl.errors import HclError
from nigari.version import VERSION

__version__ = VERSION

__all__ = [
    "AttributeView",
    "BlockView",
    "BodyView",
    "Builder",
    "DeserializerOptions",
    "DocumentView",
    "FormatterOptions",
    "HclError",
    "SerializationOptions",
    "StartRule",
    "Tree",
    "__version__",
    "dump",
    "dumps",
    "from_dict",
    "from_json",
    "load",
    "loads",
    "parse",
    "parse_to_tree",
    "parses",
    "parses_to_tree",
    "query",
    "reconstruct",
    "serialize",
    "transform",
]


class TextInput(Protocol):
    """An open text file."""

    def read(self) -> str: ...


class TextOutput(Protocol):
    """A text file that is open for writing."""

    def write(self, text: str, /) -> object: ...


def load(
    file: TextInput, *, serialization_options: SerializationOptions | None = None
) -> dict[str, PlainData]:
    """Convert an open file to data."""
    return loads(file.read(), serialization_options=serialization_options)


def loads(
    text: str, *, serialization_options: SerializationOptions | None = None
) -> dict[str, PlainData]:
    """Convert a text to data."""
    return serialize(parses(text), serialization_options=serialization_options)


def dump(
    data: dict[str, object],
    file: TextOutput,
    *,
    deserializer_options: DeserializerOptions | None = None,
    formatter_options: FormatterOptions | None = None,
) -> None:
    """Write data as source to an open file."""
    file.write(
        dumps(data, deserializer_options=deserializer_options, formatter_options=formatter_options)
    )


def dumps(
    data: dict[str, object],
    *,
    deserializer_options: DeserializerOptions | None = None,
    formatter_options: FormatterOptions | None = None,
) -> str:
    """Convert data to source."""
    return reconstruct(
        from_dict(
            data, deserializer_options=deserializer_options, formatter_options=formatter_options
        )
    )


def parse(file: TextInput, *, discard_comments: bool = False) -> StartRule:
    """Parse an open file to a document."""
    return parses(file.read(), discard_comments=discard_comments)


def parses(text: str, *, discard_comments: bool = False) -> StartRule:
    """Parse a text to a document."""
    return transform(parses_to_tree(text), discard_comments=discard_comments)


def parse_to_tree(file: TextInput) -> Tree:
    """Parse an open file to a tree."""
    return parses_to_tree(file.read())


def parses_to_tree(text: str) -> Tree:
    """Parse a text to a tree; raise `HclError` for mistakes."""
    tree = Tree(text)
    assert tree.body is not None
    return tree


def transform(lark_tree: Tree, *, discard_comments: bool = False) -> StartRule:
    """Convert a tree to a document."""
    return RuleTransformer(discard_new_line_or_comments=discard_comments).transform(lark_tree)


def serialize(
    tree: StartRule, *, serialization_options: SerializationOptions | None = None
) -> dict[str, PlainData]:
    """Convert a document to data."""
    return tree.serialize(serialization_options)


def from_dict(
    data: dict[str, object],
    *,
    deserializer_options: DeserializerOptions | None = None,
    formatter_options: FormatterOptions | None = None,
    apply_format: bool = True,
) -> StartRule:
    """Convert data to a document."""
    tree = BaseDeserializer(deserializer_options).load_python(data)
    if apply_format:
        BaseFormatter(formatter_options).format_tree(tree)
    return tree


def from_json(
    text: str,
    *,
    deserializer_options: DeserializerOptions | None = None,
    formatter_options: FormatterOptions | None = None,
    apply_format: bool = True,
) -> StartRule:
    """Convert data in JSON to a document."""
    return from_dict(
        json.loads(text),
        deserializer_options=deserializer_options,
        formatter_options=formatter_options,
        apply_format=apply_format,
    )


def reconstruct(tree: StartRule | Tree) -> str:
    """Convert a document or tree to source."""
    return HCLReconstructor().reconstruct(tree)


def query(source: str | TextInput) -> DocumentView:
    """Create a view for lookups in a text or an open file."""
    return DocumentView.parse(source if isinstance(source, str) else source.read())
