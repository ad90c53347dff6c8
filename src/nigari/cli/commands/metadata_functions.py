"""`nigari metadata functions -json`: the functions of the language, for editors and other tools."""

from __future__ import annotations

import json
from collections.abc import Mapping

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cty.function import Function, Parameter
from nigari.hcl.signatures import return_type, type_data
from nigari.lang.files import MemoryFiles
from nigari.lang.functions.descriptions import DESCRIPTIONS, PARAMETERS
from nigari.lang.functions.table import CORE, function_table
from nigari.state.json_text import escaped_for_html

_FORMAT_VERSION = "1.0"
_GONE = ("list", "map")
"""Functions that only say what to write instead."""


def _signature(name: str, function: Function) -> dict[str, object]:
    name = name.removeprefix(CORE)
    described = PARAMETERS.get(name, {})
    result: dict[str, object] = {
        "description": DESCRIPTIONS[name],
        "return_type": type_data(return_type(function)),
    }
    if function.parameters:
        result["parameters"] = [_parameter(each, described) for each in function.parameters]
    if function.variadic is not None:
        result["variadic_parameter"] = _parameter(function.variadic, described)
    return result


def _parameter(parameter: Parameter, described: Mapping[str, str]) -> dict[str, object]:
    result: dict[str, object] = {"name": parameter.name}
    if parameter.name in described:
        result["description"] = described[parameter.name]
    if parameter.allow_null:
        result["is_nullable"] = True
    result["type"] = type_data(parameter.type)
    return result


def run(invocation: Invocation) -> int:
    """Print the signatures."""
    if not invocation.switch("json"):
        raise UsageError("Functions are printed as JSON only, so the option -json is required.")
    table = function_table(MemoryFiles({}), ".")
    names = [name for name in sorted(table) if name.removeprefix(CORE) not in _GONE]
    signatures = {name: _signature(name, table[name]) for name in names}
    document = {"format_version": _FORMAT_VERSION, "function_signatures": signatures}
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    invocation.terminal.out(escaped_for_html(text))
    return 0


COMMAND = Command(
    "metadata functions",
    "Prints the functions of the language as JSON: their parameters, their results, and what "
    "they do. For functions of providers, use providers schema.",
    run,
    flags=(Flag("json", FLAG_SWITCH, "Print JSON (required)"),),
    most_arguments=-1,
    examples=(Example("nigari metadata functions -json | jq '.function_signatures | keys'", ""),),
)
