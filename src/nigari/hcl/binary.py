"""Files that are not text at all, such as those that git-crypt has not decrypted."""

from __future__ import annotations

from nigari.diagnostics import Diagnostics
from nigari.hcl.source import Source


def without_binary(source: Source, diags: Diagnostics) -> Source:
    """The source, or an empty one after a single error for a file that is not text.

    A null character tells, as in git: neither syntax has one, and every other mistake would be
    reported for each unreadable line.
    """
    at = source.text.find("\0")
    if at < 0:
        return source
    diags.error(
        "Not a text file",
        f"{source.filename} contains binary data, so it cannot be read. If it is encrypted, for "
        "example with git-crypt, decrypt it first.",
        source.range(at, at + 1),
    )
    return Source(source.filename, "{}" if source.filename.endswith(".json") else "")
