"""The lines of `-json` and `-json-into`: one JSON object each, in the form that `tofu` uses."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cli.output_stream import error_of
from nigari.diagnostics import ContextOf, Diagnostics, Severity, Sources
from nigari.diagnostics.render import no_context, to_json
from nigari.plan.show.json_document import document
from nigari.version import OPENTOFU_VERSION, VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TextIO


UI_VERSION: Final = "1.2"


class JsonLines:
    """A stream of events for programs."""

    __slots__ = ("_stream",)

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.event(
            f"Nigari {VERSION}",
            {"type": "version", "tofu": OPENTOFU_VERSION, "ui": UI_VERSION, "nigari": VERSION},
        )

    def event(self, message: str, members: Mapping[str, object], level: str = "info") -> None:
        """Write one event."""
        from datetime import UTC, datetime

        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        line = {"@level": level, "@message": message, "@module": "tofu.ui", "@timestamp": now}
        self._stream.write(f"{document({**line, **dict(sorted(members.items()))})}\n")
        # A follower wants to see it now.
        self._stream.flush()

    def raw(self, document: str) -> None:
        """Write a document that is JSON already and stands for itself."""
        self._stream.write(f"{document}\n")

    def diagnostics(self, diags: Diagnostics, sources: Sources, context_of: ContextOf) -> None:
        """Write each diagnostic as an event."""
        if not len(diags):
            return
        from nigari.workspace.context.shown_sources import ShownSources

        sources = ShownSources(sources)
        for each in diags.in_order():
            is_error = each.severity is Severity.ERROR
            self.event(
                f"{'Error' if is_error else 'Warning'}: {each.summary}",
                {"type": "diagnostic", "diagnostic": to_json(each, sources, context_of)},
                "error" if is_error else "warn",
            )

    def close(self) -> OSError | None:
        """End the stream; why it has not taken everything, if it has not."""
        self._stream.flush()
        error = error_of(self._stream)
        self._stream.close()
        return error


def tell_refusal(reason: str, events: JsonLines) -> None:
    """Tell programs why a command line was not understood."""
    refusal = Diagnostics()
    refusal.error("Invalid command line", reason)
    events.diagnostics(refusal, {}, no_context)
