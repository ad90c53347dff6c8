"""The `backend` or `cloud` block: a value for each of its arguments.

Each argument is a static place of its own, so that an error is about the argument and names the
way that its value took. Whether the values fit together is the backend's affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nigari.addrs.values import TerraformAttr
from nigari.backends.harmless import is_harmless
from nigari.config.blocks.backend import BackendBlock
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.paths import path_text
from nigari.cty.values import Value, null
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.instances import Origin
from nigari.eval.core.scope import nodes_of
from nigari.eval.core.static_position import StaticPosition
from nigari.eval.core.worklist import Node
from nigari.eval.nodes.variable import RootVariable
from nigari.eval.static.run import StaticRun, slot_value
from nigari.hcl.body import AttributeSchema, BlockSchema, Body, BodySchema
from nigari.lang.references import Reference
from nigari.record import record, replace
from nigari.schema.block import Block, NestedBlock, Nesting
from nigari.schema.coerce import coerce


@record
class BackendArguments:
    """The arguments of a backend block that are written there; required ones may be missing."""

    type: str
    schema: Block
    value: Value
    range: Range
    """The header of the block."""
    places: Mapping[str, StaticPosition]
    """The ranges of the arguments, by their names; those of nested blocks after the block's."""

    def inputs(self, argument: str) -> BackendInputs:
        """The sources outside the configuration of an argument, or of those in a nested block."""
        inner = f"{argument}."
        return inputs_behind(
            place.origin
            for name, place in self.places.items()
            if name == argument or name.startswith(inner)
        )


@record
class BackendInputs:
    """The inputs that decide values, apart from the configuration."""

    variables: Mapping[str, RootVariable]
    """Variables of the root module by name, in the order they are met."""
    uses_workspace: bool
    """True if the selected workspace influences the values."""

    @property
    def names(self) -> list[str]:
        """All of them, as the configuration refers to them."""
        names = [f"var.{name}" for name in self.variables]
        return [*names, "terraform.workspace"] if self.uses_workspace else names


def fill_backend(run: StaticRun, backend: BackendBlock, schema: Block) -> BackendArguments | None:
    """The values of a backend's arguments; None where one of them has been reported or asked
    for.
    """
    places: dict[str, StaticPosition] = {}
    value = _Filling(run, backend).body(backend.body, schema, "", places)
    if value is None:
        return None
    return BackendArguments(backend.type, schema, value, backend.range, places)


def inputs_behind(origins: Iterable[Origin]) -> BackendInputs:
    """The inputs that expressions depend on, through all their references."""
    found: dict[str, RootVariable] = {}
    uses_workspace = False
    seen: set[Node] = set()
    pending = list(origins)
    while pending:
        place = pending.pop()
        for reference in place.compiled.references:
            uses_workspace = uses_workspace or is_workspace(reference)
            for node in nodes_of(place.frame, reference):
                if node in seen:
                    continue
                seen.add(node)
                if isinstance(node, RootVariable):
                    found[node.variable.name] = node
                further = node.origin()
                if further is not None:
                    pending.append(further)
    return BackendInputs(found, uses_workspace)


def is_workspace(reference: Reference) -> bool:
    """Return whether a reference is to the name of the selected workspace."""
    subject = reference.subject
    return isinstance(subject, TerraformAttr) and subject.name == "workspace"


class _Filling:
    """The work of evaluating one block."""

    def __init__(self, run: StaticRun, backend: BackendBlock) -> None:
        self._run = run
        self._type = backend.type
        self._diags: Diagnostics = run.diags
        self._word = backend.block.type

    def body(
        self, body: Body, schema: Block, prefix: str, places: dict[str, StaticPosition]
    ) -> Value | None:
        """The value of a body; None where a part of it cannot be had."""
        errors = self._diags.error_count
        content = body.content(_body_schema(schema), self._diags)
        is_whole = self._diags.error_count == errors
        values: dict[str, Value] = {}
        for name, attribute in content.attributes.items():
            what = f"{self._word} argument {prefix}{name}"
            slot = places[f"{prefix}{name}"] = StaticPosition(
                what, self._run.root, attribute.expr, self._run.request
            )
            value = self._argument(slot, schema, name)
            if value is None:
                is_whole = False
            else:
                values[name] = value
        for name, nested in schema.blocks.items():
            bodies = [block.body for block in content.blocks if block.type == name]
            value = self._blocks(bodies, nested, f"{prefix}{name}.", places)
            if value is None:
                is_whole = is_whole and not bodies
            else:
                values[name] = value
        if prefix:
            # What is missing from the block itself may still be given on the command line.
            for name, wanted in schema.attributes.items():
                if wanted.required and is_whole and name not in values:
                    _report_missing(f"{self._word} argument {prefix}{name}", body, self._diags)
                    is_whole = False
        return _shaped(schema, values) if is_whole else None

    def _argument(self, slot: StaticPosition, schema: Block, name: str) -> Value | None:
        value = self._value(slot)
        if value is None:
            return None
        try:
            return convert(value, schema.attributes[name].spec_type)
        except CtyError as error:
            _report_unfit(slot, error, self._diags)
            return None

    def _value(self, slot: StaticPosition) -> Value | None:
        """The value of an argument; what it is made of is quoted only if it may be shown itself."""
        name = slot.what.rpartition(" ")[2].partition(".")[0]
        if is_harmless(self._type, name):
            return slot_value(self._run, slot)
        found = self._diags.child()
        with self._run.reporting_to(found):
            value = slot_value(self._run, slot)
        self._diags.extend(replace(each, values=()) for each in found)
        return value

    def _blocks(
        self,
        bodies: list[Body],
        nested: NestedBlock,
        prefix: str,
        places: dict[str, StaticPosition],
    ) -> Value | None:
        found = [
            self.body(each, nested.block, f"{prefix}{position}." if position else prefix, places)
            for position, each in enumerate(bodies)
        ]
        values = [each for each in found if each is not None]
        if not values or len(values) < len(found):
            return None
        if nested.nesting is Nesting.SINGLE:
            return values[0]
        return convert(Value.of(values), nested.spec_type)


def _shaped(schema: Block, values: Mapping[str, Value]) -> Value:
    """The values with nulls for the arguments that are not there, required or not."""
    absent = {
        name: null(attribute.implied_type)
        for name, attribute in schema.attributes.items()
        if name not in values
    }
    return coerce(schema, Value.of({**absent, **values}))


def _body_schema(schema: Block) -> BodySchema:
    return BodySchema(
        tuple(AttributeSchema(name) for name in schema.attributes),
        tuple(BlockSchema(name) for name in schema.blocks),
    )


def _report_missing(what: str, body: Body, diags: Diagnostics) -> None:
    diags.error(
        "Missing backend argument",
        f"The {what} is required, but it is not set.",
        body.missing_item_range,
    )


def _report_unfit(slot: StaticPosition, error: CtyError, diags: Diagnostics) -> None:
    part = f" at {path_text(error.path)}" if error.path else ""
    diags.error(
        "Invalid value for a backend argument",
        f"Invalid value for the {slot.what}{part}: {error.message}.",
        slot.expr.range,
    )
