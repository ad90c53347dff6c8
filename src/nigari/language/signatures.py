"""Signatures of the language's functions, in words and in parts."""

from __future__ import annotations

from functools import lru_cache

from nigari.cty.function import Function
from nigari.hcl.signatures import return_type
from nigari.lang.files import MemoryFiles
from nigari.lang.functions.table import FunctionTable, function_table
from nigari.record import record


@record
class Signature:
    """How a function is called."""

    label: str
    parameters: tuple[tuple[int, int], ...]
    """Where each parameter stands in the label."""
    is_variadic: bool


@lru_cache(1)
def functions() -> FunctionTable:
    """All functions, for what they declare."""
    return function_table(MemoryFiles({}), ".")


def signature_of(name: str) -> Signature | None:
    """The signature of a function; None where there is no such function."""
    function = functions().get(name)
    return None if function is None else _signature(name, function)


def signature_text(name: str) -> str | None:
    """The same as one line."""
    found = signature_of(name)
    return None if found is None else found.label


def _signature(name: str, function: Function) -> Signature:
    label = f"{name}("
    spans: list[tuple[int, int]] = []
    parameters = [f"{each.name} {each.type.friendly_name()}" for each in function.parameters]
    if function.variadic is not None:
        each = function.variadic
        parameters.append(f"{each.name}... {each.type.friendly_name()}")
    for index, text in enumerate(parameters):
        label += ", " if index else ""
        spans.append((len(label), len(label) + len(text)))
        label += text
    label += f") {return_type(function).friendly_name()}"
    return Signature(label, tuple(spans), function.variadic is not None)
