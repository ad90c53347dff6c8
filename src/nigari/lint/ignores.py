"""Comments that ignore findings: `# nigari-ignore: RULE, RULE: reason`.

On a line of its own such a comment is about the line that follows, and about the whole block if that
line begins one; behind something it is about its own line. `nigari-ignore-file` is about the whole
file. A comment without a reason, and one that nothing needs, is a finding itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.diagnostics import Range
from nigari.hcl.body import Block
from nigari.hcl.native_body import NativeBody
from nigari.hcl.source import Source
from nigari.lazy import lazy_pattern
from nigari.lint.rule import Finding
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

WITHOUT_REASON: Final = "nigari:ignore-without-reason"
UNUSED: Final = "nigari:unused-ignore"
_NAME: Final = r"(?:[a-z0-9_\-/]+:[a-z0-9_\-]+|all)"
_COMMENT = lazy_pattern(
    rf"(?:#|//)[ \t]*nigari-ignore(?P<file>-file)?:[ \t]*"
    rf"(?P<rules>{_NAME}(?:[ \t]*,[ \t]*{_NAME})*)[ \t]*(?::[ \t]*(?P<reason>[^\n]*))?"
)
_MARK: Final = "nigari-ignore"


@record
class Ignore:
    """One comment: the rules and the lines that it is about."""

    rules: tuple[str, ...]
    first: int
    last: int
    reason: str
    range: Range

    def covers(self, finding: Finding) -> bool:
        """Return whether a comment ignores a finding."""
        where = finding.range
        if where is None or not self.reason:
            return False
        is_meant = finding.rule in self.rules or "all" in self.rules
        return is_meant and self.first <= where.start.line <= self.last


def ignores_in(body: NativeBody) -> list[Ignore]:
    """The comments of a file that ignore findings."""
    source = body.source
    if _MARK not in source.text:
        return []
    ends = dict(_block_lines(body.blocks))
    return [_ignore(source, match.start(), match, ends) for match in _COMMENT.finditer(source.text)]


def _ignore(source: Source, start: int, match: object, ends: dict[int, int]) -> Ignore:
    import re

    assert isinstance(match, re.Match)
    text = source.text
    line = source.pos(start).line
    rules = tuple(each.strip() for each in match["rules"].split(","))
    where = source.range(start, match.end())
    reason = (match["reason"] or "").strip()
    if match["file"]:
        return Ignore(rules, 1, source.pos(len(text)).line, reason, where)
    first = text.rfind("\n", 0, start) + 1
    if not text[first:start].strip():
        line = _next_line(text, match.end(), line)
    return Ignore(rules, line, ends.get(line, line), reason, where)


def _next_line(text: str, end: int, line: int) -> int:
    """The line of the next item: further comments may stand in between."""
    while True:
        start = text.find("\n", end)
        if start < 0:
            return line
        end = text.find("\n", start + 1)
        end = len(text) if end < 0 else end
        line += 1
        if not text[start + 1 : end].lstrip().startswith(("#", "//")):
            return line


def _block_lines(blocks: list[Block]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each block."""
    for block in blocks:
        yield block.range.start.line, block.range.end.line
        if isinstance(block.body, NativeBody):
            yield from _block_lines(block.body.blocks)
