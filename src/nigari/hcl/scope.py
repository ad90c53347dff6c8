"""Scopes: the values and functions of names during evaluation.

A scope maps names to values and functions, and may have a parent for names that it lacks. Plain
data and Python callables are converted on first use. Deliberately unknown here: the origin of the
values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from nigari.cty.copying import reduced
from nigari.cty.function import Function, PythonCallable
from nigari.cty.values import DYNAMIC_NULL, Value
from nigari.hcl.evaluation import Fault
from nigari.hcl.source import Source


def check_scope(given: object) -> None:
    """Raise `TypeError` for anything that is not a scope, such as a dict of variables."""
    if not isinstance(given, Scope):
        name = type(given).__name__
        raise TypeError(f"a Scope is required, not {name}: Scope(variables) makes one") from None


def _check_mapping(what: str, given: object) -> None:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} are given by name, in a dict, not in a {type(given).__name__}")


class Scope:
    """Names with their values and functions.

    `variables` holds values or plain data, `functions` functions or annotated Python callables. If
    either is None in a scope and all its parents, none are allowed at all, which is reported in
    other words than a missing name. `item` is the current element of the nearest splat operator.
    `faults` maps offsets of references to better explanations of their failure than the values
    provide. `shared` has the expressions whose values are the same in other scopes too, each with
    its value once that has been found.
    """

    __slots__ = ("faults", "functions", "item", "parent", "shared", "variables")

    parent: Scope | None
    shared: dict[Hashable, Value | None] | None
    faults: Mapping[tuple[Source, int], Fault] | None

    def __init__(
        self,
        variables: Mapping[str, object] | None = None,
        functions: Mapping[str, Function | PythonCallable] | None = None,
        parent: Scope | None = None,
        faults: Mapping[tuple[Source, int], Fault] | None = None,
    ) -> None:
        if variables is not None and not isinstance(variables, dict):
            _check_mapping("variables", variables)
        if functions is not None and not isinstance(functions, dict):
            _check_mapping("functions", functions)
        self.variables: Mapping[str, object] | None = variables
        self.functions: Mapping[str, Function | PythonCallable] | None = functions
        self.parent = parent
        self.faults = faults
        self.item: Value | None = None
        self.shared = None if parent is None else parent.shared

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def variable(self, name: str) -> Value | None:
        """Look up the value of a name."""
        scope: Scope | None = self
        while scope is not None:
            variables = scope.variables
            if variables is not None:
                value = variables.get(name)
                if value is not None:
                    return value if isinstance(value, Value) else scope.made_value(name)
            scope = scope.parent
        return self._null(name)

    def made_value(self, name: str) -> Value:
        """Look up the value of a name, after converting all plain data of this scope."""
        assert self.variables is not None
        values: dict[str, Value] = {}
        for each, given in self.variables.items():
            try:
                values[each] = Value.of(given)
            except TypeError as wrong_type:
                raise TypeError(f"the variable {each}: {wrong_type}") from None
            except ValueError as wrong_value:
                raise ValueError(f"the variable {each}: {wrong_value}") from None
        self.variables = values
        return values[name]

    def _null(self, name: str) -> Value | None:
        """Return the null for a name whose plain data is None."""
        for scope in self._upward():
            # None as plain data is null; the lookup above cannot tell it from a
            # missing name.
            if scope.variables is not None and name in scope.variables:
                return DYNAMIC_NULL
        return None

    def function(self, name: str) -> Function | None:
        """Look up the function of a name."""
        scope: Scope | None = self
        while scope is not None:
            functions = scope.functions
            if functions is not None:
                function = functions.get(name)
                if function is not None:
                    if isinstance(function, Function):
                        return function
                    return scope.made_function(name)
            scope = scope.parent
        return None

    def made_function(self, name: str) -> Function:
        """Look up the function of a name, after converting all Python callables of this scope."""
        from nigari.cty.callables import as_function

        assert self.functions is not None
        functions: dict[str, Function] = {}
        for each, given in self.functions.items():
            if not callable(given) and not isinstance(given, Function):
                raise TypeError(f"the function {each}: a callable is required, not {given!r}")
            functions[each] = as_function(given)
        self.functions = functions
        return functions[name]

    def fault(self, source: Source, start: int) -> Fault | None:
        """Look up why the reference at an offset fails, if there is a better explanation than its
        value.
        """
        scope: Scope | None = self
        while scope is not None:
            if scope.faults is not None:
                return scope.faults.get((source, start))
            scope = scope.parent
        return None

    def splat_item(self) -> Value | None:
        """Return the current element of the nearest splat operator; None outside of any."""
        scope: Scope | None = self
        while scope is not None:
            if scope.item is not None:
                return scope.item
            scope = scope.parent
        return None

    @property
    def allows_variables(self) -> bool:
        """True if names of variables may be used."""
        return any(scope.variables is not None for scope in self._upward())

    @property
    def allows_functions(self) -> bool:
        """True if functions may be called."""
        return any(scope.functions is not None for scope in self._upward())

    def variable_names(self) -> list[str]:
        """List every name with a value, those of the nearest scope first."""
        names: dict[str, None] = {}
        for scope in self._upward():
            if scope.variables is not None:
                names.update(dict.fromkeys(scope.variables))
        return list(names)

    def function_names(self) -> list[str]:
        """List every function, those of the nearest scope first."""
        names: dict[str, None] = {}
        for scope in self._upward():
            if scope.functions is not None:
                names.update(dict.fromkeys(scope.functions))
        return list(names)

    def _upward(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent
