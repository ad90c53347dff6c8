"""Plain Python data as source of the native syntax.

Dicts keep their order. Functions of this module create what plain data cannot express: `raw`
expressions, templates, heredocs, comments, and blocks. The written text reads back as the same
data; the layout is that of the formatter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from nigari.arguments import check_text
from nigari.cty.annotations import Named, unwrapped
from nigari.cty.models import is_model, model_fields
from nigari.cty.types import USUAL_DEPTH
from nigari.cty.values import allow_data_depth, number, plain_value
from nigari.diagnostics import Diagnostics
from nigari.hcl.formatter import format
from nigari.hcl.parser import parse_body
from nigari.hcl.quoting import escaped_template, quoted
from nigari.hcl.render import render_value
from nigari.hcl.scanner import is_identifier, scan_template
from nigari.hcl.source import Source
from nigari.hcl.tokens import CLOSE_HEREDOC, OPEN_HEREDOC, TEXT
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


_STEP = "  "


class Style:
    """Layout options.

    A list longer than `width` characters has a line for each element. With `heredocs`, a string of
    whole lines becomes a heredoc.
    """

    __slots__ = ("heredocs", "width")

    width: int
    heredocs: bool

    def __init__(self, width: int = 80, heredocs: bool = False) -> None:
        self.width = width
        self.heredocs = heredocs


_USUAL = Style()


class Raw:
    """The source of an expression; an invalid one raises `ValueError`."""

    __slots__ = ("source",)

    def __init__(self, source: str) -> None:
        self.source: str = checked_expression(source)

    def __repr__(self) -> str:
        return f"raw({self.source!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Raw) and self.source == other.source

    def __hash__(self) -> int:
        return hash(self.source)

    def __reduce__(self) -> tuple[object, ...]:
        return (Raw, (self.source,))


class Commented:
    """Data with a comment above it."""

    __slots__ = ("comment", "of")

    of: object
    comment: str

    def __init__(self, of: object, comment: str) -> None:
        check_text("a comment", comment)
        self.of = of
        self.comment = comment

    def __reduce__(self) -> tuple[object, ...]:
        return (Commented, (self.of, self.comment))


class BlockData:
    """Labels and body of a block. Its type is the key under which it is stored."""

    __slots__ = ("body", "labels")

    body: Mapping[str, object]

    def __init__(self, labels: Sequence[str], body: Mapping[str, object]) -> None:
        self.labels: tuple[str, ...] = tuple(labels)
        self.body = body

    def __repr__(self) -> str:
        return f"block({', '.join([repr(each) for each in (*self.labels, self.body)])})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BlockData) and self.labels == other.labels and self.body == other.body
        )

    def __hash__(self) -> int:
        return hash(self.labels)

    def __reduce__(self) -> tuple[object, ...]:
        return (BlockData, (self.labels, self.body))


BodyData: TypeAlias = Mapping[str, object]
"""The content of a file or block: plain data for arguments, blocks or lists of blocks for blocks.
"""


def block(*parts: str | BodyData) -> BlockData:
    """Create a block from its labels, followed by its body, if it has one."""
    body: BodyData = {}
    labels: list[str] = []
    for position, part in enumerate(cast(tuple[object, ...], parts)):
        if isinstance(part, str):
            labels.append(part)
        elif position == len(parts) - 1:
            if not isinstance(part, Mapping):
                raise TypeError(f"the body of a block is a dict, not {type(part).__name__}")
            body = part
        else:
            if not isinstance(part, Mapping):
                check_text("a label of a block", part)
            raise TypeError("the body of a block comes last, after its labels")
    return BlockData(labels, body)


def raw(source: str) -> Raw:
    """Wrap the source of an expression, such as `var.name`; raise `ValueError` if it is invalid."""
    return Raw(source)


def commented(of: object, comment: str) -> Commented:
    """Add a comment above an argument, a block or an element."""
    return Commented(of, comment)


def template(text: str) -> Raw:
    """Create a string with active `${…}` and `%{…}` sequences; raise `ValueError` if one is
    invalid.
    """
    check_text("the text of a template", text)
    tokens = scan_template(text)
    out: list[str] = []
    end = 0
    inside_heredoc = 0
    for kind, start, token in zip(tokens.kinds, tokens.starts, tokens.texts, strict=True):
        out.append(text[end:start])
        inside_heredoc += (kind == OPEN_HEREDOC) - (kind == CLOSE_HEREDOC)
        is_text = kind == TEXT and not inside_heredoc
        out.append(escaped_template(token) if is_text else token)
        end = start + len(token)
    return Raw(f'"{"".join(out)}"')


def heredoc(text: str, marker: str = "EOT") -> Raw:
    """Create a heredoc. Its text must end in a newline."""
    check_text("the text of a heredoc", text)
    check_name(marker, "the marker of a heredoc")
    if not text.endswith("\n"):
        raise ValueError("the text of a heredoc must end with a newline")
    lines = text.replace("${", "$${").replace("%{", "%%{").split("\n")
    while any(line.strip() == marker for line in lines):
        marker += "_"
    body = "\n".join(lines)
    return Raw(f"<<{marker}\n{body}{marker}")


def dumps_body(data: BodyData, style: Style = _USUAL) -> str:
    """Write the source of a file with this content, in standard layout."""
    return format(body_source(data, "", style))


def body_source(data: BodyData, indent: str, style: Style) -> str:
    """Write the lines of a body, each indented."""
    pieces: list[str] = []
    for name, given in data.items():
        check_name(name)
        comment, bare, blocks = blocks_of_data(given)
        if blocks is None:
            pieces.append(_comment(comment, indent))
            try:
                source = source_of(bare, indent, style)
            except TypeError as wrong_type:
                raise TypeError(f"the argument {name}: {wrong_type}") from None
            except ValueError as wrong_value:
                raise ValueError(f"the argument {name}: {wrong_value}") from None
            pieces.append(f"{indent}{name} = {source}".rstrip("\n") + "\n")
            continue
        for position, (own, each) in enumerate(blocks):
            if pieces:
                pieces.append("\n")
            above = "\n".join([text for text in (comment if position == 0 else "", own) if text])
            pieces.append(_comment(above, indent) + block_source(name, each, indent, style))
        if blocks and name != list(data)[-1]:
            pieces.append("\n")
    return _without_double_lines(pieces)


def block_source(type_: str, data: BlockData, indent: str, style: Style) -> str:
    """Write the lines of a block."""
    head = f"{indent}{type_}{''.join([f' {quoted(label)}' for label in data.labels])} {{"
    inner = body_source(data.body, deeper(indent), style)
    return f"{head}\n{inner}{indent}}}\n" if inner else f"{head}}}\n"


def source_of(data: object, indent: str = "", style: Style = _USUAL) -> str:
    """Write plain data as an expression; `indent` is the indentation of the line in which it
    starts.
    """
    if isinstance(data, Raw):
        return data.source
    if isinstance(data, Commented):
        raise ValueError("a comment can be above an argument, a block or an element of a list")
    if isinstance(data, BlockData):
        raise ValueError("a block can be in a body only, by itself or in a list of blocks")
    if isinstance(data, str):
        if style.heredocs and data.endswith("\n") and data.replace("\n", " ").isprintable():
            return heredoc(data).source
        return render_value(plain_value(data))
    if isinstance(data, float):
        # The digits that Python prints read back as the same float; those of a value may not.
        if data != data or data in (float("inf"), float("-inf")):
            raise ValueError(f"{data} cannot be written: HCL has no such number")
        return render_value(number(int(data) if data.is_integer() else repr(data)))
    if isinstance(data, Mapping):
        return _object_source(data, indent, style)
    if isinstance(data, list | tuple) and not is_model(type(data)):
        return _list_source(data, indent, style)
    if isinstance(data, Set):
        return _list_source(
            [each.to_python() for each in plain_value(data).sequence()], indent, style
        )
    if is_model(type(data)):
        return _object_source(written_fields(data), indent, style)
    return render_value(plain_value(data), indent)


def written_fields(obj: object) -> dict[str, object]:
    """Map the names in data to the values of a model's fields."""
    found: dict[str, object] = {}
    for field in model_fields(type(obj)):
        name = field.name
        for note in unwrapped(field.hint)[1]:
            if isinstance(note, Named):
                name = note.name
        found[name] = getattr(obj, field.name)
    return found


