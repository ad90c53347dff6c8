"""Lossless editing of files in the native syntax.

Every character of a file is in the tree exactly once: in an argument, in a block, or in the text
between them. Unedited parts are written back unchanged, including comments, blank lines and unusual
layout.

document = parse_document(text)
document.body.set("region", "eu")
for block in document.body.blocks_of("resource", "aws_instance"):
block.body.set_source("count", "var.servers")
print(document)

Owns the assignment of comments and spaces to items. Invalid parts stay in the text between items.
Operations on the tree are in `writer_tree`.
"""

from __future__ import annotations

from os import PathLike, fspath

from nigari.cty.copying import reduced
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Attribute, Block
from nigari.hcl.formatter import format
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body
from nigari.hcl.source import BYTE_ORDER_MARK, Source
from nigari.hcl.writer_tree import AttributeText, BlockText, BodyText, Gap, Item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


_Parsed: TypeAlias = Attribute | Block


class Document:
    """A file that can be edited and written back.

    `diagnostics` has the errors of the original text; `mark` is the byte order mark at the
    beginning of the text, if there is one, and `filename` the name of the file.
    """

    __slots__ = ("body", "diagnostics", "filename", "mark")

    body: BodyText
    diagnostics: Diagnostics
    mark: str
    filename: str

    def __init__(
        self, body: BodyText, diagnostics: Diagnostics, mark: str = "", filename: str = ""
    ) -> None:
        self.body = body
        self.diagnostics = diagnostics
        self.mark = mark
        self.filename = filename

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def __str__(self) -> str:
        return f"{self.mark}{self.body}"

    def __repr__(self) -> str:
        return f"<Document {self.body!r}>"

    def formatted(self) -> str:
        """Return the text in standard form."""
        return format(str(self))

    def save(self, path: str | PathLike[str] | None = None) -> None:
        """Write the text to its own file, or to another.

        The write is atomic: on failure the file stays unchanged. Permissions are preserved.
        """
        target = self.filename if path is None else fspath(path)
        if not target:
            raise ValueError("the document has no file name, so save needs a path")
        save_text(target, str(self))


def parse_document(text: str, filename: str = "", diags: Diagnostics | None = None) -> Document:
    """Parse a text into a tree; syntax errors are added to `diags`, or to a new collector."""
    found = Diagnostics() if diags is None else diags
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    body = parse_body(Source.from_text(filename, text), found)
    text = text[len(mark) :]
    first = text.find("\n")
    newline = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
    return Document(
        _Reader(text, newline).body(body, 0, len(text), "", True), found, mark, filename
    )


