"""Requests of the protocol: each turns an answer of `nigari.language` into the protocol's words."""

from __future__ import annotations

from collections.abc import Callable

from nigari.lsp.editor import Editor, Params
from nigari.lsp.features import pulled_diagnostics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

Handler = Callable[["Editor", "Params"], object]

REQUESTS: Final[dict[str, Handler]] = {
    "textDocument/diagnostic": pulled_diagnostics.document_diagnostic,
    "workspace/diagnostic": pulled_diagnostics.workspace_diagnostic,
}
"""What answers each request."""
