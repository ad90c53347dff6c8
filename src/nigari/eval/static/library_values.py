"""Evaluates the declarations of a symbol library: its types, values and functions.

Values refer to each other in any order, and what a function refers to counts for those that call it.
Deliberately unknown here: where libraries come from, and who uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nigari.config.symbol_files import LibraryDeclarations, LibraryFunction, LibraryType
from nigari.cty.function import Function
from nigari.cty.values import Value, object_value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.instances import FAILED
from nigari.eval.core.symbol_library import (
    LibraryTypes,
    SymbolLibrary,
    report_no_symbol,
)
from nigari.eval.core.worklist import DONE, Effect, Need, Node, WorkList
from nigari.eval.static.library_functions import (
    CallDepth,
    library_function,
    selected_name,
    selected_names,
)
from nigari.hcl.body import Attribute
from nigari.hcl.calls import FunctionCall
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.type_expressions import ANY_TYPE, TypeConstraint, parse_type_constraint
from nigari.lang.functions.conversion import convert_function
from nigari.lang.functions.table import CORE
from nigari.lang.references import function_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.eval.core.symbol_library import Libraries


_OWN: Final = "symbols::"
MOST_NESTED: Final = 100
"""Maximum number of types of a library that are each made of the next."""


def evaluate_library(
    declared: LibraryDeclarations,
    inner: Libraries,
    functions: Mapping[str, Function],
    diags: Diagnostics,
) -> SymbolLibrary:
    """Evaluate a library with the libraries that it uses and the functions of the language."""
    return _Evaluation(declared, inner, functions, diags).library()


class _Evaluation:
    """The evaluation of one library."""

    def __init__(
        self,
        declared: LibraryDeclarations,
        inner: Libraries,
        functions: Mapping[str, Function],
        diags: Diagnostics,
    ) -> None:
        self.declared = declared
        self.diags = diags
        self.types = _OwnTypes(declared.types, inner, diags)
        self.values: dict[str, _ValueNode] = {
            name: _ValueNode(name, attribute, self) for name, attribute in declared.values.items()
        }
        self.shown: dict[str, object] = {
            "symbols": object_value(
                {name: FAILED if each is None else each.values for name, each in inner.items()}
            )
        }
        """The names that expressions of the library may refer to."""
        self.functions: dict[str, Function] = {}
        self.own: dict[str, Function] = _inner_functions(inner)
        self.scope = Scope(self.shown, self.own, parent=Scope({}, functions))
        self._depth = CallDepth()
        self._values_of: dict[str, list[str]] = {}

    def library(self) -> SymbolLibrary:
        """Evaluate everything."""
        types = {name: self.types.own(name) for name in self.declared.types}
        convert = convert_function(self.types)
        self.own["convert"] = self.own[f"{CORE}convert"] = convert
        for name, each in self.declared.functions.items():
            self.functions[name] = self.own[_OWN + name] = self._function(each)
        work = WorkList(self.diags)
        work.want(self.values.values())
        work.run(_answer_nothing)
        values = object_value({name: node.value for name, node in self.values.items()})
        self.shown["value"] = values
        return SymbolLibrary(values, types, self.functions)

    def _function(self, declared: LibraryFunction) -> Function:
        types = {each.name: self._type(each.type) for each in declared.parameters}
        result = self._type(declared.type)
        return library_function(declared, types, result, self.scope, self._depth)

    def _type(self, expr: Expression | None) -> TypeConstraint:
        return ANY_TYPE if expr is None else parse_type_constraint(expr, self.diags, self.types)

    def needed_values(self, expr: Expression) -> list[str]:
        """The values of the library that an expression refers to, itself and through functions."""
        found = dict.fromkeys(selected_names(expr, "value"))
        seen: set[str] = set()
        pending = _own_calls((expr,))
        while pending:
            name = pending.pop()
            function = self.declared.functions.get(name)
            if function is None or name in seen:
                continue
            seen.add(name)
            parts = _expressions(function)
            found.update(
                dict.fromkeys(each for part in parts for each in selected_names(part, "value"))
            )
            pending += _own_calls(parts)
        return [name for name in found if name in self.values]


class _ValueNode(Node):
    """A value of a library."""

    __slots__ = ("_attribute", "_evaluation", "_name", "_needs", "value")

    def __init__(self, name: str, attribute: Attribute, evaluation: _Evaluation) -> None:
        super().__init__()
        self._name = name
        self._attribute = attribute
        self._evaluation = evaluation
        self._needs: list[str] | None = None
        self.value: Value = FAILED

    @property
    def label(self) -> str:
        return f"value.{self._name}"

    @property
    def range(self) -> Range:
        return self._attribute.range

    def fail(self) -> None:
        self.value = FAILED

    def step(self) -> Sequence[Need]:
        evaluation, expr = self._evaluation, self._attribute.expr
        if self._needs is None:
            self._needs = evaluation.needed_values(expr)
        values = evaluation.values
        nodes = {name: values[name] for name in self._needs}
        waiting = [node for node in nodes.values() if node.state != DONE]
        if waiting:
            return waiting
        known = {name: node.value for name, node in nodes.items()}
        evaluation.shown["value"] = object_value(known)
        errors = evaluation.diags.error_count
        _check_names(expr, values, evaluation.diags)
        if evaluation.diags.error_count == errors:
            self.value = expr.value(evaluation.scope, evaluation.diags)
        if evaluation.diags.error_count > errors:
            self.value = FAILED
        return ()


class _OwnTypes(LibraryTypes):
    """Finds types in a library itself, `symbols::NAME()`, and in those that it uses."""

    __slots__ = ("_active", "_declared", "_diags", "_known")

    def __init__(
        self, declared: Mapping[str, LibraryType], inner: Libraries, diags: Diagnostics
    ) -> None:
        super().__init__(inner)
        self._declared = declared
        self._diags = diags
        self._known: dict[str, TypeConstraint] = {}
        self._active: dict[str, None] = {}

    def own(self, name: str) -> TypeConstraint:
        """The type of one of the library's declarations."""
        known = self._known.get(name)
        if known is None:
            self._active[name] = None
            known = parse_type_constraint(self._declared[name].expr, self._diags, self)
            self._known[name] = known
            del self._active[name]
        return known

    def __call__(self, call: FunctionCall, diags: Diagnostics) -> TypeConstraint:
        prefix, _, name = call.name.partition("::")
        if prefix != "symbols" or "::" in name:
            return super().__call__(call, diags)
        where = call.source.range(call.start, call.name_end)
        if name not in self._declared:
            report_no_symbol("type", name, "", self._declared, where, diags)
        elif name in self._active:
            _report_circular_type(name, [*self._active], where, diags)
        elif len(self._active) > MOST_NESTED:
            _report_deep_type(where, diags)
        else:
            return self.own(name)
        return ANY_TYPE


