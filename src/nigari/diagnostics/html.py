"""HTML for notebooks: diagnostics as the command line renders them, and small tables.

Text from a configuration or a provider is always escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from nigari.diagnostics.model import Diagnostic, Severity
from nigari.diagnostics.render import to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.diagnostics.snippet import Sources


COLOURS: Final = {"create": "#1a7f37", "update": "#9a6700", "delete": "#cf222e"}
_CELL: Final = 'style="text-align:left;vertical-align:top;padding:0.2em 0.8em"'


def diagnostics_html(diagnostics: Iterable[Diagnostic], sources: Sources | None = None) -> str:
    """Render diagnostics with the source lines they point at, where `sources` has them."""
    parts = []
    for each in diagnostics:
        colour = COLOURS["delete" if each.severity is Severity.ERROR else "update"]
        text = escape(to_text([each], sources or {}).strip())
        parts.append(f'<pre style="border-left:3px solid {colour};padding-left:0.8em">{text}</pre>')
    return "".join(parts)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out a table; the cells must already be HTML, as they are not escaped here."""
    head = "".join(f"<th {_CELL}>{each}</th>" for each in heads)
    body = "".join(
        f"<tr>{''.join(f'<td {_CELL}>{each}</td>' for each in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