def _object_source(data: object, indent: str, style: Style) -> str:
    assert isinstance(data, Mapping)
    if not data:
        return "{}"
    inner = deeper(indent)
    lines: list[str] = []
    for key, given in data.items():
        comment, bare = _uncommented(given)
        source = source_of(bare, inner, style).rstrip("\n")
        lines.append(f"{_comment(comment, inner)}{inner}{_key(key)} = {source}\n")
    return f"{{\n{''.join(lines)}{indent}}}"


def _key(key: object) -> str:
    if isinstance(key, Raw):
        return f"({key.source})"
    if not isinstance(key, str):
        raise TypeError(f"an attribute name is a str, not {type(key).__name__}")
    return key if is_identifier(key) and key != "for" else quoted(key)


def _list_source(data: Sequence[object], indent: str, style: Style) -> str:
    inner = deeper(indent)
    parts = [_uncommented(each) for each in data]
    sources = [source_of(bare, inner, style) for _, bare in parts]
    line = f"[{', '.join(sources)}]"
    fits = not sources or (len(line) <= style.width and "\n" not in line)
    if fits and not any(comment for comment, _ in parts):
        return line
    lines = [
        f"{_comment(comment, inner)}{inner}{_ended(source, inner)}\n"
        for (comment, _), source in zip(parts, sources, strict=True)
    ]
    return f"[\n{''.join(lines)}{indent}]"


