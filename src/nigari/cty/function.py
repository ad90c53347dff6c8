"""Functions as data: parameters, a result type, and a short implementation.

The treatment of null, unknown, dynamic and marked arguments is declared per parameter and handled
here, so that an implementation only sees the kinds of value it asked for. Knows no function names
and no call syntax.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.cty import numbers
from nigari.cty.conform import conformance_errors
from nigari.cty.copying import reduced
from nigari.cty.errors import CtyError, Step
from nigari.cty.paths import child_steps
from nigari.cty.refinements import Refinement, refine, refine_not_null
from nigari.cty.types import DYNAMIC as DYNAMIC_TYPE
from nigari.cty.types import KIND_DYNAMIC, NUMBER, Type
from nigari.cty.unknown import MAX_CAUSES, Unknown, join_causes
from nigari.cty.values import HAS_MARKS, HAS_UNKNOWN, NO_MARKS, Mark, Value, unknown
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


ReturnType = Type | Callable[[list[Value]], Type]
"""A constant type, or a function that computes it from the arguments."""

Implementation = Callable[[list[Value], Type], Value]
"""Receives the arguments and the computed result type."""

NOT_NULL_RESULT: Final = Refinement(not_null=True)

_QUOTED: Final = lazy_pattern(r'"(?:[^"\\]|\\.)*"')
_HIDDEN: Final = "(sensitive value)"
_SHORTEST_SECRET: Final = 4
"""Shorter unquoted texts may occur in a message by chance, so they are not redacted."""

# A few unknown parts of a large argument are enough to explain an unknown result.
MOST_SEARCHED: Final = 256


PythonCallable = Callable[..., object]  # type: ignore[explicit-any]  # whatever its parameters
"""A Python callable that can become a function: see `callables`."""


class FunctionError(CtyError):
    """A call that cannot be made. `argument` is the index of the wrong argument, if there is one."""

    def __init__(
        self, message: str, argument: int | None = None, path: tuple[Step, ...] = ()
    ) -> None:
        super().__init__(message, path)
        self.argument = argument

    def __reduce__(self) -> tuple[object, ...]:
        return (FunctionError, (self.message, self.argument, self.path))


class Parameter:
    """A positional parameter, and the kinds of argument that its function handles itself.

    - `allow_null`: null arguments are passed; otherwise they are errors.
    - `allow_unknown`: unknown arguments are passed; otherwise the result is unknown.
    - `allow_dynamic`: arguments of unknown type are passed; otherwise the result's type is unknown.
    - `allow_marked`: marked arguments are passed; otherwise marks are removed at any depth and
    added to the result.
    """

    __slots__ = (
        "allow_dynamic",
        "allow_marked",
        "allow_null",
        "allow_unknown",
        "description",
        "name",
        "type",
    )

    name: str
    type: Type
    allow_null: bool
    allow_unknown: bool
    allow_dynamic: bool
    allow_marked: bool
    description: str

    def __init__(
        self,
        name: str,
        type: Type,
        allow_null: bool = False,
        allow_unknown: bool = False,
        allow_dynamic: bool = False,
        allow_marked: bool = False,
        description: str = "",
    ) -> None:
        self.name = name
        self.type = type
        self.allow_null = allow_null
        self.allow_unknown = allow_unknown
        self.allow_dynamic = allow_dynamic
        self.allow_marked = allow_marked
        self.description = description

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, {self.type!r})"


class Function:
    """A function of the language. `variadic` is the parameter of all further arguments."""

    __slots__ = (
        "description",
        "implementation",
        "parameters",
        "refine",
        "return_type",
        "variadic",
    )

    parameters: tuple[Parameter, ...]
    variadic: Parameter | None
    refine: Refinement | None
    description: str

    def __init__(
        self,
        parameters: tuple[Parameter, ...],
        variadic: Parameter | None,
        return_type: ReturnType,
        implementation: Implementation,
        refine: Refinement | None = None,
        description: str = "",
    ) -> None:
        self.parameters = parameters
        self.variadic = variadic
        self.return_type: ReturnType = return_type
        self.implementation: Implementation = implementation
        self.refine = refine
        self.description = description

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def return_type_for(self, args: Sequence[Value]) -> Type:
        """Compute the result type for these arguments, some of which may be unknown."""
        given = list(args)
        self._take_marks(given)
        return self._result_type(given) or DYNAMIC_TYPE

    def call(self, args: Sequence[Value]) -> Value:
        """Call the function; raise `FunctionError` if the arguments do not fit."""
        given = list(args)
        marks = self._take_marks(given)
        if not marks:
            return self._call(given)
        try:
            return self._call(given).with_marks(marks)
        except FunctionError as error:
            message = without_marked(error.message, args)
            raise FunctionError(message, error.argument, error.path) from None

    def _call(self, given: list[Value]) -> Value:
        expected = self._result_type(given)
        if expected is None:
            return _unknown_because(DYNAMIC_TYPE, given)
        if self._yields_unknown(given):
            result = _unknown_because(expected, given)
        else:
            result = self._implement(given, expected)
        if self.refine is None:
            return result
        return self._refined(result)

    def _parameter(self, position: int) -> Parameter:
        if position < len(self.parameters):
            return self.parameters[position]
        assert self.variadic is not None
        return self.variadic

    def _check_count(self, count: int) -> None:
        required = len(self.parameters)
        if self.variadic is None and count != required:
            raise FunctionError(f"{_arguments(required)} required, {count} given")
        if count < required:
            raise FunctionError(f"at least {_arguments(required)} required, {count} given")

    def _take_marks(self, args: list[Value]) -> frozenset[Mark]:
        """Remove the marks, in place, of arguments whose parameters do not accept them."""
        self._check_count(len(args))
        marks: frozenset[Mark] = NO_MARKS
        for i, arg in enumerate(args):
            if arg.flags & HAS_MARKS and not self._parameter(i).allow_marked:
                args[i], found = arg.unmark_deep()
                marks |= found
        return marks

    def _result_type(self, args: list[Value]) -> Type | None:
        """Compute the result type; None if an argument's unknown type leaves it undetermined."""
        for i, arg in enumerate(args):
            parameter = self._parameter(i)
            if arg.data is None and not parameter.allow_null:
                raise FunctionError("it must not be null", i)
            if arg.type.kind == KIND_DYNAMIC:
                if not parameter.allow_dynamic:
                    return None
            elif arg.type is not parameter.type and parameter.type.kind != KIND_DYNAMIC:
                errors = conformance_errors(arg.type, parameter.type)
                if errors:
                    raise FunctionError(errors[0].message, i, errors[0].path)
        return_type = self.return_type
        if isinstance(return_type, Type):
            return return_type
        try:
            return return_type(args)
        except FunctionError:
            raise
        except CtyError as error:
            raise FunctionError(error.message, None, error.path) from error

    def _yields_unknown(self, args: list[Value]) -> bool:
        for i, arg in enumerate(args):
            if isinstance(arg.data, Unknown) and not self._parameter(i).allow_unknown:
                return True
        return False

    def _implement(self, args: list[Value], expected: Type) -> Value:
        try:
            result = self.implementation(args, expected)
        except FunctionError:
            raise
        except CtyError as error:
            raise FunctionError(error.message, None, error.path) from error
        if result.type is not expected and expected.kind != KIND_DYNAMIC:
            errors = conformance_errors(result.type, expected)
            if errors:
                raise AssertionError(f"{result!r} is not a {expected!r}: {errors[0].message}")
        data = result.data
        if isinstance(data, Unknown) and not data.causes:
            return result.with_causes(find_causes(args))
        return result

    def _refined(self, result: Value) -> Value:
        if self.refine is NOT_NULL_RESULT:
            return refine_not_null(result)
        if result.type.kind == KIND_DYNAMIC and isinstance(result.data, Unknown):
            return result
        assert self.refine is not None
        return refine(result, self.refine)


