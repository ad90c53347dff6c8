"""A text that has been parsed as a whole, and the open files that texts come from and go to.

Deliberately unknown here: how a text is parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Body
from nigari.hcl.errors import HclError
from nigari.hcl.source import Source
from nigari.record import record

if TYPE_CHECKING:
    from nigari.hcl.plain import PlainData

B_co = TypeVar("B_co", bound=Body, covariant=True)


class Readable(Protocol):
    """An open file."""

    def read(self) -> str | bytes: ...


class Writable(Protocol):
    """A text file that is open for writing."""

    def write(self, text: str, /) -> object: ...


@record
class File(Generic[B_co]):
    """A text that has been parsed: what could be read of it, and what is wrong with it."""

    source: Source
    body: B_co
    diagnostics: Diagnostics

    def describe(self) -> str:
        """The diagnostics as text for people, with the lines they are about."""
        from nigari.diagnostics import to_text

        data = self.source.text.encode("utf-8", "surrogateescape")
        return to_text(self.diagnostics.in_order(), {self.source.filename: data})

    def raise_for_errors(self) -> None:
        """Raise an `HclError` where there are errors."""
        if self.diagnostics.has_errors:
            raise HclError(list(self.diagnostics), self.describe())

    def plain(self, with_meta: bool = False) -> dict[str, PlainData]:
        """The content as plain data (see `nigari.hcl.plain`); `HclError` where there are errors."""
        from nigari.hcl.plain import plain

        self.raise_for_errors()
        return plain(self.body, with_meta)