def deeper(indent: str) -> str:
    """Indent one level further; raise `ValueError` if the data nests too deeply."""
    depth = len(indent) // len(_STEP) + 1
    if depth > USUAL_DEPTH:
        allow_data_depth(depth)
    return indent + _STEP


def _ended(source: str, indent: str) -> str:
    return f"{source}\n{indent}," if ends_its_line(source) else f"{source},"


def ends_its_line(source: str) -> bool:
    """Check for an expression that ends in a heredoc, so that nothing can follow it in its line."""
    if source.endswith(("]", "}", ")", '"')) or "<<" not in source:
        return False
    diags = Diagnostics()
    parse_body(Source("", f"x = [{source}]\n"), diags)
    return diags.has_errors


def _uncommented(given: object) -> tuple[str, object]:
    comments: list[str] = []
    while isinstance(given, Commented):
        comments.append(given.comment)
        given = given.of
    return "\n".join(comments), given


def _comment(text: str, indent: str) -> str:
    return comment_lines(text, indent, "\n")


def comment_lines(text: str, indent: str, newline: str) -> str:
    """Write the lines of a comment; nothing for an empty text."""
    if not text:
        return ""
    return "".join([f"{indent}# {line}".rstrip() + newline for line in text.split("\n")])


def blocks_of_data(given: object) -> tuple[str, object, list[tuple[str, BlockData]] | None]:
    """Split an entry of a body into its comment, the data, and the blocks with their comments.

    The blocks are None for an argument.
    """
    comment, data = _uncommented(given)
    if isinstance(data, BlockData):
        return comment, data, [("", data)]
    if not isinstance(data, list | tuple) or not data:
        return comment, data, None
    parts = [_uncommented(each) for each in data]
    blocks = [(own, bare) for own, bare in parts if isinstance(bare, BlockData)]
    if blocks and len(blocks) < len(parts):
        raise ValueError("a list of blocks holds nothing but blocks")
    return comment, data, blocks or None


def _without_double_lines(pieces: list[str]) -> str:
    kept: list[str] = []
    for piece in pieces:
        if piece == "\n" and (not kept or kept[-1] == "\n"):
            continue
        kept.append(piece)
    return "".join(kept)


def check_name(name: str, what: str = "the name of an argument or block") -> None:
    """Raise `ValueError` for anything that cannot be the name of an argument or the type of a
    block.
    """
    check_text(what, name)
    if not is_identifier(name):
        raise ValueError(f"{name!r} is not a valid identifier")


def checked_expression(source: str) -> str:
    """Strip the source of an expression; raise `ValueError` if it is invalid."""
    check_text("the text of an expression", source)
    diags = Diagnostics()
    source = source.strip()
    body = parse_body(Source("", f"x = {source}\n"), diags)
    if diags.has_errors or list(body.attributes) != ["x"] or body.blocks:
        detail = next(iter(diags)).detail if len(diags) else "there is more after the expression"
        raise ValueError(f"{source!r} is not an expression: {detail}")
    return source
