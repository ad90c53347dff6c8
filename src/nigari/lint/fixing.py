"""Applying the fixes of findings: only parts of texts are replaced, so comments and layout stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nigari.hcl.edits import Edit, applied
from nigari.hcl.source import Source
from nigari.lint.rule import Finding, Fix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MARK: Final = b"\xef\xbb\xbf"


def fixed_texts(findings: Iterable[Finding], sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """The contents of the files that fixes change. Of two fixes that overlap the first is applied;
    the other one is found again afterwards.
    """
    chosen: dict[str, list[Edit]] = {}
    for finding in findings:
        fix = finding.fix
        if fix is not None and fix.filename in sources:
            edits = chosen.setdefault(fix.filename, [])
            if not _overlaps(fix, edits):
                edits.extend(each for each in fix.edits if each not in edits)
    return {name: _edited(name, sources[name], edits) for name, edits in chosen.items() if edits}


def _overlaps(fix: Fix, edits: list[Edit]) -> bool:
    return any(
        one.start < other.end and other.start < one.end for one in fix.edits for other in edits
    )


def _edited(name: str, data: bytes, edits: list[Edit]) -> bytes:
    text = applied(Source.from_bytes(name, data).text, edits)
    mark = _MARK if data.startswith(_MARK) else b""
    return mark + text.encode("utf-8", "surrogateescape")
