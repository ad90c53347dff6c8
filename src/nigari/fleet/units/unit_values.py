"""Values that units get from each other: the expressions of `fleet.hcl` that refer to other units.

While no output is known, each stands for an unknown value with a mark for the unit that it belongs to:
whatever comes out of an expression tells by its marks which units it needs. Once outputs are known, or
planned, the same expression gives the values. All this can be sent to another process, which evaluates
it there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.module import ROOT_MODULE
from nigari.cty.types import KIND_MAP, KIND_OBJECT, STRING
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, object_value, string
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.causes import CauseKind, Phase, UnknownCause
from nigari.fleet.units.unit import FILE_NAME, Unit
from nigari.hcl.body import Attribute
from nigari.hcl.expressions import Expression, Index, Reference
from nigari.hcl.scope import Scope
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.traversal import Traversal, TraverseAttr, TraverseIndex, TraverseRoot
from nigari.record import record
from nigari.workspace.explain.file_calls import file_calls


@record
class UnitMark:
    """Marks whatever comes from a unit."""

    name: str


@record
class DeclaredValues:
    """The expressions of a unit that may refer to other units, and what names stand for in them."""

    scope: Scope
    variables: Attribute | None
    depends_on: Attribute | None
    block: str
    key: str | None


@record
class Values:
    """The values of a unit's variables, as far as they are known."""

    values: Mapping[str, Value]
    needs: frozenset[str]
    """The units whose outputs are in them."""


