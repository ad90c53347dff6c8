"""Requests of the protocol: each turns an answer of `nigari.language` into the protocol's words."""

from __future__ import annotations

from collections.abc import Callable

from nigari.lsp.editor import Editor, Params
from nigari.lsp.features import hovers, locations, outlines, pulled_diagnostics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

Handler = Callable[["Editor", "Params"], object]

REQUESTS: Final[dict[str, Handler]] = {
    "textDocument/declaration": locations.declaration,
    "textDocument/definition": locations.definition,
    "textDocument/diagnostic": pulled_diagnostics.document_diagnostic,
    "textDocument/documentHighlight": locations.document_highlight,
    "textDocument/documentLink": locations.document_link,
    "textDocument/documentSymbol": outlines.document_symbol,
    "textDocument/hover": hovers.hover,
    "textDocument/implementation": locations.implementation,
    "textDocument/references": locations.all_references,
    "workspace/diagnostic": pulled_diagnostics.workspace_diagnostic,
    "workspace/symbol": outlines.workspace_symbol,
}
"""What answers each request."""
