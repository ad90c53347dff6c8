"""Differences on the screen: a mark before each part, and how much of the rest stays the same.

What follows an equals sign is one text with line ends in it; a part that goes on over several lines
is indented by its depth. Marks, notes and the alignment of names are as people know them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from nigari.cli.views.presentation import Presentation, line, pad
from nigari.cli.views.string_text import Text, is_short, text_of
from nigari.cty.go_text import go_quote
from nigari.cty.types import DYNAMIC
from nigari.hcl.scanner import is_identifier
from nigari.plan.differences.datum import Datum, Numeral
from nigari.plan.differences.difference import (
    BlockDifference,
    BlockGroup,
    Difference,
    ElementDifferences,
    Exchange,
    Fate,
    Members,
    Pending,
    Secret,
    SecretBody,
    Simple,
    WriteOnly,
)
from nigari.plan.differences.pairing import pairs
from nigari.plan.differences.value_comparison import compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_PENDING: Final = "(known after apply)"
_SECRET: Final = "(sensitive value)"
_WRITTEN: Final = "(write-only attribute)"
_ALWAYS_SHOWN: Final = frozenset(("id", "name", "tags"))
"""Attributes by which people recognise an object."""


def difference_text(difference: Difference, depth: int, presentation: Presentation) -> str:
    """The text after the name of a part."""
    if isinstance(difference, Simple):
        return _simple(difference, depth, presentation)
    if isinstance(difference, Secret):
        return _secret(difference, depth, presentation)
    if isinstance(difference, Members):
        return _members(difference, depth, presentation)
    if isinstance(difference, ElementDifferences):
        return _elements(difference, depth, presentation)
    if isinstance(difference, BlockDifference):
        return _body(difference, depth, presentation)
    if isinstance(difference, Pending):
        return _pending(difference, depth, presentation)
    if isinstance(difference, Exchange):
        inner = presentation.but(says_null=False)
        before = difference_text(difference.before, depth, inner)
        return f"{before} {presentation.arrow} {difference_text(difference.after, depth, inner)}"
    assert isinstance(difference, WriteOnly)
    return f"{_WRITTEN}{presentation.forced(difference.forces)}{presentation.null(difference.fate)}"


@lru_cache(maxsize=4096)
def _name(name: str) -> str:
    return name if is_identifier(name) else go_quote(name)


def _pending(difference: Pending, depth: int, presentation: Presentation) -> str:
    forced = presentation.forced(difference.forces)
    if difference.before is None:
        return f"{_PENDING}{forced}"
    before = difference_text(difference.before, depth, presentation.but(says_null=False))
    return f"{before} -> {_PENDING}{forced}"


# -- secrets ----------------------------------------------------------------------------------


def _secret(difference: Secret, depth: int, presentation: Presentation) -> str:
    forced = presentation.forced(difference.forces)
    if presentation.reveals:
        return difference_text(difference.inner, depth, presentation)
    if not isinstance(difference, SecretBody):
        return f"{_SECRET}{presentation.null(difference.fate)}{forced}"
    lines = [
        f"{{{forced}",
        line(depth, presentation, Fate.SAME, "  # Something in this block is or was sensitive, so"),
        line(depth, presentation, Fate.SAME, "  # it is not shown."),
        line(depth, presentation, Fate.SAME, "}"),
    ]
    return "\n".join(lines)


def _warnings(difference: Difference, depth: int, presentation: Presentation) -> list[str]:
    """That something becomes secret, or is no longer."""
    if not isinstance(difference, Secret) or difference.was_secret is difference.is_secret:
        return []
    if difference.inner.fate in (Fate.NEW, Fate.GONE):
        return []
    what = "block" if isinstance(difference, SecretBody) else "attribute"
    warning = presentation.style.yellow("Warning")
    text = f"# {warning}: this {what} becomes sensitive and is hidden from then on."
    if difference.was_secret:
        text = f"# {warning}: this {what} stops being sensitive once this is applied."
    if difference.inner.fate is Fate.SAME and what == "attribute":
        text += " Its value does not change."
    return [f"{pad(depth)}  {text}"]


# -- parts ------------------------------------------------------------------------------------


def _entry(
    name: str, difference: Difference, depth: int, presentation: Presentation, end: str = ""
) -> str:
    """A part on lines of its own."""
    text = f"{name}{difference_text(difference, depth, presentation)}{end}"
    lines = [
        *_warnings(difference, depth, presentation),
        line(depth, presentation, difference.fate, text),
    ]
    return "\n".join(lines)


def _members(difference: Members, depth: int, presentation: Presentation) -> str:
    is_map, is_nested = difference.is_map, difference.is_nested
    hands_down = is_map and is_nested
    forced = presentation.forced(difference.forces and not hands_down)
    null = presentation.null(difference.fate)
    if not difference.parts:
        return f"{{}}{null}{forced}"
    if is_map:
        says_null = presentation.says_null and difference.fate is not Fate.GONE and not is_nested
        inner = presentation.but(says_null=says_null, all_force=difference.forces and hands_down)
    else:
        inner = presentation.but(says_null=is_nested)
    names = {key: go_quote(key) if is_map else _name(key) for key in sorted(difference.parts)}
    width = 0 if hands_down else max(len(name) for name in names.values())
    lines = [f"{{{forced}"]
    same = 0
    for key, name in names.items():
        part = difference.parts[key]
        is_important = not is_map and key in _ALWAYS_SHOWN
        if part.fate is Fate.SAME and not presentation.shows_same and not is_important:
            same += 1
            continue
        comma = "," if is_map and isinstance(part, Members) and not part.is_map else ""
        way = inner.but(shows_same=True) if is_important else inner
        lines.append(_entry(f"{name:<{width}} = ", part, depth + 1, way, comma))
    if same:
        what = "element" if is_map else "attribute"
        lines.append(line(depth + 1, presentation, Fate.SAME, presentation.hidden(same, what)))
    lines.append(line(depth, presentation, Fate.SAME, f"}}{null}"))
    return "\n".join(lines)


def _elements(difference: ElementDifferences, depth: int, presentation: Presentation) -> str:
    hands_down = difference.is_set and difference.is_nested
    forced = presentation.forced(difference.forces and not hands_down)
    null = presentation.null(difference.fate)
    if not difference.parts:
        return f"[]{null}{forced}"
    inner = presentation.but(says_null=False)
    if difference.is_set:
        inner = inner.but(all_force=difference.forces and hands_down)
    lines = [f"[{forced}"]
    if difference.is_set or difference.is_nested:
        changing = [
            each
            for each in difference.parts
            if presentation.shows_same or each.fate is not Fate.SAME
        ]
        lines += [_entry("", each, depth + 1, inner, ",") for each in changing]
        same = len(difference.parts) - len(changing)
    else:
        same = _in_context(difference.parts, depth, presentation, inner, lines)
    if same:
        lines.append(line(depth + 1, presentation, Fate.SAME, presentation.hidden(same, "element")))
    lines.append(line(depth, presentation, Fate.SAME, f"]{null}"))
    return "\n".join(lines)


def _in_context(
    parts: Sequence[Difference],
    depth: int,
    presentation: Presentation,
    inner: Presentation,
    lines: list[str],
) -> int:
    """Add what changes with the elements around it, and tell how many are left at the end."""
    unchanged = presentation.but(shows_same=True)
    waiting: list[Difference] = []
    follows_change = False
    for part in parts:
        is_same = part.fate is Fate.SAME
        if is_same and not follows_change and not presentation.shows_same:
            waiting.append(part)
            continue
        if len(waiting) > 1:
            note = presentation.hidden(len(waiting) - 1, "element")
            lines.append(line(depth + 1, presentation, Fate.SAME, note))
        if waiting:
            lines.append(_entry("", waiting[-1], depth + 1, unchanged, ","))
        waiting = []
        follows_change = not is_same
        lines.append(_entry("", part, depth + 1, unchanged if is_same else inner, ","))
    return len(waiting)


def _body(difference: BlockDifference, depth: int, presentation: Presentation) -> str:
    forced = presentation.forced(difference.forces)
    if not difference.attributes and not difference.groups:
        return f"{{}}{forced}"
    names = {key: _name(key) for key in sorted(difference.attributes)}
    width = max((len(name) for name in names.values()), default=0)
    lines = [f"{{{forced}"]
    same = 0
    for key, name in names.items():
        part = difference.attributes[key]
        is_important = key in _ALWAYS_SHOWN
        if part.fate is Fate.SAME and not presentation.shows_same and not is_important:
            same += 1
            continue
        way = presentation.but(shows_same=True) if is_important else presentation
        lines.append(_entry(f"{name:<{width}} = ", part, depth + 1, way))
    if same:
        lines.append(
            line(depth + 1, presentation, Fate.SAME, presentation.hidden(same, "attribute"))
        )
    same = 0
    for key, group in sorted(difference.groups.items()):
        shown = _group(_name(key), group, depth + 1, presentation, difference.forces)
        same += len(group.blocks) - len(shown)
        if shown and names:
            lines.append("")
        lines += shown
    if same:
        lines += ["", line(depth + 1, presentation, Fate.SAME, presentation.hidden(same, "block"))]
    lines.append(line(depth, presentation, Fate.SAME, "}"))
    return "\n".join(lines)


def _group(
    name: str, group: BlockGroup, depth: int, presentation: Presentation, is_forced: bool
) -> list[str]:
    """The blocks of one kind, those that change."""
    way = presentation.but(all_force=group.forces or (group.is_set and is_forced))
    shown: list[str] = []
    for label, block in group.blocks:
        if group.was_secret or group.is_secret:
            block = _hidden_block(block, group)
        if block.fate is not Fate.SAME or presentation.shows_same:
            shown.append(_entry(f"{name}{label} ", block, depth, way))
    return shown


def _hidden_block(block: Difference, group: BlockGroup) -> Difference:
    """A block of a kind that is secret altogether."""
    if (block.fate is Fate.NEW and not group.is_secret) or (
        block.fate is Fate.GONE and not group.was_secret
    ):
        return block
    fate = block.fate
    if fate is Fate.SAME and group.was_secret is not group.is_secret:
        fate = Fate.CHANGED
    return SecretBody(fate, block.forces, block, group.was_secret, group.is_secret)


# -- values without parts ---------------------------------------------------------------------


def _simple(difference: Simple, depth: int, presentation: Presentation) -> str:
    fate, forced = difference.fate, presentation.forced(difference.forces)
    before, after = difference.before, difference.after
    if fate is Fate.NEW and after is not None and is_short(after.plain):
        return f"{go_quote(after.plain)}{forced}"
    if _is_text(before) or _is_text(after):
        return _string(difference, depth, presentation)
    if fate is Fate.NEW:
        return f"{_bare(after, presentation)}{forced}"
    if fate is Fate.GONE:
        return f"{_bare(before, presentation)}{presentation.null(fate)}{forced}"
    if fate is Fate.SAME:
        return f"{_bare(before, presentation)}{forced}"
    return (
        f"{_bare(before, presentation)} {presentation.arrow} {_bare(after, presentation)}{forced}"
    )


def _is_text(part: Datum | None) -> bool:
    return part is not None and isinstance(part.plain, str)


def _bare(part: Datum | None, presentation: Presentation) -> str:
    plain = None if part is None else part.plain
    if plain is None:
        return presentation.style.grey("null")
    if isinstance(plain, bool):
        return "true" if plain else "false"
    return plain.text if isinstance(plain, Numeral) else str(plain)


def _string(difference: Simple, depth: int, presentation: Presentation) -> str:
    fate = difference.fate
    before, after = _text(difference.before), _text(difference.after)
    if fate in (Fate.NEW, Fate.SAME):
        before = None if fate is Fate.NEW else after
    elif fate is Fate.GONE:
        after = None
    given = [each for each in (before, after) if each is not None]
    if any(each.json is not None for each in given):
        if all(each.json is not None for each in given) and (
            (before and after) or fate is not Fate.CHANGED
        ):
            return _json(difference, before, after, depth, presentation)
        return _exchanged(difference, depth, presentation)
    if any(each.has_lines for each in given):
        return _several_lines(difference, before, after, depth, presentation)
    forced = presentation.forced(difference.forces)
    if fate is Fate.CHANGED:
        shown = [
            presentation.style.grey("null") if e is None else e.quoted for e in (before, after)
        ]
        return f"{shown[0]} {presentation.arrow} {shown[1]}{forced}"
    return f"{given[0].quoted}{presentation.null(fate)}{forced}"


def _text(part: Datum | None) -> Text | None:
    return text_of(part.plain) if part is not None and isinstance(part.plain, str) else None


def _exchanged(difference: Simple, depth: int, presentation: Presentation) -> str:
    """A text that tells something in JSON and becomes one that does not, or the other way."""
    before = Simple(Fate.GONE, False, difference.before, None)
    after = Simple(Fate.NEW, False, None, difference.after)
    return difference_text(Exchange(difference.forces, before, after), depth, presentation)


def _several_lines(
    difference: Simple,
    before: Text | None,
    after: Text | None,
    depth: int,
    presentation: Presentation,
) -> str:
    fate = difference.fate
    old = [] if before is None else before.lines
    new = [] if after is None else after.lines
    lines = [f"<<-EOT{presentation.forced(difference.forces)}"]
    if fate is Fate.CHANGED:
        lines += _line_by_line(old or ["null"], new or ["null"], depth + 1, presentation)
    else:
        lines += [line(depth + 1, presentation, Fate.SAME, each) for each in new or old]
    lines.append(line(depth, presentation, Fate.SAME, f"EOT{presentation.null(fate)}"))
    return "\n".join(lines)


def _line_by_line(
    before: Sequence[str], after: Sequence[str], depth: int, presentation: Presentation
) -> Iterable[str]:
    for one, other in pairs(before, after):
        if one is None:
            assert other is not None
            yield line(depth, presentation, Fate.NEW, after[other])
        else:
            yield line(
                depth, presentation, Fate.SAME if other is not None else Fate.GONE, before[one]
            )


def _json(
    difference: Simple,
    before: Text | None,
    after: Text | None,
    depth: int,
    presentation: Presentation,
) -> str:
    fate = difference.fate
    old = None if before is None else before.json
    new = None if after is None else after.json
    inner = compare(old, new, DYNAMIC)
    way = presentation.but(says_null=False)
    note, forced = "", presentation.forced(difference.forces)
    mark = fate if fate is Fate.CHANGED else Fate.SAME
    if inner.fate is Fate.SAME and fate is Fate.CHANGED:
        note = " # only whitespace changes"
        if difference.forces:
            note = " # forces replacement, although only whitespace changes"
        forced, mark = "", Fate.SAME
        way = way.but(shows_same=True)
    text = difference_text(inner, depth + 1, way)
    if "\n" not in text:
        return f"jsonencode({text}){note}{forced}"
    lines = [
        f"jsonencode({note}",
        line(depth + 1, presentation, mark, f"{text}{forced}"),
        line(depth, presentation, Fate.SAME, f"){presentation.null(fate)}"),
    ]
    return "\n".join(lines)
