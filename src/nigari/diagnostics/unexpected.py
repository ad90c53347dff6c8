"""Diagnostics for unexpected exceptions: which work failed, and where.

The message of an exception may quote values, sensitive ones among them, so only its type and the
line that raised it are named.
"""

from __future__ import annotations

from nigari.diagnostics.model import Diagnostic, Severity
from nigari.extras import missing_library


def unexpected(what: str, error: BaseException, address: str = "") -> Diagnostic:
    """Report work that failed because of a bug in this program or a missing library. `what` begins
    the sentence.
    """
    advice = missing_library(error)
    if advice is not None:
        detail = f"{what} failed. {advice} Everything else continued."
        return Diagnostic(Severity.ERROR, "Missing library", detail, address=address)
    return Diagnostic(
        Severity.ERROR,
        "Unexpected failure",
        f"{what} failed because of a bug in nigari, not because of the configuration: "
        f"{type(error).__name__} {raised_at(error)}. Everything else continued. Please report it "
        "with a configuration that reproduces it.",
        address=address,
    )


def raised_at(error: BaseException) -> str:
    """Name the innermost line within this package that raised an exception."""
    import traceback

    found = "outside of the program"
    for frame in traceback.extract_tb(error.__traceback__):
        _, separator, rest = frame.filename.replace("\\", "/").rpartition("/nigari/")
        if separator:
            found = f"in nigari/{rest} line {frame.lineno}"
    return found