def without_marked(message: str, args: Sequence[Value]) -> str:
    """Redact the parts of a message that quote marked arguments, or parts of those."""
    secrets: list[str] = []
    for arg in args:
        if arg.flags & HAS_MARKS:
            _collect_texts(arg, secrets)
    pieces: list[str] = []
    end = 0
    for quoted in _QUOTED.finditer(message):
        content = quoted.group()[1:-1]
        if content and any(content in each or each in content for each in secrets):
            pieces += (message[end : quoted.start()], _HIDDEN)
            end = quoted.end()
    message = "".join(pieces) + message[end:]
    for each in secrets:
        if len(each) >= _SHORTEST_SECRET:
            message = message.replace(each, _HIDDEN)
    for word in set(message.replace(_HIDDEN, "").split()):
        if len(word) >= _SHORTEST_SECRET and any(word in each for each in secrets):
            message = message.replace(word, _HIDDEN)
    return message


def _collect_texts(value: Value, found: list[str]) -> None:
    plain, _ = value.unmark_deep()
    pending = [plain]
    while pending:
        part = pending.pop()
        if isinstance(part.data, str):
            found.append(part.data)
        elif part.type is NUMBER and part.is_known and not part.is_null:
            found.append(numbers.to_text(part.as_number()))
        else:
            pending.extend([child for _, child in child_steps(part)])


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _unknown_because(type_: Type, args: list[Value]) -> Value:
    causes: tuple[object, ...] = ()
    for arg in args:
        data = arg.data
        if isinstance(data, Unknown) and data.causes:
            causes = join_causes(causes, data.causes)
            if len(causes) >= MAX_CAUSES:
                break
    result = unknown(type_)
    return result.with_causes(causes) if causes else result


def find_causes(values: Sequence[Value]) -> tuple[object, ...]:
    """Collect a few causes of unknown parts, without searching everything."""
    causes: tuple[object, ...] = ()
    searched = 0
    pending: list[Sequence[Value]] = [values]
    while pending:
        for value in pending.pop():
            data = value.data
            if isinstance(data, Unknown):
                causes = join_causes(causes, data.causes)
                searched += 1
                if len(causes) >= MAX_CAUSES or searched >= MOST_SEARCHED:
                    return causes
            elif value.flags & HAS_UNKNOWN:
                pending.append(value.elements())
    return causes