class UnitValues:
    """The values of all units that `fleet.hcl` declares."""

    def __init__(self) -> None:
        self._declared: dict[str, DeclaredValues] = {}
        self._objects: dict[str, Value] = {}
        """For each name that follows `unit.`, what stands for it while no output is known."""

    def declare(self, name: str, values: DeclaredValues) -> None:
        """Take note of the expressions of a unit."""
        self._declared[name] = values

    def know_units(self, units: Sequence[Unit]) -> None:
        """Let expressions refer to these units."""
        single: dict[str, Value] = {}
        repeated: dict[str, dict[str, Value]] = {}
        for unit in units:
            declared = self._declared.get(unit.name)
            stand_in = _unit_object(unit, _unknown_outputs(unit.name))
            if declared is None or declared.key is None:
                single[unit.name] = stand_in
            else:
                repeated.setdefault(unit.block, {})[declared.key] = stand_in
        self._objects = {**single, **{name: object_value(each) for name, each in repeated.items()}}

    def expression(self, name: str) -> tuple[Expression, Scope] | None:
        """The expression for a unit's variables, with the names in it while no output is known."""
        declared = self._declared.get(name)
        if declared is None or declared.variables is None:
            return None
        return declared.variables.expr, self._scope(declared, declared.variables, {})

    def instances(self, block: str) -> Mapping[str | None, str]:
        """The units that `unit.block` refers to, by key; None is the key of a single unit."""
        found: dict[str | None, str] = {
            each.key: name
            for name, each in self._declared.items()
            if each.block == block and each.key is not None
        }
        return found or {None: block}

    def needs(self, name: str, diags: Diagnostics) -> dict[str, tuple[str, Range]]:
        """The units that a unit needs: for each why, and where that is written."""
        declared = self._declared.get(name)
        if declared is None:
            return {}
        found: dict[str, tuple[str, Range]] = {}
        for attribute, why in (
            (declared.variables, "outputs"),
            (declared.depends_on, "depends_on"),
        ):
            if attribute is not None:
                value = self._value(declared, attribute, {}, diags)
                for mark in () if value is None else sorted(_unit_marks(value)):
                    found.setdefault(mark, (why, attribute.expr.range))
        found.pop(name, None)
        return found

    def said_of(self, name: str) -> tuple[object, ...]:
        """Return a unit's settings for comparison with other units: its variable values and, if
        some are unknown, everything they depend on.
        """
        declared = self._declared.get(name)
        given = self.variables(name, {}, Diagnostics())
        attribute = None if declared is None else declared.variables
        if declared is None or attribute is None:
            return (given,)
        if all(value.is_wholly_known for value in given.values.values()):
            return (given,)
        expr, scope = attribute.expr, declared.scope
        text = expr.source.text[expr.start : expr.end]
        parts = [_referred(each, scope) for each in expr.variables()]
        read = [call.value(scope, Diagnostics()) for call in file_calls(expr)]
        return given, text, parts, read

    def variables(
        self, name: str, outputs: Mapping[str, Mapping[str, Value]], diags: Diagnostics
    ) -> Values:
        """The values that a unit's variables are given, with these outputs of other units; what is
        wrong is reported.
        """
        declared = self._declared.get(name)
        if declared is None or declared.variables is None:
            return Values({}, frozenset())
        attribute = declared.variables
        errors = diags.error_count
        value = self._value(declared, attribute, outputs, diags)
        if value is None:
            return Values({}, frozenset())
        needs = frozenset(_unit_marks(value))
        if diags.error_count > errors or not value.is_known:
            return Values({}, needs)
        if value.is_null or value.type.kind not in (KIND_OBJECT, KIND_MAP):
            diags.error(
                "Invalid value",
                'The argument "variables" must be an object with a value for each variable.',
                attribute.expr.range,
            )
            return Values({}, needs)
        return Values({key: _plain(each) for key, each in _members(value)}, needs)

    def _value(
        self,
        declared: DeclaredValues,
        attribute: Attribute,
        outputs: Mapping[str, Mapping[str, Value]],
        diags: Diagnostics,
    ) -> Value | None:
        """The value of an expression; None after reporting that it refers to no unit."""
        errors = diags.error_count
        for name, place in _named_units(attribute):
            if name is not None and name not in self._objects:
                diags.error(
                    "No such unit",
                    f'There is no unit "{name}": {FILE_NAME} declares none with that name, and no '
                    f"unit was found in a directory with that path."
                    f"{did_you_mean(name, self._objects)}",
                    place,
                )
        if diags.error_count > errors:
            return None
        return attribute.expr.value(self._scope(declared, attribute, outputs), diags)

    def _scope(
        self,
        declared: DeclaredValues,
        attribute: Attribute,
        outputs: Mapping[str, Mapping[str, Value]],
    ) -> Scope:
        """The values of the names in an expression; only the units that it may refer to are in it."""
        wanted = {name for name, _ in _named_units(attribute)}
        if not wanted:
            return declared.scope
        objects = self._objects
        names = objects if None in wanted else wanted
        members = {name: objects[name] for name in names if name is not None and name in objects}
        repeated: dict[str, dict[str, Value]] = {}
        keys = _keys_of_units(attribute.expr, declared.scope) if outputs else {}
        for name, found in outputs.items():
            other = self._declared.get(name)
            if other is None or other.key is None:
                if name in members:
                    members[name] = _with_outputs(members[name], found)
            elif (block := other.block) in members:
                if block not in repeated:
                    repeated[block] = _picked(members[block].mapping(), keys.get(block))
                instances = repeated[block]
                if other.key in instances:
                    instances[other.key] = _with_outputs(instances[other.key], found)
        members.update({name: object_value(each) for name, each in repeated.items()})
        return Scope({"unit": object_value(members)}, parent=declared.scope)


def _keys_of_units(expr: Expression, scope: Scope) -> dict[str, set[str] | None]:
    """For each block of units in an expression the keys of the instances that it picks; None where
    it does something else with them, or where a key is not known.
    """
    found: dict[str, set[str] | None] = {}
    pending = [expr]
    while pending:
        current = pending.pop()
        if isinstance(current, Index) and _is_whole_block(current.collection):
            _pick(found, current.collection, current.key.value(scope, Diagnostics()))
            pending.append(current.key)
            continue
        _pick(found, current, _written_key(current))
        pending.extend(current.children())
    return found


