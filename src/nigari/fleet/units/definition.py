"""`fleet.hcl`: units that cannot be found by looking, evaluated before anything runs.

    locals { environments = { dev = "eu-west-1", prod = "us-east-1" } }

    unit "network" {
      for_each  = local.environments
      directory = "network"
      variables = { region = each.value }
    }

Only the variables of a unit, and what it depends on, may refer to other units. Their outputs are
unknown here and carry a mark for the unit they belong to: whatever comes out of an expression tells
by its marks which units it needs. Once outputs are known, or planned, the same expression gives the
values.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from nigari.addrs.module import ROOT_MODULE
from nigari.cty.types import BOOL, KIND_MAP, KIND_OBJECT, STRING, ListType, MapType
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, object_value, string
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.base.causes import CauseKind, Phase, UnknownCause
from nigari.fleet.units.unit import Unit, instance_name
from nigari.hcl.body import Attribute, AttributeSchema, Block, BlockSchema, BodySchema, Content
from nigari.hcl.scope import Scope
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.traversal import TraverseAttr, TraverseIndex
from nigari.record import record
from nigari.workspace.base.own_file import BlockInstance, OwnFile, parse_own_file
from nigari.workspace.base.working_directory import WorkingDirectory

FILE_NAME: Final = "fleet.hcl"
_BLOCKS: Final = (BlockSchema("fleet"), BlockSchema("unit", ("name",)))
_FLEET: Final = BodySchema((AttributeSchema("exclude"), AttributeSchema("discover")))
_UNIT: Final = BodySchema(
    (
        AttributeSchema("directory", True),
        *(
            AttributeSchema(name)
            for name in (
                "workspace",
                "environment",
                "var_files",
                "variables",
                "labels",
                "depends_on",
                "env",
            )
        ),
    )
)


@record
class UnitMark:
    """Marks whatever comes from a unit."""

    name: str


@record
class DeclaredUnit:
    """A unit as a block declares it, with the expressions that may refer to other units."""

    unit: Unit
    scope: Scope
    variables: Attribute | None
    depends_on: Attribute | None
    key: str | None


@record
class Values:
    """What a unit's variables are given, as far as that is known."""

    values: Mapping[str, Value]
    needs: frozenset[str]
    """The units whose outputs are in them."""


