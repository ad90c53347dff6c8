"""Parsed files, and protocols for open files.

Deliberately unknown here: parsing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Body
from nigari.hcl.errors import HclError
from nigari.hcl.source import Source
from nigari.record import record

if TYPE_CHECKING:
    from nigari.hcl.python_data import PlainData

B_co = TypeVar("B_co", bound=Body, covariant=True)


class Readable(Protocol):
    """An open file."""

    def read(self) -> str | bytes: ...


class Writable(Protocol):
    """A text file that is open for writing."""

    def write(self, text: str, /) -> object: ...


@record
class File(Generic[B_co]):
    """A parsed text: its body, as far as it is valid, and its diagnostics."""

    source: Source
    body: B_co
    diagnostics: Diagnostics

    def describe(self) -> str:
        """Render the diagnostics as text, with the source lines that they point at."""
        from nigari.diagnostics import to_text

        data = self.source.text.encode("utf-8", "surrogateescape")
        return to_text(self.diagnostics.in_order(), {self.source.filename: data})

    def raise_for_errors(self) -> None:
        """Raise an `HclError` if there are errors."""
        if self.diagnostics.has_errors:
            raise HclError(list(self.diagnostics), self.describe())

    def plain(self, with_meta: bool = False) -> dict[str, PlainData]:
        """Convert the content to plain data (see `nigari.hcl.python_data`); raise `HclError` if there are
        errors.
        """
        from nigari.hcl.python_data import plain

        self.raise_for_errors()
        return plain(self.body, with_meta)
