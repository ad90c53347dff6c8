"""The parts of a tree for rewriting: text, arguments, blocks and bodies, and what can be changed.

Owns where new items go and how they are laid out, which is close to what stands around them.
Unlike everything else in this package, these objects are there to be changed. How a tree is made
from a text is in `writer`; what arguments and blocks mean is not known at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nigari.cty.copying import reduced
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.quoting import quoted
from nigari.hcl.render import render_value
from nigari.hcl.scanner import is_identifier
from nigari.hcl.source import Source
from nigari.hcl.traversal import Traversal, TraverseAttr, TraverseRoot

_STEP = "  "


class Item:
    """A part of a body: text, an argument or a block."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def write(self, out: list[str]) -> None:
        """Appends the pieces of the text that this is."""
        raise AssertionError("every item writes itself")

    def __str__(self) -> str:
        out: list[str] = []
        self.write(out)
        return "".join(out)

    def __repr__(self) -> str:
        text = str(self)
        return f"<{type(self).__name__} {Source('', text).glimpse(0, len(text))}>"


class Gap(Item):
    """Text between items: blank lines, comments that belong to nothing, what did not parse."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def write(self, out: list[str]) -> None:
        out.append(self.text)


class AttributeText(Item):
    """An argument with what belongs to it.

    `lead` is the comments above it and the spaces before it; `tail` the rest of its last line.
    """

    __slots__ = ("equals", "lead", "name", "source", "tail")

    def __init__(self, lead: str, name: str, equals: str, source: str, tail: str) -> None:
        self.lead = lead
        self.name = name
        self.equals = equals
        self.source = source
        """The expression as it is written."""
        self.tail = tail

    def write(self, out: list[str]) -> None:
        out += (self.lead, self.name, self.equals, self.source, self.tail)

    @property
    def comments(self) -> str:
        """The comments above the argument, as they are written."""
        return _comments(self.lead)

    def references(self) -> list[Traversal]:
        """What the expression refers to."""
        return parse_expression(Source("", f"{self.source}\n"), Diagnostics()).variables()

    def rename(self, old: str, new: str) -> bool:
        """Let every reference that begins with `old`, such as `var.a`, begin with `new`."""
        names = old.split(".")
        spans = [
            (traversal.start, traversal.steps[len(names) - 1].end)
            for traversal in self.references()
            if _begins_with(traversal, names)
        ]
        source = self.source
        for start, end in reversed(spans):
            source = source[:start] + new + source[end:]
        self.source = source
        return bool(spans)


class BlockText(Item):
    """A block with what belongs to it.

    `header` is what stands between the type and the body: the labels and the opening brace.
    """

    __slots__ = ("_labels", "body", "header", "lead", "tail", "type")

    def __init__(
        self, lead: str, type: str, labels: Sequence[str], header: str, body: BodyText, tail: str
    ) -> None:
        self.lead = lead
        self.type = type
        self._labels = list(labels)
        self.header = header
        self.body = body
        self.tail = tail

    def write(self, out: list[str]) -> None:
        out += (self.lead, self.type, self.header)
        self.body.write(out)
        out += ("}", self.tail)

    @property
    def comments(self) -> str:
        """The comments above the block, as they are written."""
        return _comments(self.lead)

    @property
    def labels(self) -> list[str]:
        return list(self._labels)

    def set_labels(self, labels: Sequence[str]) -> None:
        """Give the block other labels."""
        self._labels = list(labels)
        self.header = _header(labels)

    def set_type(self, type: str) -> None:
        """Make it a block of another type."""
        _check_name(type)
        self.type = type


class BodyText:
    """The items of a file or of a block; `indent` is what stands before each of its lines.

    The first and the last item of a block's body are gaps: what follows the opening brace in its
    line, and what stands before the closing brace in its line.
    """

    __slots__ = ("indent", "is_file", "items", "newline")

    def __init__(self, items: list[Item], indent: str, is_file: bool, newline: str) -> None:
        self.items = items
        self.indent = indent
        self.is_file = is_file
        self.newline = newline

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def write(self, out: list[str]) -> None:
        """Appends the pieces of the text that this is."""
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
        """The arguments by name, in the order they are written."""
        return {item.name: item for item in self.items if isinstance(item, AttributeText)}

    @property
    def blocks(self) -> list[BlockText]:
        """The blocks, in the order they are written."""
        return [item for item in self.items if isinstance(item, BlockText)]

    def get(self, name: str) -> AttributeText | None:
        """The argument of that name, if there is one."""
        return self.attributes.get(name)

    def blocks_of(self, type: str, *labels: str) -> list[BlockText]:
        """The blocks of a type whose labels begin with these."""
        wanted = list(labels)
        return [
            block
            for block in self.blocks
            if block.type == type and block.labels[: len(wanted)] == wanted
        ]

    def everything(self) -> Iterator[Item]:
        """Every argument and block at any depth."""
        pending: list[Item] = list(reversed(self.items))
        while pending:
            item = pending.pop()
            if isinstance(item, Gap):
                continue
            yield item
            if isinstance(item, BlockText):
                pending.extend(reversed(item.body.items))

    # -- changing -----------------------------------------------------------------------------

    def set(self, name: str, value: object) -> AttributeText:
        """Give an argument a value: a `Value`, or plain Python data that can become one."""
        given = value if isinstance(value, Value) else Value.of(value)
        return self.set_source(name, render_value(given, self.indent))

    def set_source(self, name: str, source: str) -> AttributeText:
        """Give an argument an expression; `ValueError` where the text is none."""
        _check_name(name)
        source = _checked_expression(source)
        have = self.get(name)
        if have is not None:
            have.source = source
            return have
        self._open_up()
        position = self._after_last_attribute()
        before = self.items[position - 1] if position else None
        equals = " = "
        if isinstance(before, AttributeText) and "\n" not in before.source:
            equals = _aligned(name, before)
        attribute = AttributeText(self.indent, name, equals, source, self.newline)
        self._end_line_before(position)
        if position < len(self.items) and isinstance(self.items[position], BlockText):
            self.items.insert(position, Gap(self.newline))
        self.items.insert(position, attribute)
        return attribute

    def remove(self, name: str) -> bool:
        """Remove an argument with its comments; whether there was one."""
        attribute = self.get(name)
        if attribute is not None:
            self._remove(attribute)
        return attribute is not None

    def remove_block(self, block: BlockText) -> None:
        """Remove a block of this body with its comments."""
        self._remove(block)

    def append_block(self, type: str, labels: Sequence[str] = ()) -> BlockText:
        """Add an empty block at the end."""
        _check_name(type)
        self._open_up()
        nested = BodyText(
            [Gap(self.newline), Gap(self.indent)], self.indent + _STEP, False, self.newline
        )
        block = BlockText(self.indent, type, labels, _header(labels), nested, self.newline)
        position = len(self.items)
        if not self.is_file:
            # The last gap holds the spaces before the closing brace.
            position -= 1
        self._end_line_before(position)
        if any(not isinstance(item, Gap) for item in self.items):
            self.items.insert(position, Gap(self.newline))
            position += 1
        self.items.insert(position, block)
        return block

    def rename(self, old: str, new: str) -> int:
        """Rename references in all expressions at any depth; how many arguments changed."""
        changed = 0
        for item in self.everything():
            if isinstance(item, AttributeText) and item.rename(old, new):
                changed += 1
        return changed

    def _remove(self, item: Item) -> None:
        position = next(i for i, have in enumerate(self.items) if have is item)
        del self.items[position]
        if isinstance(item, BlockText):
            self._close_gap(position)

    def _close_gap(self, position: int) -> None:
        """Leaves at most one blank line where a block was, and none at an end of the body."""
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
        """Makes sure that what is inserted at a position begins a line."""
        if position == 0:
            return
        before = self.items[position - 1]
        if isinstance(before, AttributeText | BlockText):
            if not before.tail.endswith("\n"):
                before.tail += self.newline
        elif isinstance(before, Gap) and before.text and not before.text.endswith("\n"):
            before.text += self.newline

    def _open_up(self) -> None:
        """Gives each item of a block that is written on one line a line of its own."""
        first = self.items[0] if self.items else None
        if self.is_file or (isinstance(first, Gap) and "\n" in first.text):
            return
        opened: list[Item] = [Gap(self.newline)]
        for item in self.items:
            if isinstance(item, AttributeText):
                item.lead = self.indent
                item.tail = self.newline
                opened.append(item)
        opened.append(Gap(self.indent.removesuffix(_STEP)))
        self.items = opened


# -- pieces of text -----------------------------------------------------------------------------


def _header(labels: Sequence[str]) -> str:
    return "".join([f" {quoted(label)}" for label in labels]) + " {"


def _comments(lead: str) -> str:
    return "\n".join([line.strip() for line in lead.split("\n")]).strip()


def _aligned(name: str, before: AttributeText) -> str:
    """What to write between a name and its value to stand below the equals sign of a neighbour."""
    column = len(before.name) + before.equals.find("=")
    return f"{' ' * max(column - len(name), 1)}= "


def _begins_with(traversal: Traversal, names: list[str]) -> bool:
    if len(traversal) < len(names):
        return False
    for step, name in zip(traversal.steps, names, strict=False):
        if not isinstance(step, TraverseRoot | TraverseAttr) or step.name != name:
            return False
    return True


def _check_name(name: str) -> None:
    if not is_identifier(name):
        raise ValueError(f"{name!r} is not a valid identifier")


def _checked_expression(source: str) -> str:
    diags = Diagnostics()
    source = source.strip()
    body: NativeBody = parse_body(Source("", f"x = {source}\n"), diags)
    if diags.has_errors or list(body.attributes) != ["x"] or body.blocks:
        detail = next(iter(diags)).detail if len(diags) else "it is more than an expression"
        raise ValueError(f"{source!r} is not an expression: {detail}")
    return source