class FleetDefinition:
    """What `fleet.hcl` says."""

    def __init__(self, where: WorkingDirectory, diags: Diagnostics, data: bytes | None) -> None:
        self.where = where
        self.diags = diags
        self.sources: dict[str, bytes] = {}
        self.exclude: tuple[str, ...] = ()
        self.discovers: bool = True
        """Whether units are looked for beside those that are declared."""
        self.declared: dict[str, DeclaredUnit] = {}
        self._objects: dict[str, Value] = {}
        """For each name that follows `unit.`, what stands for it while no output is known."""
        if data is not None:
            self.sources[FILE_NAME] = data
            self._read(parse_own_file(where, FILE_NAME, data, _BLOCKS, diags))

    # -- reading --------------------------------------------------------------------------------

    def _read(self, file: OwnFile) -> None:
        for block in file.blocks_of("fleet"):
            self._read_settings(file, block)
        blocks: dict[str, Block] = {}
        for block in file.blocks_of("unit"):
            first = blocks.setdefault(block.labels[0], block)
            if first is not block:
                self._report_duplicate(block, first)
                continue
            for instance in file.instances(block, self.diags):
                self._declare(instance)

    def _read_settings(self, file: OwnFile, block: Block) -> None:
        instance = BlockInstance(block, block.body, file.scope)
        content = block.body.content(_FLEET, self.diags)
        self.exclude += self._texts(instance, content, "exclude")
        discover = content.attributes.get("discover")
        if discover is not None:
            value = instance.value(discover, BOOL, self.diags)
            self.discovers = value is None or value.data is True

    def _declare(self, instance: BlockInstance) -> None:
        block, errors = instance.block, self.diags.error_count
        content = instance.body.content(_UNIT, self.diags)
        name = instance_name(block.labels[0], instance.key)
        key = None if instance.key is None else str(instance.key)
        workspace = self._text(instance, content, "workspace")
        environment = self._text(instance, content, "environment")
        directory = self._directory(instance, content)
        if self.diags.error_count > errors:
            return
        path = os.path.normpath(self.where.at(directory))
        unit = Unit(
            name,
            directory,
            path,
            # Instances of one block have a state each; environments have their own ways to that.
            workspace if workspace is not None or environment else key,
            tuple(
                self._var_file(path, each) for each in self._texts(instance, content, "var_files")
            ),
            self._texts(instance, content, "labels"),
            self._environ(instance, content),
            environment or "",
            block.labels[0],
            block.def_range,
        )
        attributes = content.attributes
        self.declared[name] = DeclaredUnit(
            unit, instance.scope, attributes.get("variables"), attributes.get("depends_on"), key
        )

    def _report_duplicate(self, block: Block, first: Block) -> None:
        self.diags.error(
            "Duplicate unit",
            f"There is already a unit {block.labels[0]}, at {first.def_range}. Give one of them "
            "another name.",
            block.def_range,
        )

    def _text(self, instance: BlockInstance, content: Content, name: str) -> str | None:
        attribute = content.attributes.get(name)
        value = None if attribute is None else instance.value(attribute, STRING, self.diags)
        return None if value is None else value.unmark_deep()[0].as_string()

    def _texts(self, instance: BlockInstance, content: Content, name: str) -> tuple[str, ...]:
        attribute = content.attributes.get(name)
        if attribute is None:
            return ()
        value = instance.value(attribute, ListType(STRING), self.diags)
        plain = () if value is None else value.unmark_deep()[0].elements()
        return tuple(each.as_string() for each in plain if not each.is_null)

    def _directory(self, instance: BlockInstance, content: Content) -> str:
        attribute = content.attributes.get("directory")
        text = self._text(instance, content, "directory")
        if attribute is None or text is None:
            return "."
        directory = os.path.normpath(text or ".").replace(os.sep, "/")
        if not os.path.isdir(self.where.at(directory)):
            self.diags.error(
                "No such directory",
                f'There is no directory "{directory}" below the directory of {FILE_NAME}.',
                attribute.expr.range,
            )
        return directory

    def _var_file(self, directory: str, path: str) -> str:
        """A file as `-var-file` names it, seen from the directory of the unit; one that is not there
        is looked for beside `fleet.hcl`.
        """
        inside = os.path.normpath(os.path.join(directory, path))
        beside = os.path.normpath(self.where.at(path))
        return beside if not os.path.exists(inside) and os.path.exists(beside) else inside

    def _environ(self, instance: BlockInstance, content: Content) -> tuple[tuple[str, str], ...]:
        found: dict[str, str] = {}
        attribute = content.attributes.get("env")
        value = (
            None if attribute is None else instance.value(attribute, MapType(STRING), self.diags)
        )
        if value is not None:
            plain = value.unmark_deep()[0].mapping()
            found.update({name: each.as_string() for name, each in plain.items()})
        return tuple(sorted(found.items()))

    # -- values ---------------------------------------------------------------------------------

    def know_units(self, units: Sequence[Unit]) -> None:
        """Let expressions refer to these units."""
        single: dict[str, Value] = {}
        repeated: dict[str, dict[str, Value]] = {}
        for unit in units:
            declared = self.declared.get(unit.name)
            stand_in = _unit_object(unit, _unknown_outputs(unit.name))
            if declared is None or declared.key is None:
                single[unit.name] = stand_in
            else:
                repeated.setdefault(unit.block, {})[declared.key] = stand_in
        self._objects = {**single, **{name: object_value(each) for name, each in repeated.items()}}

    def needs(self, name: str) -> dict[str, tuple[str, Range]]:
        """The units that a unit needs: for each why, and where that is written."""
        declared = self.declared.get(name)
        if declared is None:
            return {}
        found: dict[str, tuple[str, Range]] = {}
        for attribute, why in (
            (declared.variables, "outputs"),
            (declared.depends_on, "depends_on"),
        ):
            if attribute is not None:
                value = self._value(declared, attribute, {}, self.diags)
                for mark in () if value is None else sorted(_unit_marks(value)):
                    found.setdefault(mark, (why, attribute.expr.range))
        found.pop(name, None)
        return found

    def variables(
        self, name: str, outputs: Mapping[str, Mapping[str, Value]], diags: Diagnostics
    ) -> Values:
        """The values that a unit's variables are given, with these outputs of other units; what is
        wrong is reported.
        """
        declared = self.declared.get(name)
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
        declared: DeclaredUnit,
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
        declared: DeclaredUnit,
        attribute: Attribute,
        outputs: Mapping[str, Mapping[str, Value]],
    ) -> Scope:
        """What names stand for in an expression; only the units that it may refer to are put in."""
        wanted = {name for name, _ in _named_units(attribute)}
        if not wanted:
            return declared.scope
        objects = self._objects
        members = dict(objects)
        if None not in wanted:
            members = {
                name: objects[name] for name in wanted if name is not None and name in objects
            }
        repeated: dict[str, dict[str, Value]] = {}
        for name, found in outputs.items():
            other = self.declared.get(name)
            if other is None or other.key is None:
                if name in members:
                    members[name] = _with_outputs(members[name], found)
            elif (block := other.unit.block) in members:
                instances = repeated.setdefault(block, dict(members[block].mapping()))
                instances[other.key] = _with_outputs(instances[other.key], found)
        members.update({name: object_value(each) for name, each in repeated.items()})
        return Scope({"unit": object_value(members)}, parent=declared.scope)


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
    """Why an output of a unit is not known."""
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
