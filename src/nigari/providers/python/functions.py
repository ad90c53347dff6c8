"""Annotated Python functions as provider-defined functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nigari import cty
from nigari.cty.callables import CallableParameter, CallableSignature, callable_signature
from nigari.cty.function import FunctionError
from nigari.cty.shapes import Shape
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.providers.python.attempt import attempt
from nigari.schema.provider import FunctionParameter, FunctionSignature


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function with the conversions of its arguments and result."""

    body: Callable[..., object]
    signature: FunctionSignature
    python: CallableSignature

    async def call(self, arguments: Sequence[cty.Value]) -> api.CallResponse:
        """Call the function; the result is unknown if an argument is."""
        unknown = cty.unknown(self.signature.returns)
        if not all(argument.is_wholly_known for argument in arguments):
            return api.CallResponse(unknown)
        try:
            given = self.python.read(arguments)
        except FunctionError as error:
            return api.CallResponse(unknown, api.FunctionFailure(error.message, error.argument))
        outcome = await attempt(self.body, *given)
        for reported in outcome.reported:
            # The protocol has no way to show warnings of a function.
            if reported.severity is Severity.ERROR:
                text = (
                    f"{reported.summary}. {reported.detail}"
                    if reported.detail
                    else reported.summary
                )
                return api.CallResponse(unknown, api.FunctionFailure(text.rstrip(".")))
        result = outcome.result
        if result is None:
            return api.CallResponse(cty.null(self.signature.returns))
        try:
            return api.CallResponse(self.python.returns.write(result))
        except (cty.CtyError, TypeError) as error:
            text = f"its result does not have the annotated type: {error}".rstrip(".")
            return api.CallResponse(unknown, api.FunctionFailure(text))


def python_function(body: Callable[..., object]) -> PythonFunction:
    """Read a function's signature from its annotations."""
    python = callable_signature(body, must_be_annotated=True)
    if any(parameter.is_optional for parameter in python.parameters):
        raise TypeError(f"{body.__name__}: a provider function has no default arguments")
    signature = FunctionSignature(
        tuple(_parameter(each) for each in python.parameters),
        _type(python.returns),
        None if python.variadic is None else _parameter(python.variadic),
        summary=python.description.partition("\n")[0],
        description=python.description,
    )
    return PythonFunction(body, signature, python)


def _parameter(described: CallableParameter) -> FunctionParameter:
    return FunctionParameter(described.name, _type(described.shape), described.shape.takes_none)


def _type(shape: Shape) -> cty.Type:
    # The protocol has no optional attributes: callers pass all of them.
    return cty.without_optional(shape.type)
