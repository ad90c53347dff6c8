"""The capabilities of the server, by those of the client."""

from __future__ import annotations

from nigari.language.coloring import KINDS
from nigari.language.refactorings import EXTRACT, INLINE, MOVE, REWRITE
from nigari.lsp.editor import Editor
from nigari.lsp.features.actions import QUICK_FIX
from nigari.lsp.features.commands import COMMANDS
from nigari.lsp.features.layouts import MODIFIERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_INCREMENTAL: Final = 2
WATCHED: Final = (
    "**/*.{tf,tofu,tfvars,json,hcl}",
    "**/.terraform/modules/modules.json",
)
"""Files whose changes matter, as globs."""


def server_capabilities(editor: Editor) -> dict[str, object]:
    """The capabilities of the server for this client."""
    return {
        "positionEncoding": editor.encoding,
        "textDocumentSync": {
            "openClose": True,
            "change": _INCREMENTAL,
            "save": {"includeText": False},
        },
        "diagnosticProvider": {
            "identifier": "nigari",
            "interFileDependencies": True,
            "workspaceDiagnostics": True,
        },
        "hoverProvider": True,
        "completionProvider": {"triggerCharacters": [".", '"', "[", "/", "="]},
        "signatureHelpProvider": {"triggerCharacters": ["(", ","]},
        "declarationProvider": True,
        "definitionProvider": True,
        "implementationProvider": True,
        "referencesProvider": True,
        "documentHighlightProvider": True,
        "documentLinkProvider": {"resolveProvider": False},
        "documentSymbolProvider": True,
        "workspaceSymbolProvider": True,
        "documentFormattingProvider": True,
        "documentRangeFormattingProvider": True,
        "documentOnTypeFormattingProvider": {
            "firstTriggerCharacter": "}",
            "moreTriggerCharacter": ["\n"],
        },
        "renameProvider": {"prepareProvider": True},
        "codeActionProvider": {"codeActionKinds": [QUICK_FIX, EXTRACT, INLINE, MOVE, REWRITE]},
        "codeLensProvider": {"resolveProvider": True},
        "executeCommandProvider": {"commands": [*COMMANDS], "workDoneProgress": True},
        "callHierarchyProvider": True,
        "foldingRangeProvider": True,
        "selectionRangeProvider": True,
        "semanticTokensProvider": {
            "legend": {"tokenTypes": [*KINDS], "tokenModifiers": [*MODIFIERS]},
            "full": {"delta": True},
            "range": True,
        },
        "inlayHintProvider": {"resolveProvider": False},
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
    }
