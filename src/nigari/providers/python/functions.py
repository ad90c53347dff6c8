"""Plain annotated Python functions as functions of a provider."""

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nigari import cty
from nigari.providers import api
from nigari.providers.python.attempt import attempt
from nigari.providers.python.fields import function_kind, takes_null
from nigari.schema.provider import FunctionParameter, FunctionSignature


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function, and how its arguments and its result cross the provider interface."""

    body: Callable[..., object]
    signature: FunctionSignature
    decoders: tuple[Callable[[cty.Value], object], ...]
    encode: Callable[[object], cty.Value]

    async def call(self, arguments: Sequence[cty.Value]) -> api.CallResponse:
        """The result, which is unknown if an argument is."""
        unknown = cty.unknown(self.signature.returns)
        given: list[object] = []
        for index, argument in enumerate(arguments):
            if not argument.is_wholly_known:
                return api.CallResponse(unknown)
            decode = self.decoders[min(index, len(self.decoders) - 1)]
            try:
                given.append(None if argument.is_null else decode(argument))
            except ValueError as error:
                return api.CallResponse(unknown, api.FunctionFailure(str(error), index))
        told, result = await attempt(self.body, *given)
        if told:
            text = f"{told[0].summary}. {told[0].detail}" if told[0].detail else told[0].summary
            return api.CallResponse(unknown, api.FunctionFailure(text.rstrip(".")))
        if result is None:
            return api.CallResponse(cty.null(self.signature.returns))
        return api.CallResponse(self.encode(result))


def python_function(body: Callable[..., object]) -> PythonFunction:
    """Read a function's signature from its annotations."""
    hints = typing.get_type_hints(body)
    parameters: list[FunctionParameter] = []
    variadic: FunctionParameter | None = None
    decoders: list[Callable[[cty.Value], object]] = []
    for name, parameter in inspect.signature(body).parameters.items():
        if name not in hints:
            raise TypeError(f"{body.__name__}: parameter {name} has no annotation")
        if parameter.default is not parameter.empty:
            raise TypeError(f"{body.__name__}: a provider function has no default arguments")
        kind = function_kind(hints[name])
        decoders.append(kind.decode)
        type_ = kind.nested.implied_type if kind.nested is not None else kind.type
        described = FunctionParameter(name, type_ or cty.DYNAMIC, takes_null(hints[name]))
        if parameter.kind is parameter.VAR_POSITIONAL:
            variadic = described
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            parameters.append(described)
        else:
            raise TypeError(f"{body.__name__}: {name} must be a positional parameter")
    if "return" not in hints:
        raise TypeError(f"{body.__name__}: the result has no annotation")
    result = function_kind(hints["return"])
    returns = result.nested.implied_type if result.nested is not None else result.type
    text = inspect.getdoc(body) or ""
    signature = FunctionSignature(
        tuple(parameters),
        returns or cty.DYNAMIC,
        variadic,
        summary=text.partition("\n")[0],
        description=text,
    )
    return PythonFunction(body, signature, tuple(decoders), result.encode)
