"""Python callables as functions of the language.

    @function
    def repeat(text: str, times: int = 2) -> str:
        return text * times

Annotations say what arguments are converted to (see `annotations`); what has none takes and gives
any plain data. A parameter of type `Value` sees nulls, unknowns and marks; for all others a null
is an error unless its type has None, an unknown argument makes the result unknown, and marks go
over to the result. Whatever the callable raises is a `FunctionError`.
"""

import inspect
import typing
from collections.abc import Sequence
from contextlib import suppress
from typing import TypeVar

from nigari.cty.annotations import shape_of
from nigari.cty.errors import CtyError
from nigari.cty.function import Function, FunctionError, Parameter, PythonCallable
from nigari.cty.models import failure_text
from nigari.cty.shapes import AsIs, Shape
from nigari.cty.types import DYNAMIC, Type, without_optional
from nigari.cty.values import Value, unknown

_C = TypeVar("_C", bound=PythonCallable)

_MADE = "__nigari_function__"


class CallableParameter:
    """A parameter of a callable; `is_optional` if it has a default."""

    __slots__ = ("is_optional", "name", "shape")

    name: str
    shape: Shape
    is_optional: bool

    def __init__(self, name: str, shape: Shape, is_optional: bool) -> None:
        self.name = name
        self.shape = shape
        self.is_optional = is_optional


class CallableSignature:
    """What a callable takes by position, and gives."""

    __slots__ = ("description", "parameters", "returns", "variadic")

    parameters: tuple[CallableParameter, ...]
    variadic: CallableParameter | None
    returns: Shape
    description: str

    def __init__(
        self,
        parameters: tuple[CallableParameter, ...],
        variadic: CallableParameter | None,
        returns: Shape,
        description: str,
    ) -> None:
        self.parameters = parameters
        self.variadic = variadic
        self.returns = returns
        self.description = description

    def parameter(self, position: int) -> CallableParameter | None:
        """What takes the argument at a position, if anything does."""
        if position < len(self.parameters):
            return self.parameters[position]
        return self.variadic

    def read(self, arguments: Sequence[Value]) -> list[object]:
        """The arguments as Python objects; `FunctionError` for one that cannot be."""
        given: list[object] = []
        for position, argument in enumerate(arguments):
            parameter = self.parameter(position)
            if parameter is None:
                raise FunctionError(
                    f"it takes at most {len(self.parameters)}, and there are {len(arguments)}"
                )
            try:
                given.append(parameter.shape.read(argument))
            except CtyError as error:
                raise FunctionError(error.message, position, error.path) from None
        return given

    def must_wait(self, arguments: Sequence[Value]) -> bool:
        """Whether an argument is not wholly known, and its parameter takes no such values."""
        for position, argument in enumerate(arguments):
            parameter = self.parameter(position)
            if parameter is not None and not isinstance(parameter.shape, AsIs):
                if not argument.is_wholly_known:
                    return True
        return False


def callable_signature(body: PythonCallable, must_be_annotated: bool = False) -> CallableSignature:
    """Read what a callable says about itself."""
    name = str(getattr(body, "__name__", type(body).__name__))
    anything = CallableParameter("arguments", Shape(DYNAMIC, True), True)
    try:
        found = inspect.signature(body)
    except ValueError:
        # A builtin function does not say what it takes.
        return CallableSignature((), anything, Shape(DYNAMIC, True), "")
    hints = _hints(body)
    parameters: list[CallableParameter] = []
    variadic: CallableParameter | None = None
    for each in found.parameters.values():
        if must_be_annotated and each.name not in hints:
            raise TypeError(f"{name}: parameter {each.name} has no annotation")
        has_default = each.default is not each.empty
        if each.kind in (each.KEYWORD_ONLY, each.VAR_KEYWORD):
            if has_default or each.kind is each.VAR_KEYWORD:
                continue
            raise TypeError(f"{name}: {each.name} must be a positional parameter")
        described = CallableParameter(
            each.name, _shape(name, each.name, hints.get(each.name, object)), has_default
        )
        if each.kind is each.VAR_POSITIONAL:
            variadic = described
        else:
            parameters.append(described)
    if must_be_annotated and "return" not in hints:
        raise TypeError(f"{name}: the result has no annotation")
    returns = _shape(name, "the result", hints.get("return", object))
    description = inspect.getdoc(body) or ""
    return CallableSignature(tuple(parameters), variadic, returns, description)


def _hints(body: PythonCallable) -> dict[str, object]:
    if isinstance(body, type):
        return {}
    if inspect.isroutine(body):
        return typing.get_type_hints(body, include_extras=True)
    return typing.get_type_hints(type(body).__call__, include_extras=True)


def _shape(function_name: str, what: str, hint: object) -> Shape:
    try:
        return shape_of(hint)
    except TypeError as error:
        raise TypeError(f"{function_name}: {what}: {error}") from None


class PythonFunction(Function):
    """A callable as a function of the language."""

    __slots__ = ("body", "signature")

    body: PythonCallable

    def __init__(self, body: PythonCallable) -> None:
        if inspect.iscoroutinefunction(body):
            raise TypeError(f"{body.__name__} is async, and expressions are not")
        self.body = body
        self.signature: CallableSignature = callable_signature(body)
        parameters = [_parameter(each) for each in self.signature.parameters]
        required = [each for each in self.signature.parameters if not each.is_optional]
        variadic = self.signature.variadic
        extra = None if variadic is None else _parameter(variadic)
        if len(required) < len(parameters):
            # What may be left out is taken as it comes and converted when all arguments are there.
            rest = parameters[len(required)]
            extra = Parameter(rest.name, DYNAMIC, True, True, True)
        super().__init__(
            tuple(parameters[: len(required)]),
            extra,
            without_optional(self.signature.returns.type),
            self._run,
            description=self.signature.description,
        )

    def __repr__(self) -> str:
        return f"<PythonFunction {getattr(self.body, '__qualname__', self.body)}>"

    def _run(self, arguments: list[Value], expected: Type) -> Value:
        if self.signature.must_wait(arguments):
            return unknown(expected)
        given = self.signature.read(arguments)
        try:
            result = self.body(*given)
        except CtyError:
            raise
        except Exception as error:  # other people's code may raise anything
            raise FunctionError(failure_text(error)) from error
        try:
            return self.signature.returns.write(result)
        except (CtyError, TypeError, ValueError) as error:
            text = str(error).removesuffix(".")
            raise FunctionError(f"its result does not have the type it says: {text}") from error


def _parameter(described: CallableParameter) -> Parameter:
    shape = described.shape
    is_open = isinstance(shape, AsIs)
    return Parameter(
        described.name, shape.type, shape.takes_none, is_open, True, allow_marked=is_open
    )


def function(body: _C) -> _C:
    """Make a Python callable a function of the language; it stays what it is in Python.

    Any annotated callable can be used as a function. With this decorator it is read at once, so
    that a `TypeError` says what is wrong with its annotations before anything is evaluated.
    """
    made = PythonFunction(body)
    with suppress(AttributeError):  # a builtin keeps nothing
        setattr(body, _MADE, made)
    return body


def as_function(given: Function | PythonCallable) -> Function:
    """What is a function already, or the function that a callable makes."""
    if isinstance(given, Function):
        return given
    made = getattr(given, _MADE, None)
    return (
        made if isinstance(made, PythonFunction) and made.body is given else PythonFunction(given)
    )
