"""The state of one client: capabilities, documents, and the latest evaluations.

Everything here belongs to the main thread. What takes long is done by `nigari.lsp.background`, from
snapshots, and handed over when it is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nigari.diagnostics import Diagnostic
from nigari.language.document import Document
from nigari.language.own_files import own_problems
from nigari.language.workbench import Workbench
from nigari.lsp.text import UTF16, LineMap
from nigari.lsp.uris import path_of, uri_of
from nigari.lsp.wire import INVALID_PARAMS, RequestFailure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

Params = Mapping[str, "Any"]
"""The parameters of a message: what JSON holds is checked where it is used."""
_MOST_MAPS: Final = 64


class Editor(Workbench):
    """The documents of a client and all that is known of them."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__()
        self.environ: Mapping[str, str] = environ
        self.encoding: str = UTF16
        self.capabilities: Params = {}
        self.settings: dict[str, Any] = {}
        self.versions: dict[str, int | None] = {}
        """The version of each open document, by path."""
        self.texts: dict[str, str] = {}
        """The text of each open document, as the client has it."""
        self.languages: dict[str, str] = {}
        self.tokens: dict[str, tuple[str, list[int]]] = {}
        """The semantic tokens that were answered last, by path, with the id of the answer."""
        self._maps: dict[str, LineMap] = {}
        self._own_problems: dict[str, tuple[Document, tuple[Diagnostic, ...]]] = {}

    # -- documents --------------------------------------------------------------------------------

    def path(self, params: Params) -> str:
        """The path of the document that a request is about."""
        uri = str(params["textDocument"]["uri"])
        path = path_of(uri)
        if path is None:
            raise RequestFailure(INVALID_PARAMS, f"{uri} is not the URI of a file")
        return path

    def document(self, params: Params) -> Document:
        """The document that a request is about."""
        path = self.path(params)
        document = self.project.document(path)
        if document is None:
            raise RequestFailure(INVALID_PARAMS, f"{path} cannot be read")
        return document

    def at(self, params: Params) -> tuple[Document, int]:
        """The document and the offset that a request is about."""
        document = self.document(params)
        return document, self.lines(document).offset(params["position"])

    def lines(self, document: Document) -> LineMap:
        """The lines of a document."""
        known = self._maps.get(document.path)
        if known is None or known.text is not document.text:
            self._maps.pop(document.path, None)
            known = self._maps[document.path] = LineMap(document.text, self.encoding)
            if len(self._maps) > _MOST_MAPS:
                self._maps.pop(next(iter(self._maps)))
        return known

    def location(self, path: str, span: tuple[int, int]) -> dict[str, object] | None:
        """A location in a file; None for one that can no longer be read."""
        document = self.project.document(path)
        if document is None:
            return None
        return {"uri": uri_of(path), "range": self.lines(document).range(*span)}

    def locations(self, places: Iterable[tuple[str, tuple[int, int]]]) -> list[dict[str, object]]:
        """Locations in files, each once."""
        found = [self.location(path, span) for path, span in dict.fromkeys(places)]
        return [each for each in found if each is not None]

    @property
    def is_linting(self) -> bool:
        """Return whether the user wants lint findings."""
        return self.settings.get("lint", True) is not False

    def own_problems(self, document: Document) -> tuple[Diagnostic, ...]:
        """Return what is wrong with a file of our own, which is read once for each of its texts."""
        known = self._own_problems.get(document.path)
        if known is None or known[0] is not document:
            known = document, own_problems(document, self.environ)
            self._own_problems[document.path] = known
        return known[1]

    # -- what the client can do -------------------------------------------------------------------

    def can(self, *path: str) -> bool:
        """Return whether the client has a capability. An object without members counts as one."""
        found: Any = self.capabilities
        for name in path:
            if not isinstance(found, Mapping):
                return False
            found = found.get(name)
        return found is not None and found is not False

    def formats(self, *path: str) -> Sequence[str]:
        """The formats of texts that the client shows somewhere, the best one first."""
        found: Any = self.capabilities
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return [str(each) for each in found] if isinstance(found, list) else []
