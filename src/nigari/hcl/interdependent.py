r"""Blocks whose expressions refer to each other, for authors of languages with such blocks.

Each block defines a value under a name, such as `var.region` or `network.main`, and may refer to
the values of others. A `Graph` of definitions knows their dependencies, orders them so that
dependencies come first, reports cycles, and evaluates.

Evaluation can be gradual: an undetermined value is an unknown, either in the scope or in `answers`,
and a later call with more answers determines more results. The caller decides which blocks exist
and what they are called.

    from nigari import cty, hcl
    from nigari.hcl.interdependent import Graph, from_attribute

    file = hcl.parse('url = "https://${local.host}"\nhost = "${var.name}.example.com"\n')
    found = file.body.just_attributes(file.diagnostics)
    graph = Graph([from_attribute(f"local.{name}", each) for name, each in found.items()])
    print(graph.order())  # ['local.host', 'local.url']
    scope = hcl.Scope({"var": {"name": "shop"}})
    print(graph.evaluate(scope, file.diagnostics)["local.url"].to_python())
    # https://shop.example.com
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from nigari.cty.values import DYNAMIC_UNKNOWN, Value, object_value
from nigari.diagnostics import Cause, Diagnostics, Range
from nigari.hcl.body import Attribute, Block
from nigari.hcl.decode import Spec, decode_block_body, labels_of
from nigari.hcl.dynamic_blocks import expand, expand_variables
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.traversal import Step, Traversal, TraverseAttr, TraverseIndex, TraverseRoot

__all__ = [
    "Definition",
    "Evaluate",
    "Graph",
    "from_attribute",
    "from_block",
    "from_expression",
]

Evaluate = Callable[[Scope, Diagnostics], Value]


class Definition:
    """A named value, its references, and the function that evaluates it."""

    __slots__ = ("evaluate", "name", "path", "place", "references")

    name: str
    place: Range

    def __init__(
        self, name: str, references: Sequence[Traversal], evaluate: Evaluate, place: Range
    ) -> None:
        self.name = name
        """A dotted name, by which expressions refer to it."""
        self.path: tuple[str, ...] = tuple(name.split("."))
        self.references: list[Traversal] = list(references)
        self.evaluate: Evaluate = evaluate
        self.place = place

    def __repr__(self) -> str:
        return f"Definition({self.name!r})"


def from_expression(name: str, expr: Expression, place: Range) -> Definition:
    """Define the value of an expression; `place` is the range to report in a cycle."""
    return Definition(name, expr.variables(), expr.value, place)


def from_attribute(name: str, attribute: Attribute) -> Definition:
    """Define the value of an argument."""
    return from_expression(name, attribute.expr, attribute.range)


def from_block(name: str, block: Block, spec: Spec) -> Definition:
    """Define the value of a decoded block; it may contain `dynamic` blocks."""

    def value(scope: Scope, diags: Diagnostics) -> Value:
        body = expand(block.body, scope)
        return decode_block_body(body, labels_of(block), spec, scope, diags)

    return Definition(name, expand_variables(block.body, spec), value, block.def_range)


class _Name:
    """A node in the tree of names: its definition, and the names below it."""

    __slots__ = ("definition", "names")

    def __init__(self) -> None:
        self.definition: Definition | None = None
        self.names: dict[str, _Name] = {}

    def all(self) -> list[Definition]:
        """List all definitions here and below."""
        found: list[Definition] = []
        pending = [self]
        while pending:
            place = pending.pop()
            if place.definition is not None:
                found.append(place.definition)
            pending.extend(reversed(list(place.names.values())))
        return found


class Graph:
    """Definitions and their dependencies."""

    __slots__ = ("_dependencies", "_root", "_undefined", "definitions")

    def __init__(self, definitions: Iterable[Definition], diags: Diagnostics | None = None) -> None:
        """Link the definitions. A duplicate name is an error, and its first definition wins."""
        self.definitions: dict[str, Definition] = {}
        self._root = _Name()
        reported = Diagnostics() if diags is None else diags
        for definition in definitions:
            self._add(definition, reported)
        self._undefined: dict[str, list[Traversal]] = {}
        self._dependencies: dict[str, list[str]] = {}
        for definition in self.definitions.values():
            self._link(definition)

    def _add(self, definition: Definition, diags: Diagnostics) -> None:
        place = self._root
        for name in definition.path:
            place = place.names.setdefault(name, _Name())
            if place.definition is not None:
                _report_duplicate(definition, place.definition, diags)
                return
        if place.names:
            _report_duplicate(definition, place.all()[0], diags)
            return
        place.definition = definition
        self.definitions[definition.name] = definition

    def _link(self, definition: Definition) -> None:
        needed: dict[str, None] = {}
        for traversal in definition.references:
            found = self._find(traversal)
            if found is None:
                self._undefined.setdefault(definition.name, []).append(traversal)
            else:
                needed.update(dict.fromkeys([each.name for each in found]))
        self._dependencies[definition.name] = list(needed)

    def _find(self, traversal: Traversal) -> list[Definition] | None:
        """Find the definitions that a reference depends on; an empty list if its root is not ours,
        None if it is missing.
        """
        place = self._root
        for position, step in enumerate(traversal.steps):
            if place.definition is not None:
                break
            name = _step_name(step)
            if name is None:
                break
            following = place.names.get(name)
            if following is None:
                return [] if position == 0 else None
            place = following
        return place.all()

    # -- analysis -----------------------------------------------------------------------------

    def dependencies(self, name: str) -> list[str]:
        """List the names that a definition refers to directly, in order."""
        return list(self._dependencies[name])

    def cycles(self) -> list[list[str]]:
        """List one cycle for each group of definitions that depend on each other."""
        return [
            _way_around(group, self._dependencies)
            for group in self._groups()
            if self._is_cycle(group)
        ]

    def order(self) -> list[str]:
        """List all names, each after its dependencies; members of a cycle in any order."""
        return [name for group in self._groups() for name in group]

    def _is_cycle(self, group: list[str]) -> bool:
        return len(group) > 1 or group[0] in self._dependencies[group[0]]

    def _groups(self) -> list[list[str]]:
        """Find strongly connected components with Tarjan's algorithm, dependencies first, without
        recursion.
        """
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        on_stack: set[str] = set()
        groups: list[list[str]] = []
        for root in self.definitions:
            if root in index:
                continue
            work: list[tuple[str, int]] = [(root, 0)]
            while work:
                name, position = work.pop()
                if position == 0:
                    index[name] = low[name] = len(index)
                    stack.append(name)
                    on_stack.add(name)
                needed = self._dependencies[name]
                if position and needed[position - 1] in on_stack:
                    low[name] = min(low[name], low[needed[position - 1]])
                while position < len(needed) and needed[position] in index:
                    if needed[position] in on_stack:
                        low[name] = min(low[name], index[needed[position]])
                    position += 1
                if position < len(needed):
                    work.append((name, position + 1))
                    work.append((needed[position], 0))
                elif low[name] == index[name]:
                    groups.append(_pop_group(stack, on_stack, name))
        return groups

    # -- evaluation ---------------------------------------------------------------------------

    def evaluate(
        self,
        scope: Scope,
        diags: Diagnostics,
        answers: Mapping[str, Value] | None = None,
    ) -> dict[str, Value]:
        """Evaluate every definition, in order.

        The scope provides functions and the values of other names. An answer replaces the
        evaluation of the definition of that name. A definition with an error has an unknown value,
        and so have members of a cycle; definitions that refer to them do not fail again.
        """
        given = {} if answers is None else answers
        values: dict[str, Value] = {}
        for group in self._groups():
            # A cycle whose members all have answers is never evaluated.
            if self._is_cycle(group) and not all(name in given for name in group):
                self._report_cycle(_way_around(group, self._dependencies), diags)
                values.update(dict.fromkeys(group, DYNAMIC_UNKNOWN))
                continue
            for name in group:
                answer = given.get(name)
                values[name] = self._value(name, values, scope, diags) if answer is None else answer
        return {name: values[name] for name in self.definitions}

    def _value(
        self, name: str, values: dict[str, Value], scope: Scope, diags: Diagnostics
    ) -> Value:
        tree: dict[str, object] = {}
        for needed in self._dependencies[name]:
            _put(tree, self.definitions[needed].path, values[needed])
        for traversal in self._undefined.get(name, []):
            self._report_undefined(traversal, diags)
            _put(tree, tuple(_defined_names(traversal, self._root)), DYNAMIC_UNKNOWN)
        errors = diags.error_count
        variables = {root: _as_value(part) for root, part in tree.items()}
        value = self.definitions[name].evaluate(Scope(variables, parent=scope), diags)
        return DYNAMIC_UNKNOWN if diags.error_count > errors else value

    def _report_undefined(self, traversal: Traversal, diags: Diagnostics) -> None:
        names = _defined_names(traversal, self._root)
        place = self._root
        for name in names[:-1]:
            place = place.names[name]
        parent = ".".join(names[:-1])
        hint = did_you_mean(names[-1], list(place.names))
        diags.error(
            "Reference to an undefined name",
            f'There is no "{names[-1]}" in {parent}.{hint}',
            traversal.step_range(traversal.steps[len(names) - 1]),
            traversal.range,
        )

    def _report_cycle(self, names: list[str], diags: Diagnostics) -> None:
        first = self.definitions[names[0]]
        way = " → ".join([*names, names[0]])
        diags.error(
            "Circular reference",
            f"These values depend on each other, so none of them can be evaluated: {way}. Remove "
            "one of the references.",
            first.place,
            causes=tuple([Cause(name, self.definitions[name].place) for name in names]),
        )


def _pop_group(stack: list[str], on_stack: set[str], name: str) -> list[str]:
    group: list[str] = []
    while True:
        member = stack.pop()
        on_stack.discard(member)
        group.append(member)
        if member == name:
            group.reverse()
            return group


def _way_around(group: list[str], dependencies: Mapping[str, list[str]]) -> list[str]:
    """Find a cycle among definitions of which each can reach every other."""
    members = set(group)
    path: list[str] = []
    seen: dict[str, int] = {}
    name = group[0]
    while name not in seen:
        seen[name] = len(path)
        path.append(name)
        name = next(needed for needed in dependencies[name] if needed in members)
    return path[seen[name] :]


def _step_name(step: Step) -> str | None:
    """Return the name of a step that is written as one."""
    if isinstance(step, TraverseRoot | TraverseAttr):
        return step.name
    if isinstance(step, TraverseIndex) and isinstance(step.key.data, str):
        return step.key.data
    return None


def _defined_names(traversal: Traversal, root: _Name) -> list[str]:
    """List the names of a reference up to and including the first undefined one."""
    names: list[str] = []
    place: _Name | None = root
    for step in traversal.steps:
        name = _step_name(step)
        if name is None or place is None:
            break
        names.append(name)
        place = place.names.get(name)
    return names


def _put(tree: dict[str, object], path: tuple[str, ...], value: Value) -> None:
    for name in path[:-1]:
        inner = tree.setdefault(name, {})
        assert isinstance(inner, dict)
        tree = inner
    tree[path[-1]] = value


def _as_value(part: object) -> Value:
    if isinstance(part, Value):
        return part
    assert isinstance(part, dict)
    return object_value({name: _as_value(inner) for name, inner in part.items()})


def _report_duplicate(second: Definition, first: Definition, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate definition",
        f"{second.name} cannot be defined here, because {first.name} is already defined at "
        f"{first.place}.",
        second.place,
    )
