"""Function signatures, for diagnostics and for JSON output.

Only a function's own declaration is used; its origin and purpose are unknown here.
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
    """Describe a function under the name by which it was called."""
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
    """Return the result type, as far as it does not depend on the arguments."""
    extra = () if function.variadic is None else (function.variadic,)
    try:
        return function.return_type_for(
            [unknown(each.type) for each in (*function.parameters, *extra)]
        )
    except CtyError:
        return DYNAMIC


def type_data(type_: Type) -> object:
    """Convert a type to JSON data."""
    try:
        return json.loads(type_to_json(type_))
    except CtyError:
        # An unevaluated expression, as in `try`, may have any type.
        return "dynamic"


def _parameter(parameter: Parameter) -> dict[str, object]:
    return {"name": parameter.name, "type": type_data(parameter.type)}
