"""HCL for Python: both syntaxes, expressions, templates, analysis, decoding and rewriting.

from nigari import hcl

hcl.load("main.tf")                    # plain dicts and lists
hcl.evaluate("a + 1", {"a": 1})        # the value of an expression or of a file
file = hcl.parse(text, "main.tf")      # the full tree, with its diagnostics
file = hcl.parse_file("main.tf")       # the same from a file
hcl.format(text)                       # the standard layout
document = hcl.edit(text, "main.tf")   # edit and `save`; the rest stays unchanged
hcl.dumps({"a": hcl.raw("var.b")})     # data as HCL source

Everything else is in the modules of this package, one for each concern: `decode`, `decode_blocks`
and `decode_either` (declarative decoding), `decode_dataclass` (decoding into typed classes),
`static` (reading expressions without evaluating them), `dynamic_blocks`, `user_functions`,
`interdependent`. Importing this package is cheap; each function imports what it uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath

from nigari.lazy import lazy_exports
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from nigari.cty.callables import function
    from nigari.cty.function import Function, FunctionError, Parameter, PythonCallable
    from nigari.hcl.body import (
        Attribute,
        AttributeSchema,
        Block,
        BlockSchema,
        Body,
        BodySchema,
        Content,
    )
    from nigari.hcl.data_text import (
        BlockData,
        BodyData,
        Commented,
        Raw,
        block,
        commented,
        heredoc,
        raw,
        template,
    )
    from nigari.hcl.decode_dataclass import Argument, Label, Locations, Named, Remain
    from nigari.hcl.errors import HclError
    from nigari.hcl.evaluation import Fault
    from nigari.hcl.expressions import Expression
    from nigari.hcl.file import File, Readable, Writable
    from nigari.hcl.native_body import NativeBody
    from nigari.hcl.python_data import PlainData
    from nigari.hcl.scope import Scope
    from nigari.hcl.source import Source
    from nigari.hcl.traversal import Step, Traversal
    from nigari.hcl.writer import Document
    from nigari.hcl.writer_tree import AttributeText, BlockText, BodyText, Entry, Gap, Item

    T = TypeVar("T")
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "nigari.cty.callables": ("function",),
            "nigari.cty.function": ("Function", "FunctionError", "Parameter", "PythonCallable"),
            "scope": ("Scope",),
            "body": (
                "Attribute",
                "AttributeSchema",
                "Block",
                "BlockSchema",
                "Body",
                "BodySchema",
                "Content",
            ),
            "errors": ("HclError",),
            "evaluation": ("Fault",),
            "source": ("Source",),
            "traversal": ("Step", "Traversal"),
            "data_text": (
                "BlockData",
                "BodyData",
                "Commented",
                "Raw",
                "block",
                "commented",
                "heredoc",
                "raw",
                "template",
            ),
            "decode_dataclass": ("Argument", "Label", "Locations", "Named", "Remain"),
            "expressions": ("Expression",),
            "file": ("File",),
            "native_body": ("NativeBody",),
            "python_data": ("PlainData",),
            "writer": ("Document",),
            "writer_tree": ("AttributeText", "BlockText", "BodyText", "Entry", "Gap", "Item"),
        },
    )

__all__ = [
    "Argument",
    "Attribute",
    "AttributeSchema",
    "AttributeText",
    "Block",
    "BlockData",
    "BlockSchema",
    "BlockText",
    "Body",
    "BodyData",
    "BodySchema",
    "BodyText",
    "Commented",
    "Content",
    "Document",
    "Entry",
    "Expression",
    "Fault",
    "File",
    "Function",
    "FunctionError",
    "Gap",
    "HclError",
    "Item",
    "Label",
    "Locations",
    "Named",
    "NativeBody",
    "Parameter",
    "PlainData",
    "PythonCallable",
    "Raw",
    "Remain",
    "Scope",
    "Source",
    "Step",
    "Traversal",
    "block",
    "commented",
    "dump",
    "dumps",
    "edit",
    "evaluate",
    "expression",
    "format",
    "function",
    "heredoc",
    "load",
    "load_as",
    "loads",
    "loads_as",
    "parse",
    "parse_any",
    "parse_file",
    "raw",
    "template",
]


def parse(text: str | bytes, filename: str | PathLike[str] = "<input>") -> File[NativeBody]:
    """Parse a text into its full tree and diagnostics; never fails.

    The body is that of the native syntax, with `attributes` and `blocks`. A name that ends in
    `.json` selects the JSON syntax, which only a schema can read: `parse_any` has that in its
    return type.
    """
    return cast("File[NativeBody]", parse_any(text, filename))


def parse_any(text: str | bytes, filename: str | PathLike[str] = "<input>") -> File[Body]:
    """Parse a text of either syntax; a name that ends in `.json` selects the JSON syntax."""
    from nigari.diagnostics import Diagnostics
    from nigari.hcl.file import File

    source, diags = _source(text, filename), Diagnostics()
    body: Body
    if source.filename.endswith(".json"):
        from nigari.hcl.json_body import parse_json_body

        body = parse_json_body(source, diags)
    else:
        from nigari.hcl.parser import parse_body

        body = parse_body(source, diags)
    return File(source, body, diags)


def parse_file(path: str | PathLike[str]) -> File[NativeBody]:
    """Parse a file into its full tree and diagnostics; raise `OSError` if it cannot be read."""
    text, name = _content(path)
    return parse(text, name)


def _source(text: str | bytes, filename: str | PathLike[str]) -> Source:
    from nigari.hcl.source import Source

    name = _file_name(filename)
    if isinstance(text, bytes):
        return Source.from_bytes(name, text)
    _check_text(text)
    return Source.from_text(name, text)


def _file_name(given: str | PathLike[str]) -> str:
    if not isinstance(given, str | PathLike):
        raise TypeError(f"the name of a file is a str or a path, not {given!r}")
    return fspath(given)


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        what = "a path" if isinstance(text, PathLike) else type(text).__name__
        raise TypeError(f"the text of a file is required, not {what}")


def _scope(
    variables: Mapping[str, object] | None,
    functions: Mapping[str, Function | PythonCallable] | None,
) -> Scope:
    from nigari.arguments import check_named
    from nigari.hcl.scope import Scope

    variables, functions = variables or {}, functions or {}
    check_named("variables", variables)
    check_named("functions", functions)
    return Scope(variables, functions)


def expression(text: str | bytes, filename: str | PathLike[str] = "<input>") -> Expression:
    """Parse an expression; raise `HclError` if it is invalid."""
    from nigari.diagnostics import Diagnostics
    from nigari.hcl.evaluated import raise_for_errors
    from nigari.hcl.parser import parse_expression

    source, diags = _source(text, filename), Diagnostics()
    parsed = parse_expression(source, diags)
    raise_for_errors(source, diags)
    return parsed


def evaluate(
    text: str | bytes,
    variables: Mapping[str, object] | None = None,
    functions: Mapping[str, Function | PythonCallable] | None = None,
    filename: str | PathLike[str] = "<input>",
) -> PlainData:
    """Evaluate an expression, or all arguments of a file, to plain data.

    `variables` are plain data or `cty` values; `functions` are `Function`s, or Python callables
    described by their annotations. Mistakes, including exceptions of a callable, raise an
    `HclError` with their source ranges. The result for a file has the same shape as that of
    `loads`.
    """
    from nigari.hcl.evaluated import evaluate_text

    return evaluate_text(_source(text, filename), _scope(variables, functions))


def loads(
    text: str | bytes, filename: str | PathLike[str] = "<input>", *, with_meta: bool = False
) -> dict[str, PlainData]:
    """Convert a text to plain dicts and lists in the shape of python-hcl2 (see `nigari.hcl.python_data`).

    `with_meta` adds the line numbers of each block. A text with errors raises an `HclError`.
    """
    return parse_any(text, filename).plain(with_meta)


def load(path: str | PathLike[str] | Readable, *, with_meta: bool = False) -> dict[str, PlainData]:
    """Convert a file, named by its path or already open, to plain dicts and lists; see `loads`."""
    text, name = _content(path)
    return loads(text, name, with_meta=with_meta)


def _content(path: str | PathLike[str] | Readable) -> tuple[str | bytes, str]:
    if isinstance(path, str | PathLike):
        with open(path, "rb") as opened:
            return opened.read(), fspath(path)
    if not hasattr(path, "read"):
        raise TypeError(f"a path or an open file is required, not {type(path).__name__}")
    return path.read(), str(getattr(path, "name", "<input>"))


def loads_as(
    cls: type[T],
    text: str | bytes,
    filename: str | PathLike[str] = "<input>",
    *,
    variables: Mapping[str, object] | None = None,
    functions: Mapping[str, Function | PythonCallable] | None = None,
    locations: Locations | None = None,
) -> T:
    """Decode a text into a dataclass, attrs class or pydantic model; raise `HclError` for mistakes.

    `nigari.hcl.decode_dataclass` documents the annotations. `variables` and `functions` are as in
    `evaluate`; `locations` collects the source ranges of all fields.
    """
    from nigari.hcl.decode_dataclass import decode_dataclass

    if not isinstance(cls, type):
        raise TypeError(f"the class to decode into is required, not {cls!r}")
    file = parse_any(text, filename)
    made: T | None = None
    if not file.diagnostics.has_errors:
        scope = _scope(variables, functions)
        made = decode_dataclass(cls, file.body, scope, file.diagnostics, locations=locations)
    if made is None:
        from nigari.hcl.errors import HclError

        raise HclError(list(file.diagnostics), file.describe())
    return made


def load_as(
    cls: type[T],
    path: str | PathLike[str] | Readable,
    *,
    variables: Mapping[str, object] | None = None,
    functions: Mapping[str, Function | PythonCallable] | None = None,
    locations: Locations | None = None,
) -> T:
    """Decode a file, named by its path or already open; see `loads_as`."""
    text, name = _content(path)
    return loads_as(cls, text, name, variables=variables, functions=functions, locations=locations)


def dumps(data: object, *, width: int = 80, heredocs: bool = False) -> str:
    """Write arguments and blocks as the source of a file, in standard layout.

    Dicts keep their order. Strings are literal, so `${` in them has no effect: expressions are
    `raw("var.x")`, templates `template("${var.x}!")`, multi-line texts `heredoc(text)`, and
    `commented(data, "why")` puts a comment above an item. Blocks, or lists of them, are created
    with `block("label", {"argument": 1})`. Values, dataclasses, enumerations, paths and decimals
    are written as plain data; anything else raises `ValueError`. An object of a class that
    `loads_as` supports is written so that it reads back.

    A list longer than `width` characters has a line for each element; with `heredocs`, a string
    that ends in a newline becomes a heredoc.
    """
    from nigari.arguments import check_count
    from nigari.hcl.data_text import Style, dumps_body

    if not isinstance(data, Mapping):
        from nigari.cty.models import is_model
        from nigari.hcl.encode_dataclass import encode_dataclass

        if not is_model(type(data)):
            name = type(data).__name__
            raise TypeError(f"the content of a file must be a dict or a dataclass, not {name}")
        data = encode_dataclass(data)
    check_count("width", width)
    return dumps_body(data, Style(width, heredocs))


def dump(
    data: object,
    file: str | PathLike[str] | Writable,
    *,
    width: int = 80,
    heredocs: bool = False,
) -> None:
    """Write to a file, named by its path or already open; see `dumps`."""
    text = dumps(data, width=width, heredocs=heredocs)
    if not isinstance(file, str | PathLike) and not hasattr(file, "write"):
        raise TypeError(f"a path or an open file is required, not {type(file).__name__}")
    if isinstance(file, str | PathLike):
        with open(file, "w", encoding="utf-8", newline="") as opened:
            opened.write(text)
    else:
        file.write(text)


def format(text: str | bytes) -> str:
    """Format a text as `tofu fmt` does."""
    from nigari.hcl.formatter import format as formatted

    return formatted(_text(text))


def _text(text: str | bytes) -> str:
    if isinstance(text, bytes):
        return text.decode()
    _check_text(text)
    return text


def edit(text: str | bytes, filename: str | PathLike[str] = "<input>") -> Document:
    """Parse a text into an editable tree that preserves everything you do not change.

    Even invalid parts are preserved: they belong to the text, but to no node of the tree.
    """
    from nigari.hcl.writer import parse_document

    name = _file_name(filename)
    document = parse_document(_text(text), name)
    document.filename = "" if name == "<input>" else name
    return document
