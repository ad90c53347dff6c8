"""Diagnostics: the one form in which every package reports errors and warnings, and how they are
rendered for people and for programs.
"""

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