def _inner_functions(inner: Libraries) -> dict[str, Function]:
    return {
        f"{_OWN}{library}::{name}": function
        for library, each in inner.items()
        if each is not None
        for name, function in each.functions.items()
    }


def _expressions(function: LibraryFunction) -> list[Expression]:
    """Every expression that a call of a function may evaluate."""
    rules = [rule for each in function.parameters for rule in each.validations]
    written = [each for rule in rules for each in (rule.condition, rule.error_message)]
    return [function.result, *function.locals.values(), *written]


def _own_calls(expressions: Iterable[Expression]) -> list[str]:
    """The functions of the library itself that expressions call."""
    return [
        call.name.removeprefix(_OWN)
        for expr in expressions
        for call in function_calls(expr)
        if call.name.startswith(_OWN)
    ]


def _check_names(expr: Expression, known: Mapping[str, Node], diags: Diagnostics) -> None:
    """Report names of values that the library does not declare, with what was probably meant."""
    for traversal in expr.variables():
        name = selected_name(traversal, "value")
        if name is not None and name not in known:
            report_no_symbol("value", name, "", known, traversal.range, diags)


def _answer_nothing(effects: Sequence[Effect]) -> None:
    raise AssertionError("values of a library have no effects")


def _report_circular_type(name: str, way: list[str], where: Range, diags: Diagnostics) -> None:
    around = " → ".join([*way[way.index(name) :], name])
    diags.error(
        "Type that contains itself",
        f"These types of the library refer to each other in a cycle: {around}. A type cannot contain "
        "itself: use any, or end the nesting at some depth.",
        where,
    )


def _report_deep_type(where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid type expression",
        f"More than {MOST_NESTED} types of this library are each made of the next. Write this one out.",
        where,
    )
