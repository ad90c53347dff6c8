"""Texts on the screen: in quotes, over several lines, or as the JSON that they hold."""

from __future__ import annotations

from nigari.cty.go_text import go_quote
from nigari.hcl.quoting import visible
from nigari.plan.differences.datum import Datum, json_datum
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard


@record
class Text:
    """A string, and what can be made of it."""

    text: str
    json: Datum | None = None
    has_lines: bool = False

    @property
    def quoted(self) -> str:
        return go_quote(self.text)

    @property
    def lines(self) -> list[str]:
        return visible(self.text).split("\n")


def is_short(plain: object) -> TypeGuard[str]:
    """Return whether a value is a one-line text that is not JSON, as most texts are."""
    return isinstance(plain, str) and plain[:1] not in ("{", "[") and "\n" not in plain


def text_of(string: str) -> Text:
    """A string with what it tells."""
    parsed = json_datum(string)
    if parsed is not None:
        return Text(string, parsed)
    if "\n" in string:
        return Text(string.strip(), has_lines=True)
    return Text(string)
