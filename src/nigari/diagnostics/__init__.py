"""The one error currency: what a diagnostic is, and how it is shown to people and programs."""

from nigari.diagnostics.layout import Layout
from nigari.diagnostics.model import (
    Cause,
    Diagnostic,
    Diagnostics,
    Pos,
    Range,
    ScopeValue,
    Severity,
)
from nigari.diagnostics.render import ContextOf, JsonValue, to_json, to_text
from nigari.diagnostics.snippet import Sources

__all__ = [
    "Cause",
    "ContextOf",
    "Diagnostic",
    "Diagnostics",
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
