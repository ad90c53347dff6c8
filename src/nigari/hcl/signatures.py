"""Signatures of functions, for whoever has called one wrongly and for other programs.

Knows only what the function itself declares: not where it comes from, nor what it is for.
"""

from __future__ import annotations

import json

from nigari.cty.errors import CtyError
from nigari.cty.function import Function, Parameter
from nigari.cty.type_json import type_to_json
from nigari.cty.types import DYNAMIC, Type
from nigari.cty.values import unknown
from nigari.diagnostics import CalledFunction


def called_function(name: str, function: Function) -> CalledFunction:
    """A function under the name that it was called by."""
    parameters = [each.name for each in function.parameters]
    signature: dict[str, object] = {
        "name": name.rpartition("::")[2],
        "params": [_parameter(each) for each in function.parameters],
    }
    if function.variadic is not None:
        parameters.append(f"{function.variadic.name}...")
        signature["variadic_param"] = _parameter(function.variadic)
    signature["return_type"] = type_data(return_type(function))
    return CalledFunction(name, tuple(parameters), json.dumps(signature))


def return_type(function: Function) -> Type:
    """The type of the result as far as it does not depend on the arguments."""
    extra = () if function.variadic is None else (function.variadic,)
    try:
        return function.return_type_for(
            [unknown(each.type) for each in (*function.parameters, *extra)]
        )
    except CtyError:
        return DYNAMIC


def type_data(type_: Type) -> object:
    """A type as JSON data."""
    try:
        return json.loads(type_to_json(type_))
    except CtyError:
        # An expression that is not evaluated, as that of `try`, may be anything.
        return "dynamic"


def _parameter(parameter: Parameter) -> dict[str, object]:
    return {"name": parameter.name, "type": type_data(parameter.type)}
