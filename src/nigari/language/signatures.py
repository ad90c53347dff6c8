"""Signatures of the language's functions, in words and in parts."""

from __future__ import annotations

from functools import lru_cache

from nigari.cty.function import Function
from nigari.hcl.signatures import return_type
from nigari.lang.files import MemoryFiles
from nigari.lang.functions.descriptions import DESCRIPTIONS
from nigari.lang.functions.table import CORE, FunctionTable, function_table
from nigari.language.document import Document
from nigari.language.typed_text import LONGEST, call_around
from nigari.record import record


@record
class Signature:
    """The signature of a function."""

    label: str
    parameters: tuple[tuple[int, int], ...]
    """The ranges of the parameters in the label."""
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


@record
class TypedCall:
    """A call whose arguments are being typed."""

    signature: Signature
    description: str
    parameter: int
    """The number of the parameter."""


def call_at(document: Document, offset: int) -> TypedCall | None:
    """The innermost call around an offset; None if there is none, or of no known function."""
    if document.body is None:
        return None
    found = call_around(document.text, max(0, offset - LONGEST), offset)
    if found is None:
        return None
    name = found[0].removeprefix(CORE)
    signature = signature_of(name)
    if signature is None:
        return None
    last = len(signature.parameters) - 1
    parameter = min(found[1], last) if signature.is_variadic else found[1]
    return TypedCall(signature, DESCRIPTIONS.get(name, ""), parameter)
