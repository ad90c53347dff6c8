"""`templatefile` and `templatestring`: templates with their own variables.

A template may use these functions itself. The depth is limited, and so is the number of templates
that one call may render, since every level can multiply them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.types import DYNAMIC, MAX_DEPTH, STRING, MapType, ObjectType, Type, allow_depth
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_template
from nigari.hcl.quoting import with_article
from nigari.hcl.scanner import is_identifier
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.lang.functions.filesystem import read_text
from nigari.lang.functions.host_environment import HostEnvironment, redacted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MOST_NESTED: Final = 1024
_MOST_RENDERED: Final = 100_000
_SIMPLE_DEPTH: Final = 20
_NAMES: Final = frozenset({"templatefile", "templatestring"})
_CORE: Final = "core::"


class _Rendering:
    """State shared by all templates that one call renders."""

    __slots__ = ("exhausted", "parsed", "rendered")

    def __init__(self) -> None:
        self.rendered = 0
        self.exhausted = False
        self.parsed: dict[str, Expression] = {}


class _NestedFunctions(Mapping[str, Function]):
    """The functions inside a template: those outside, with these two one level deeper."""

    __slots__ = ("_functions", "_nested")

    def __init__(self, functions: Mapping[str, Function], nested: dict[str, Function]) -> None:
        self._functions = functions
        self._nested = nested

    def __getitem__(self, name: str) -> Function:
        return self._nested.get(name.removeprefix(_CORE)) or self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


class _Templates:
    """Implementations at one depth of nesting."""

    __slots__ = ("depth", "functions", "rendering", "host")

    def __init__(
        self,
        host: HostEnvironment,
        functions: Mapping[str, Function],
        depth: int = 0,
        rendering: _Rendering | None = None,
    ) -> None:
        self.host = host
        self.functions = functions
        self.depth = depth
        self.rendering = rendering

    def file(self, args: list[Value], _: Type) -> Value:
        rendering = self._enter()
        path = args[0].as_string()
        expression = rendering.parsed.get(path)
        if expression is None:
            expression = _parse(path, read_text(self.host, args[0], 0))
            rendering.parsed[path] = expression
        return self._render(expression, args[1], rendering).with_marks(args[0].marks)

    def string(self, args: list[Value], _: Type) -> Value:
        rendering = self._enter()
        template, marks = args[0].unmark()
        try:
            expression = _parse("template", template.as_string())
            return self._render(expression, args[1], rendering).with_marks(marks)
        except FunctionError as error:
            if not marks:
                raise
            # Any error message would quote the sensitive template.
            what = redacted("", marks).strip("()")
            raise FunctionError(
                f"the template is {with_article(what)}, so what is wrong in it is not shown",
                error.argument,
            ) from None

    def _enter(self) -> _Rendering:
        rendering = self.rendering or _Rendering()
        rendering.rendered += 1
        if self.depth > _MOST_NESTED:
            rendering.exhausted = True
        if rendering.exhausted:
            raise _too_deep()
        if rendering.rendered > _MOST_RENDERED:
            raise FunctionError(f"a template can include at most {_MOST_RENDERED} others")
        if self.depth == _SIMPLE_DEPTH:
            allow_depth(MAX_DEPTH)
        return rendering

    def _render(self, expression: Expression, variables: Value, rendering: _Rendering) -> Value:
        values = _check_variables(expression, variables)
        nested = _Templates(self.host, self.functions, self.depth + 1, rendering)
        inside = _NestedFunctions(self.functions, nested.table())
        diags = Diagnostics()
        result = expression.value(Scope(values, inside), diags)
        if diags.has_errors:
            if rendering.exhausted:
                # The levels that lead there would only repeat the error.
                raise _too_deep()
            raise FunctionError(_reason(next(iter(diags))))
        return result

    def table(self) -> dict[str, Function]:
        return {
            "templatefile": Function(_FILE_PARAMETERS, None, DYNAMIC, self.file),
            "templatestring": Function(_STRING_PARAMETERS, None, DYNAMIC, self.string),
        }


_FILE_PARAMETERS: Final = (
    Parameter("path", STRING, allow_marked=True),
    Parameter("vars", DYNAMIC),
)
_STRING_PARAMETERS: Final = (
    Parameter("data", STRING, allow_marked=True),
    Parameter("vars", DYNAMIC, allow_marked=True),
)


def _parse(name: str, text: str) -> Expression:
    diags = Diagnostics()
    expression = parse_template(Source(name, text), diags)
    if diags.has_errors:
        raise FunctionError(_reason(next(iter(diags))))
    return expression


def _check_variables(expression: Expression, variables: Value) -> Mapping[str, Value]:
    """Map the names in a template to values; raise a `FunctionError` if one is missing."""
    if not isinstance(variables.type, MapType | ObjectType):
        name = variables.type.with_article()
        raise FunctionError(f"a map or object is required, not {name}", 1)
    plain, marks = variables.unmark()
    values = {name: value.with_marks(marks) for name, value in plain.mapping().items()}
    for name in values:
        # renderTemplate: other names could never be used in the template.
        if not is_identifier(name):
            raise FunctionError(
                f'"{name}" is not a valid template variable name: it must be a letter followed '
                "by letters, digits and underscores",
                1,
            )
    for traversal in expression.variables():
        # renderTemplate: a template sees its own variables only, and nothing of the
        # module.
        if traversal.root_name not in values:
            raise FunctionError(
                f'the template uses "{traversal.root_name}" at {traversal.range}, which was not '
                "given a value",
                1,
            )
    return values


def _too_deep() -> FunctionError:
    return FunctionError(f"templates can be nested at most {_MOST_NESTED} levels deep")


def _reason(failure: Diagnostic) -> str:
    detail = failure.detail.rstrip(".")
    text = f"{failure.summary}: {detail}" if detail else failure.summary
    place = failure.subject
    return text if place is None else f"{place.filename}:{place.start.line}: {text}"


def functions(host: HostEnvironment, around: Mapping[str, Function]) -> dict[str, Function]:
    """Define the functions of this theme. `around` has all functions, for use in templates."""
    return _Templates(host, around).table()
