"""The editable tree of a file: text, arguments, blocks and bodies.

Owns the position and layout of new items, which follow their surroundings. Unlike everything else
in this package, these objects are mutable. `writer` builds a tree from a text; the meaning of
arguments and blocks is unknown here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nigari.arguments import check_text, check_texts
from nigari.cty.copying import reduced
from nigari.diagnostics import Diagnostics
from nigari.hcl.data_text import (
    BodyData,
    blocks_of_data,
    check_name,
    checked_expression,
    comment_lines,
    deeper,
    dumps_body,
    ends_its_line,
    source_of,
)
from nigari.hcl.parser import parse_expression, parse_traversal
from nigari.hcl.quoting import quoted
from nigari.hcl.source import Source
from nigari.hcl.traversal import Step, Traversal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.hcl.python_data import PlainData

_STEP = "  "


class Item:
    """A part of a body: text, an argument or a block."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def write(self, out: list[str]) -> None:
        """Append the pieces of this item's text."""
        raise AssertionError("every item writes itself")

    def __str__(self) -> str:
        out: list[str] = []
        self.write(out)
        return "".join(out)

    def __repr__(self) -> str:
        text = str(self)
        return f"<{type(self).__name__} {Source('', text).glimpse(0, len(text))}>"


class Entry(Item):
    """An argument or a block, with its comments.

    `lead` is the comments above it and the spaces before it; `tail` the rest of its last line.
    `inline` is set in a single-line block.
    """

    __slots__ = ("inline", "lead", "tail")

    inline: bool
    lead: str
    tail: str

    @property
    def comments(self) -> str:
        """The comments above, as in the source."""
        return "\n".join([line.strip() for line in self.lead.split("\n")]).strip()

    def set_comments(self, text: str) -> None:
        """Replace the comments above by a plain text; every line becomes a comment."""
        check_text("a comment", text)
        if self.inline:
            self.lead = f" /* {_one_line(text)} */ " if text else " "
            return
        indent = self.lead[self.lead.rfind("\n") + 1 :]
        indent = indent if not indent.strip() else ""
        self.lead = comment_lines(text, indent, self._newline()) + indent

    @property
    def line_comment(self) -> str:
        """The comment at the end of its last line, as in the source."""
        return self.tail.strip()

    def set_line_comment(self, text: str) -> None:
        """Replace the comment in its last line by a plain text of one line."""
        check_text("a comment", text)
        if "\n" in text:
            raise ValueError("a comment after an item must fit on one line")
        if self.inline:
            self.tail = f" /* {_one_line(text)} */" if text else ""
            return
        end = self._newline() if self.tail.endswith("\n") else ""
        self.tail = f" # {text}{end}" if text else end

    def _newline(self) -> str:
        return "\r\n" if self.tail.endswith("\r\n") or "\r\n" in self.lead else "\n"


class Gap(Item):
    """Text between items: blank lines, detached comments, invalid parts."""

    __slots__ = ("text",)

    text: str

    def __init__(self, text: str) -> None:
        self.text = text

    def write(self, out: list[str]) -> None:
        out.append(self.text)


class AttributeText(Entry):
    """An argument with its surrounding text."""

    __slots__ = ("equals", "name", "source")

    name: str
    equals: str
    source: str
    """The expression, as in the source."""

    def __init__(
        self, lead: str, name: str, equals: str, source: str, tail: str, inline: bool = False
    ) -> None:
        self.lead = lead
        self.name = name
        self.equals = equals
        self.source = source
        self.tail = tail
        self.inline = inline

    def write(self, out: list[str]) -> None:
        out += (self.lead, self.name, self.equals, self.source, self.tail)

    def set_line_comment(self, text: str) -> None:
        if text and ends_its_line(self.source):
            raise ValueError("nothing can follow the end of a heredoc on its line")
        super().set_line_comment(text)

    def set_name(self, name: str) -> None:
        """Rename the argument. Its equals sign stays in its column if there is room."""
        check_name(name)
        sign = self.equals.find("=")
        spaces = self.equals[:sign]
        if spaces and not spaces.strip(" "):
            width = max(len(self.name) + sign - len(name), 1)
            self.equals = " " * width + self.equals[sign:]
        self.name = name

    def plain(self) -> PlainData:
        """The expression as plain data, as `hcl.loads` returns it (see `nigari.hcl.python_data`)."""
        from nigari.hcl.python_data import plain_value

        return plain_value(parse_expression(Source("", f"{self.source}\n"), Diagnostics()))

    def references(self) -> list[Traversal]:
        """List the references in the expression."""
        return parse_expression(Source("", f"{self.source}\n"), Diagnostics()).variables()

    def rename(self, old: str, new: str) -> bool:
        """Replace the prefix `old`, such as `var.a`, of every reference by `new`.

        Both are references, optionally with indexes; an invalid one raises `ValueError`.
        """
        return _rename(self, _steps_of_reference(old), _checked_reference(new))


