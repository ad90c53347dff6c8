"""Requests of the protocol: each turns an answer of `nigari.language` into the protocol's words."""

from __future__ import annotations

from collections.abc import Callable

from nigari.lsp.editor import Editor, Params
from nigari.lsp.features import (
    actions,
    completions,
    hovers,
    layouts,
    lenses,
    locations,
    outlines,
    pulled_diagnostics,
    renames,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

Handler = Callable[["Editor", "Params"], object]

REQUESTS: Final[dict[str, Handler]] = {
    "callHierarchy/incomingCalls": actions.incoming_calls,
    "callHierarchy/outgoingCalls": actions.outgoing_calls,
    "codeLens/resolve": lenses.resolve_lens,
    "textDocument/codeAction": actions.code_action,
    "textDocument/codeLens": lenses.code_lens,
    "textDocument/completion": completions.completion,
    "textDocument/declaration": locations.declaration,
    "textDocument/definition": locations.definition,
    "textDocument/diagnostic": pulled_diagnostics.document_diagnostic,
    "textDocument/documentHighlight": locations.document_highlight,
    "textDocument/documentLink": locations.document_link,
    "textDocument/documentSymbol": outlines.document_symbol,
    "textDocument/foldingRange": layouts.folding_range,
    "textDocument/formatting": layouts.formatting,
    "textDocument/hover": hovers.hover,
    "textDocument/implementation": locations.implementation,
    "textDocument/inlayHint": layouts.inlay_hint,
    "textDocument/onTypeFormatting": layouts.on_type_formatting,
    "textDocument/rangeFormatting": layouts.range_formatting,
    "textDocument/prepareCallHierarchy": actions.prepare_calls,
    "textDocument/prepareRename": renames.prepare_rename,
    "textDocument/references": locations.all_references,
    "textDocument/rename": renames.rename_symbol,
    "textDocument/selectionRange": layouts.selection_range,
    "textDocument/semanticTokens/full": layouts.semantic_tokens,
    "textDocument/semanticTokens/full/delta": layouts.semantic_tokens_delta,
    "textDocument/semanticTokens/range": layouts.semantic_tokens_range,
    "textDocument/signatureHelp": completions.signature_help,
    "workspace/diagnostic": pulled_diagnostics.workspace_diagnostic,
    "workspace/symbol": outlines.workspace_symbol,
}
"""The handlers of requests."""
