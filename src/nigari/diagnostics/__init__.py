"""The one error currency: what a diagnostic is, and how it is shown to people and programs."""

from __future__ import annotations

from nigari.diagnostics.model import (
    CalledFunction,
    Cause,
    Deprecation,
    Diagnostic,
    Diagnostics,
    Difference,
    Pos,
    Range,
    ScopeValue,
    Severity,
)
from nigari.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.diagnostics.layout import Layout
    from nigari.diagnostics.render import ContextOf, DifferenceText, JsonValue, to_json, to_text
    from nigari.diagnostics.snippet import Sources
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "layout": ("Layout",),
            "render": ("ContextOf", "DifferenceText", "JsonValue", "to_json", "to_text"),
            "snippet": ("Sources",),
        },
    )

__all__ = [
    "CalledFunction",
    "Cause",
    "ContextOf",
    "Deprecation",
    "Diagnostic",
    "Diagnostics",
    "Difference",
    "DifferenceText",
    "JsonValue",
    "Layout",
    "Pos",
    "Range",
    "ScopeValue",
    "Severity",
    "Sources",
    "to_json",
    "to_text",
]