class BlockText(Entry):
    """A block with its surrounding text.

    `header` is the text between the type and the body: the labels and the opening brace.
    """

    __slots__ = ("_labels", "body", "header", "type")

    type: str
    header: str
    body: BodyText

    def __init__(
        self,
        lead: str,
        type: str,
        labels: Sequence[str],
        header: str,
        body: BodyText,
        tail: str,
        inline: bool = False,
    ) -> None:
        self.lead = lead
        self.type = type
        self._labels = list(labels)
        self.header = header
        self.body = body
        self.tail = tail
        self.inline = inline

    def write(self, out: list[str]) -> None:
        out += (self.lead, self.type, self.header)
        self.body.write(out)
        out += ("}", self.tail)

    @property
    def labels(self) -> list[str]:
        """Labels without quotation marks."""
        return list(self._labels)

    def set_labels(self, labels: Sequence[str]) -> None:
        """Replace the labels."""
        check_texts("labels", labels)
        self._labels = list(labels)
        self.header = _header(labels)

    def set_type(self, type: str) -> None:
        """Replace the type."""
        check_name(type)
        self.type = type


class BodyText:
    """The items of a file or of a block; `indent` is the indentation of its lines.

    The first and the last item of a block's body are gaps: the rest of the opening brace's line,
    and the text before the closing brace in its line.
    """

    __slots__ = ("indent", "is_file", "items", "newline")

    items: list[Item]
    indent: str
    is_file: bool
    newline: str

    def __init__(self, items: list[Item], indent: str, is_file: bool, newline: str) -> None:
        self.items = items
        self.indent = indent
        self.is_file = is_file
        self.newline = newline

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def write(self, out: list[str]) -> None:
        """Append the pieces of this body's text."""
        for item in self.items:
            item.write(out)

    def __str__(self) -> str:
        out: list[str] = []
        self.write(out)
        return "".join(out)

    def __repr__(self) -> str:
        return f"<BodyText {', '.join([*self.attributes, *(each.type for each in self.blocks)])}>"

    # -- reading ------------------------------------------------------------------------------

    @property
    def attributes(self) -> dict[str, AttributeText]:
        """Arguments by name, in source order."""
        return {item.name: item for item in self.items if isinstance(item, AttributeText)}

    @property
    def blocks(self) -> list[BlockText]:
        """Blocks in source order."""
        return [item for item in self.items if isinstance(item, BlockText)]

    def get(self, name: str) -> AttributeText | None:
        """Return the argument of that name, if there is one."""
        return self.attributes.get(name)

    def blocks_of(self, type: str, *labels: str) -> list[BlockText]:
        """List the blocks of a type whose labels begin with these."""
        wanted = list(labels)
        return [
            block
            for block in self.blocks
            if block.type == type and block.labels[: len(wanted)] == wanted
        ]

    def everything(self) -> Iterator[Item]:
        """Yield every argument and block at any depth."""
        pending: list[Item] = list(reversed(self.items))
        while pending:
            item = pending.pop()
            if isinstance(item, Gap):
                continue
            yield item
            if isinstance(item, BlockText):
                pending.extend(reversed(item.body.items))

    # -- changing -----------------------------------------------------------------------------

    def set(
        self,
        name: str,
        value: object,
        before: Entry | str | None = None,
        after: Entry | str | None = None,
    ) -> AttributeText:
        """Set an argument to plain data, a `Value`, or a result of `raw` and similar functions.

        A new argument is inserted after the last one, or before or after another item of this body.
        """
        comment, bare, _ = blocks_of_data(value)
        source = source_of(bare, self.indent)
        if "\n" in source and "<<" not in source:
            # Line ends within a heredoc are part of its text.
            lines = dumps_body({"x": bare}).removeprefix("x = ").rstrip("\n")
            source = lines.replace("\n", self.newline + self.indent)
        attribute = self.set_source(name, source, before, after)
        if comment:
            attribute.set_comments(comment)
        return attribute

    def set_source(
        self,
        name: str,
        source: str,
        before: Entry | str | None = None,
        after: Entry | str | None = None,
    ) -> AttributeText:
        """Set an argument to an expression; raise `ValueError` if the text is invalid."""
        check_name(name)
        source = checked_expression(source)
        have = self.get(name)
        if have is not None:
            self._replace_source(have, source)
            return have
        self._open_up()
        position = self._position(before, after)
        if position is None:
            position = self._after_last_attribute()
        attribute = AttributeText(
            self.indent, name, self._equals(name, position), source, self.newline
        )
        self._end_line_before(position)
        if position < len(self.items) and isinstance(self.items[position], BlockText):
            self.items.insert(position, Gap(self.newline))
        self.items.insert(position, attribute)
        return attribute

    def fill(self, data: BodyData) -> None:
        """Set arguments and add blocks, in the forms that `hcl.dumps` supports."""
        if not isinstance(data, Mapping):
            raise TypeError(f"the content of a body is a dict, not {type(data).__name__}")
        for name, given in data.items():
            comment, _, blocks = blocks_of_data(given)
            if blocks is None:
                self.set(name, given)
                continue
            for number, (own, block) in enumerate(blocks):
                added = self.append_block(name, block.labels, block.body)
                above = own or (comment if number == 0 else "")
                if above:
                    added.set_comments(above)

    def remove(self, item: Entry | str) -> bool:
        """Remove an argument or a block of this body, with its comments; return whether it existed."""
        found = self._found_or_none(item)
        if found is not None:
            self._remove(found)
        return found is not None

    def remove_block(self, block: BlockText) -> None:
        """Remove a block of this body with its comments; raise `ValueError` if it is not in this
        body.
        """
        self._remove(self._found(block))

    def append_block(
        self, type: str, labels: Sequence[str] = (), body: BodyData | None = None
    ) -> BlockText:
        """Add a block at the end, empty or with this content."""
        return self.insert_block(type, labels, body)

    def insert_block(
        self,
        type: str,
        labels: Sequence[str] = (),
        body: BodyData | None = None,
        before: Entry | str | None = None,
        after: Entry | str | None = None,
    ) -> BlockText:
        """Insert a block before or after another item of this body, by default at the end."""
        check_name(type)
        check_texts("labels", labels)
        self._open_up()
        nested = BodyText(
            [Gap(self.newline), Gap(self.indent)], deeper(self.indent), False, self.newline
        )
        block = BlockText(self.indent, type, labels, _header(labels), nested, self.newline)
        self._insert_block(block, self._position(before, after))
        if body is not None:
            nested.fill(body)
        return block

    def move(
        self, item: Entry | str, before: Entry | str | None = None, after: Entry | str | None = None
    ) -> None:
        """Move an item of this body, with its comments, before or after another, by default to the
        end.
        """
        self._open_up()
        moved = self._found(item)
        if moved is self._found_or_none(before) or moved is self._found_or_none(after):
            return
        self._remove(moved)
        position = self._position(before, after)
        if not moved.tail.endswith("\n"):
            moved.tail += self.newline
        if isinstance(moved, BlockText):
            self._insert_block(moved, position)
            return
        if position is None:
            position = self._after_last_attribute()
        self._end_line_before(position)
        if position < len(self.items) and isinstance(self.items[position], BlockText):
            self.items.insert(position, Gap(self.newline))
        self.items.insert(position, moved)

    def _insert_block(self, block: BlockText, position: int | None) -> None:
        if position is None:
            # The last gap of a block's body holds the spaces before the closing brace.
            position = len(self.items) - (0 if self.is_file else 1)
        self._end_line_before(position)
        ahead = [item for item in self.items[:position] if isinstance(item, Entry)]
        if ahead and not self._is_blank(position - 1):
            self.items.insert(position, Gap(self.newline))
            position += 1
        self.items.insert(position, block)
        rest = [item for item in self.items[position + 1 :] if isinstance(item, Entry)]
        if rest and not self._is_blank(position + 1):
            self.items.insert(position + 1, Gap(self.newline))

    def _is_blank(self, position: int) -> bool:
        """Check for an item that is a blank line, or begins or ends with one."""
        item = self.items[position]
        return isinstance(item, Gap) and (
            not item.text.strip() and "\n" in item.text and position > 0
        )

    def _position(self, before: Entry | str | None, after: Entry | str | None) -> int | None:
        """Return the index to insert at; None if neither item is passed."""
        if before is not None and after is not None:
            raise ValueError("pass either before or after, not both")
        if before is not None:
            return self._index(self._found(before))
        if after is not None:
            return self._index(self._found(after)) + 1
        return None

    def _found(self, item: Entry | str) -> Entry:
        found = self._found_or_none(item)
        if found is None:
            what = f"argument named {item!r}" if isinstance(item, str) else "such item"
            raise ValueError(f"there is no {what} in this body")
        return found

    def _found_or_none(self, item: Entry | str | None) -> Entry | None:
        if isinstance(item, str):
            return self.get(item)
        return next((have for have in self.items if have is item and isinstance(have, Entry)), None)

    def _index(self, item: Item) -> int:
        return next(i for i, have in enumerate(self.items) if have is item)

    def _replace_source(self, have: AttributeText, source: str) -> None:
        if "\n" in source:
            self._open_up()
        if ends_its_line(source):
            comment = have.line_comment
            if comment:
                # The end of a heredoc must be the last text of its line.
                have.lead = f"{have.lead}{comment}{self.newline}{self.indent}"
            have.tail = self.newline if have.tail.endswith("\n") or self.is_file else have.tail
        have.source = source

    def _equals(self, name: str, position: int) -> str:
        """Choose the text between a name and its value that aligns the equals sign with a
        neighbour's.
        """
        before = self.items[position - 1] if position else None
        after = self.items[position] if position < len(self.items) else None
        for neighbour in (before, after):
            if isinstance(neighbour, AttributeText) and "\n" not in neighbour.source:
                column = len(neighbour.name) + neighbour.equals.find("=")
                return f"{' ' * max(column - len(name), 1)}= "
        return " = "

    def rename(self, old: str, new: str) -> int:
        """Rename references in all expressions at any depth; return the number of changed
        arguments.
        """
        changed, begin, new = 0, _steps_of_reference(old), _checked_reference(new)
        for item in self.everything():
            if isinstance(item, AttributeText) and _rename(item, begin, new):
                changed += 1
        return changed

    def _remove(self, item: Item) -> None:
        position = self._index(item)
        del self.items[position]
        self._close_gap(position)

    def _close_gap(self, position: int) -> None:
        """Leave at most one blank line in place of a removed block, and none at an end of the body."""
        items = self.items
        before = items[position - 1] if position else None
        after = items[position] if position < len(items) else None
        is_last = position >= len(items) - (0 if self.is_file else 1)
        is_blank = isinstance(before, Gap) and not before.text.strip()
        if is_last and is_blank and position > (0 if self.is_file else 1):
            del items[position - 1]
        elif isinstance(after, Gap) and after.text.startswith(("\n", "\r\n")):
            if before is None or is_blank:
                after.text = after.text[after.text.index("\n") + 1 :]

    def _after_last_attribute(self) -> int:
        last = -1 if self.is_file else 0
        for position, item in enumerate(self.items):
            if isinstance(item, AttributeText):
                last = position
        return last + 1

    def _end_line_before(self, position: int) -> None:
        """Ensure that an item inserted at this index begins on a new line."""
        if position == 0:
            return
        before = self.items[position - 1]
        if isinstance(before, Entry):
            if not before.tail.endswith("\n"):
                before.tail += self.newline
        elif isinstance(before, Gap) and before.text and not before.text.endswith("\n"):
            before.text += self.newline

    def _open_up(self) -> None:
        """Put each item of a single-line block on its own line.

        Other text in that line stays in place: after the brace, or after an item.
        """
        first = self.items[0] if self.items else None
        if self.is_file or (isinstance(first, Gap) and "\n" in first.text):
            return
        opening = Gap("")
        opened: list[Item] = [opening]
        for item in self.items:
            last = opened[-1]
            if isinstance(item, Entry):
                comment = item.lead.strip()
                item.lead = f"{self.indent}{comment} " if comment else self.indent
                item.inline = False
                opened.append(item)
            elif isinstance(last, Entry):
                last.tail = f"{last.tail}{item}"
            else:
                opening.text = f"{opening.text}{item}"
        for each in opened:
            if isinstance(each, Entry) and not each.tail.endswith("\n"):
                each.tail = each.tail.rstrip() + self.newline
        if not opening.text.endswith("\n"):
            opening.text = opening.text.rstrip() + self.newline
        opened.append(Gap(self.indent.removesuffix(_STEP)))
        self.items = opened


# -- pieces of text -----------------------------------------------------------------------------


def _one_line(text: str) -> str:
    """Join the lines of a comment that is placed in the middle of a line."""
    if "*/" in text:
        raise ValueError("a comment in the middle of a line cannot contain */")
    return " ".join(text.split())


def _header(labels: Sequence[str]) -> str:
    return "".join([f" {quoted(label)}" for label in labels]) + " {"


def _steps_of_reference(text: str) -> list[Step]:
    check_text("a reference", text)
    found = parse_traversal(Source("", text.strip()), Diagnostics())
    if found is None:
        raise ValueError(f"{text!r} is not a reference such as var.name")
    return found.steps


def _checked_reference(text: str) -> str:
    _steps_of_reference(text)
    return text.strip()


def _rename(attribute: AttributeText, old: list[Step], new: str) -> bool:
    """Replace the prefix of every matching reference by `new`; return whether there was one."""
    spans = [
        (traversal.start, traversal.steps[len(old) - 1].end)
        for traversal in attribute.references()
        if traversal.steps[: len(old)] == old
    ]
    source = attribute.source
    for start, end in reversed(spans):
        source = source[:start] + new + source[end:]
    attribute.source = source
    return bool(spans)
