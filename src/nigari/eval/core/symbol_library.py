"""Evaluated symbol libraries, and the names by which a module refers to what they offer.

How a library is found and evaluated is in `nigari.eval.static`.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cty.function import Function, Parameter
from nigari.cty.types import DYNAMIC, Type
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.causes import REPORTED
from nigari.hcl.calls import FunctionCall
from nigari.hcl.quoting import quoted
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.type_expressions import ANY_TYPE, TypeConstraint
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias


@record
class SymbolLibrary:
    """Types and functions of one library, shared by all modules that use it."""

    values: Value
    """An object with all values."""
    types: Mapping[str, TypeConstraint]
    functions: Mapping[str, Function]


Libraries: TypeAlias = "Mapping[str, SymbolLibrary | None]"
"""The libraries of a module by name; None for one whose failure has been reported."""


def _fail(args: list[Value], type_: Type) -> Value:
    return unknown(type_).with_causes((REPORTED,))


FAILED_FUNCTION: Final = Function(
    (), Parameter("arguments", DYNAMIC, True, True, True, True), DYNAMIC, _fail
)
"""Stands for a function whose absence has been reported."""


class LibraryTypes:
    """Finds the types of `symbols::LIBRARY::NAME()` in type expressions."""

    __slots__ = ("_libraries",)

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries

    def __call__(self, call: FunctionCall, diags: Diagnostics) -> TypeConstraint:
        where = call.source.range(call.start, call.name_end)
        parts = call.name.split("::")
        if len(parts) != 3 or parts[0] != "symbols":
            _report_form(call.name, where, diags)
            return ANY_TYPE
        if parts[1] not in self._libraries:
            report_no_library(parts[1], self._libraries, where, diags)
            return ANY_TYPE
        library = self._libraries[parts[1]]
        if library is None:
            return ANY_TYPE
        type_ = library.types.get(parts[2])
        if type_ is None:
            report_no_symbol("type", parts[2], parts[1], library.types, where, diags)
            return ANY_TYPE
        return type_


def report_no_library(
    name: str, libraries: Mapping[str, object], where: Range, diags: Diagnostics
) -> None:
    """Report a name that is not that of a symbol library."""
    hint = did_you_mean(name, libraries)
    if not hint:
        hint = f' To use one, add a symbols "{name}" block with its source.'
    diags.error(
        "Unknown symbol library", f"There is no symbol library named {quoted(name)}.{hint}", where
    )


def report_no_symbol(
    what: str,
    name: str,
    library: str,
    known: Mapping[str, object],
    where: Range,
    diags: Diagnostics,
) -> None:
    """Report a name that a symbol library does not declare."""
    owner = f"The symbol library {quoted(library)}" if library else "This symbol library"
    diags.error(
        f"Unknown {what} of a symbol library",
        f"{owner} has no {what} named {quoted(name)}.{did_you_mean(name, known)}",
        where,
    )


def report_type_as_function(name: str, where: Range, diags: Diagnostics) -> None:
    """Report a call of a type of a symbol library."""
    diags.error(
        "Type where a function is required",
        f"{name} is a type, so it can't be called here. To convert a value to it, write "
        f"convert(VALUE, {name}()).",
        where,
    )


def _report_form(name: str, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid type expression",
        f"{quoted(name)} is not the name of a type. The type of a symbol library is written "
        "symbols::LIBRARY::NAME().",
        where,
    )