def save_text(path: str, text: str) -> None:
    """Write a file atomically: to a temporary file first, which then replaces it."""
    import os
    import tempfile

    target = os.path.realpath(path)
    handle, part = tempfile.mkstemp(prefix=".nigari-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        try:
            mode = os.stat(target).st_mode & 0o7777
        except FileNotFoundError:
            umask = os.umask(0)
            os.umask(umask)
            mode = 0o666 & ~umask
        os.chmod(part, mode)
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise


class _Reader:
    """The text from which all slices are cut."""

    __slots__ = ("newline", "text")

    def __init__(self, text: str, newline: str) -> None:
        self.text = text
        self.newline = newline

    def body(self, body: NativeBody, start: int, end: int, indent: str, is_file: bool) -> BodyText:
        """Build the tree of a body whose items lie between two offsets."""
        items: list[Item] = []
        found: list[_Parsed] = [*body.attributes.values(), *body.blocks]
        position = start
        for parsed in sorted(found, key=_start_of):
            if parsed.start < position or not self._is_whole(parsed, end):
                continue
            lead = self._lead_start(position, parsed.start, is_file)
            if lead > position:
                items.append(Gap(self.text[position:lead]))
            tail = self._tail_end(parsed.end, end)
            inline = not is_file and "\n" not in self.text[start : parsed.start]
            items.append(self._item(parsed, lead, tail, inline))
            position = tail
        own = _indent_of(items, indent)
        closing = end if is_file else max(self.text.rfind("\n", position, end) + 1, position)
        if position < closing:
            items.append(Gap(self.text[position:closing]))
        if not is_file:
            if not items or not isinstance(items[0], Gap):
                items.insert(0, Gap(""))
            items.append(Gap(self.text[closing:end]))
        return BodyText(items, own, is_file, self.newline)

    def _item(self, parsed: _Parsed, lead: int, tail: int, inline: bool) -> Item:
        text = self.text
        if isinstance(parsed, Attribute):
            return AttributeText(
                text[lead : parsed.start],
                text[parsed.start : parsed.name_end],
                text[parsed.name_end : parsed.expr.start],
                text[parsed.expr.start : parsed.end],
                text[parsed.end : tail],
                inline,
            )
        nested = parsed.body
        assert isinstance(nested, NativeBody)
        opening = parsed.open_start + 1
        line_start = text.rfind("\n", 0, parsed.start) + 1
        indent = text[line_start : parsed.start]
        inner = f"{indent if not indent.strip() else ''}  "
        return BlockText(
            text[lead : parsed.start],
            text[parsed.start : parsed.type_end],
            parsed.labels,
            text[parsed.type_end : opening],
            self.body(nested, opening, parsed.end - 1, inner, False),
            text[parsed.end : tail],
            inline,
        )

    def _is_whole(self, parsed: _Parsed, end: int) -> bool:
        if parsed.end > end:
            return False
        if isinstance(parsed, Attribute):
            return parsed.start <= parsed.name_end <= parsed.expr.start <= parsed.end
        text = self.text
        return (
            parsed.open_start < parsed.end - 1
            and text.startswith("{", parsed.open_start)
            and text.startswith("}", parsed.end - 1)
        )

    def _lead_start(self, position: int, start: int, is_file: bool) -> int:
        """Find the beginning of the comments directly above an item, and of the spaces before it."""
        text = self.text
        line = text.rfind("\n", position, start) + 1
        if line == 0:
            return (
                position if is_file or position == start else _spaces_before(text, position, start)
            )
        if text[line:start].strip():
            # Another item is on the same line.
            return _spaces_before(text, position, start)
        first = position if position == 0 or text[position - 1] == "\n" else line
        while line > position:
            above = text.rfind("\n", position, line - 1) + 1 or first
            begin = self._comment_line(above, line, position)
            if begin < 0:
                break
            line = begin
        return line

    def _comment_line(self, above: int, line: int, position: int) -> int:
        """Find the beginning of the comment that ends with the line between two offsets; -1 if
        there is none.
        """
        stripped = self.text[above:line].strip()
        if stripped.startswith(("#", "//")):
            return above
        if not stripped.endswith("*/"):
            return -1
        opened = self.text.rfind("/*", position, line)
        if opened < 0:
            return -1
        begin = max(self.text.rfind("\n", position, opened) + 1, position)
        return begin if not self.text[begin:opened].strip() else -1

    def _tail_end(self, position: int, end: int) -> int:
        """Find the end of the line in which an item ends, if only comments follow there."""
        text = self.text
        start = position
        while position < end:
            character = text[position]
            if character in " \t\r":
                position += 1
            elif character == "\n":
                return position + 1
            elif character == "#" or text.startswith("//", position):
                found = text.find("\n", position, end)
                return end if found < 0 else found + 1
            elif text.startswith("/*", position):
                closed = text.find("*/", position + 2, end)
                if closed < 0:
                    return start
                position = closed + 2
            else:
                return start
        # A single-line block ends here; the space before its brace belongs to no item.
        return start if end < len(text) else end


def _spaces_before(text: str, position: int, start: int) -> int:
    while start > position and text[start - 1] in " \t":
        start -= 1
    return start


def _start_of(parsed: _Parsed) -> int:
    return parsed.start


def _indent_of(items: list[Item], otherwise: str) -> str:
    """Infer the indentation of a body's lines from its items."""
    for item in items:
        if isinstance(item, AttributeText | BlockText) and item.tail.endswith("\n"):
            before = item.lead[item.lead.rfind("\n") + 1 :]
            if not before.strip():
                return before
    return otherwise