def _pick(found: dict[str, set[str] | None], expr: Expression, key: Value | None) -> None:
    block = _block_of_units(expr)
    if not block:
        return
    known = found.setdefault(block, set())
    if key is None or not key.is_wholly_known or key.is_null or key.type != STRING:
        found[block] = None
    elif known is not None:
        known.add(key.unmark_deep()[0].as_string())


def _block_of_units(expr: Expression) -> str:
    """The name in a reference that begins with `unit.name`."""
    if not isinstance(expr, Reference) or len(expr.steps) < 2:
        return ""
    root, step = expr.steps[:2]
    is_unit = isinstance(root, TraverseRoot) and root.name == "unit"
    return step.name if is_unit and isinstance(step, TraverseAttr) else ""


def _is_whole_block(expr: Expression) -> bool:
    return isinstance(expr, Reference) and len(expr.steps) == 2 and bool(_block_of_units(expr))


def _written_key(expr: Expression) -> Value | None:
    """The key in a reference such as `unit.name["key"]`."""
    step = expr.steps[2] if isinstance(expr, Reference) and len(expr.steps) > 2 else None
    return step.key if isinstance(step, TraverseIndex) else None


def _picked(instances: Mapping[str, Value], keys: set[str] | None) -> dict[str, Value]:
    """The instances with these keys: copying all of them for each unit would take too long."""
    if keys is None:
        return dict(instances)
    return {key: instances[key] for key in keys if key in instances}


def _referred(traversal: Traversal, scope: Scope) -> Value | None:
    """The value of a reference; None for one to units, which is not known yet."""
    root = scope.variable(traversal.root_name)
    return None if root is None else traversal.split()[1].apply_rel(root, Diagnostics())


def _named_units(attribute: Attribute) -> list[tuple[str | None, Range]]:
    """The names that follow `unit.` in an expression, with where; None where one is worked out."""
    found: list[tuple[str | None, Range]] = []
    for traversal in attribute.expr.variables():
        if traversal.root_name == "unit":
            step = traversal.steps[1] if len(traversal.steps) > 1 else None
            place = traversal.range if step is None else traversal.step_range(step)
            if isinstance(step, TraverseAttr):
                found.append((step.name, place))
            elif isinstance(step, TraverseIndex) and isinstance(step.key.data, str):
                found.append((step.key.data, place))
            else:
                found.append((None, place))
    return found


def _with_outputs(unit: Value, outputs: Mapping[str, Value]) -> Value:
    return object_value({**unit.mapping(), "outputs": object_value(dict(outputs))})


def output_cause(unit: str, output: str = "") -> UnknownCause:
    """The reason for which an output of a unit is not known."""
    what = f"output {output}" if output else "an output"
    return UnknownCause(
        CauseKind.OTHER_STATE, ROOT_MODULE, f"{what} of unit {unit}", None, Phase.APPLY
    )


def _unknown_outputs(name: str) -> Value:
    return DYNAMIC_UNKNOWN.with_causes((output_cause(name),)).mark(UnitMark(name))


def _unit_object(unit: Unit, outputs: Value) -> Value:
    return object_value(
        {
            "directory": string(unit.directory),
            "workspace": string(unit.workspace or "default"),
            "outputs": outputs,
        }
    )


def _unit_marks(value: Value) -> set[str]:
    return {each.name for each in value.unmark_deep()[1] if isinstance(each, UnitMark)}


def _members(value: Value) -> list[tuple[str, Value]]:
    inherited = value.marks
    return [(key, each.with_marks(inherited)) for key, each in value.unmark()[0].mapping().items()]


def _plain(value: Value) -> Value:
    """A value without the marks of units, and with all others."""
    from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths

    plain, found = unmark_deep_with_paths(value)
    kept = [
        (path, frozenset(each for each in marks if not isinstance(each, UnitMark)))
        for path, marks in found
    ]
    return mark_with_paths(plain, [(path, marks) for path, marks in kept if marks])
