"""Python callables as functions of the language.

@function
def repeat(text: str, times: int = 2) -> str:
return text * times

Annotations decide how arguments are converted (see `annotations`); without one, any plain data is
accepted and returned. A parameter of type `Value` receives nulls, unknowns and marks. For all
others a null is an error unless its type includes None, an unknown argument makes the result
unknown, and marks are copied to the result. Exceptions of the callable become `FunctionError`.
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
    """The parameters of a callable, all positional, and the shape of its result."""

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
        """Return the parameter that receives the argument at a position, if any."""
        if position < len(self.parameters):
            return self.parameters[position]
        return self.variadic

    def read(self, arguments: Sequence[Value]) -> list[object]:
        """Convert the arguments to Python objects; raise `FunctionError` for the first that fails."""
        given: list[object] = []
        for position, argument in enumerate(arguments):
            parameter = self.parameter(position)
            if parameter is None:
                raise FunctionError(
                    f"it takes at most {len(self.parameters)}, but {len(arguments)} were passed"
                )
            try:
                given.append(parameter.shape.read(argument))
            except CtyError as error:
                raise FunctionError(error.message, position, error.path) from None
        return given

    def yields_unknown(self, arguments: Sequence[Value]) -> bool:
        """Check for an unknown part in an argument whose parameter does not accept unknowns."""
        for position, argument in enumerate(arguments):
            parameter = self.parameter(position)
            if parameter is not None and not isinstance(parameter.shape, AsIs):
                if not argument.is_wholly_known:
                    return True
        return False


def callable_signature(body: PythonCallable, must_be_annotated: bool = False) -> CallableSignature:
    """Read the signature from annotations; `must_be_annotated` rejects parameters without one."""
    name = str(getattr(body, "__name__", type(body).__name__))
    anything = CallableParameter("arguments", Shape(DYNAMIC, True), True)
    try:
        found = inspect.signature(body)
    except ValueError:
        # A builtin function has no signature to inspect.
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
    """A Python callable as a function of the language."""

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
            # Optional arguments are accepted as they are, and converted once all of them are
            # present.
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
        if self.signature.yields_unknown(arguments):
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
            raise FunctionError(f"its result does not have the annotated type: {text}") from error


def _parameter(described: CallableParameter) -> Parameter:
    shape = described.shape
    is_open = isinstance(shape, AsIs)
    return Parameter(
        described.name, shape.type, shape.takes_none, is_open, True, allow_marked=is_open
    )


def function(body: _C) -> _C:
    """Make a Python callable a function of the language; in Python it stays unchanged.

    Any annotated callable can be used as a function. This decorator reads the annotations at once,
    so that a mistake in them raises `TypeError` before anything is evaluated.
    """
    made = PythonFunction(body)
    with suppress(AttributeError):  # builtins take no attributes
        setattr(body, _MADE, made)
    return body


def as_function(given: Function | PythonCallable) -> Function:
    """Wrap a callable, or return what is a function already."""
    if isinstance(given, Function):
        return given
    made = getattr(given, _MADE, None)
    return (
        made if isinstance(made, PythonFunction) and made.body is given else PythonFunction(given)
    )
