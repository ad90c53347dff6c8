"""`textDocument/hover`."""

from __future__ import annotations

from nigari.language.hover import hover_at
from nigari.lsp.editor import Editor, Params


def hover(editor: Editor, params: Params) -> object:
    """The hover at a position."""
    document, offset = editor.at(params)
    found = hover_at(editor, document, offset)
    if found is None:
        return None
    formats = editor.formats("textDocument", "hover", "contentFormat")
    kind = "markdown" if not formats or "markdown" in formats else "plaintext"
    text = found.text if kind == "markdown" else plain(found.text)
    return {
        "contents": {"kind": kind, "value": text},
        "range": editor.lines(document).range(found.start, found.end),
    }


def plain(markdown: str) -> str:
    """A text without the marks of Markdown that are used here."""
    lines = [line for line in markdown.split("\n") if not line.startswith("```")]
    return "\n".join(lines).replace("`", "").replace("**", "")
