"""Detection of binary files, such as those that git-crypt has not decrypted."""

from __future__ import annotations

from nigari.diagnostics import Diagnostics
from nigari.hcl.source import Source


def without_binary(source: Source, diags: Diagnostics) -> Source:
    """Replace the source of a binary file by an empty one, and report a single error.

    Without this check every unreadable line would be reported. A null character in a text is left
    to the parser, as OpenTofu accepts one within quotes.
    """
    at = source.text.find("\0")
    # Encrypted files of git-crypt begin with a null character.
    if at < 0 or (at > 0 and _is_utf8(source.text)):
        return source
    diags.error(
        "Not a text file",
        f"{source.filename} contains binary data, so it cannot be read. If it is encrypted, for "
        "example with git-crypt, decrypt it first.",
        source.range(at, at + 1),
    )
    return Source(source.filename, "{}" if source.filename.endswith(".json") else "")


def _is_utf8(text: str) -> bool:
    """Check for lone surrogates, which stand for bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
