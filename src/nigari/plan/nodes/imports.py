"""`import` blocks while planning: which existing object is imported to which address.

A node per block evaluates its `for_each`, keys and id or identity, and its targets are known before
the resources they belong to are planned. The provider is asked here for the object that a target
means. What is then planned for it, `nigari.plan.nodes.managed` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nigari.addrs.absolute import AbsResource, AbsResourceInstance, resource_of, within
from nigari.addrs.module import ModuleAddr
from nigari.addrs.parse import parse_resource_instance
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.json import value_to_json
from nigari.cty.types import KIND_TUPLE, STRING
from nigari.cty.values import Value, number
from nigari.diagnostics import Diagnostics, Range
from nigari.diagnostics.advice import advice
from nigari.eval.core.expansion import Asked, expand_for_each
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import evaluate, scope_of
from nigari.eval.core.worklist import Need, Node
from nigari.hcl.expressions import Expression
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.plan.objects.prior_object import PriorObject
from nigari.plan.objects.provider_deferral import ProviderDefers
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import record
from nigari.running.deferrals import (
    Deferral,
    DeferralReason,
    Deferrals,
    DeferredKind,
    Written,
)
from nigari.running.provider_objects import is_sound, with_schema_marks
from nigari.running.unknown_values import in_rounds, is_reported
from nigari.schema.provider import Schema
from nigari.state.objects import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.config.blocks.imports import Import


@record
class ImportTarget:
    """An object to take over: one of an id and an identity is what it is known by."""

    address: AbsResourceInstance
    id: str = ""
    identity: Value | None = None
    """As it was given, not yet fitted to what the provider wants."""
    block: Import | None = None
    """None for the command `import`."""

    @property
    def text(self) -> str:
        """The ID or identity, for display."""
        if self.identity is None:
            return self.id
        return value_to_json(self.identity, self.identity.type)

    @property
    def range(self) -> Range | None:
        return None if self.block is None else self.block.range

    @property
    def is_empty(self) -> bool:
        """Return whether its id is an empty string, which means: do not import."""
        return self.identity is None and not self.id


class Imports:
    """The import blocks of all module instances, and what is imported where."""

    def __init__(self, deferrals: Deferrals | None = None) -> None:
        self.targets: dict[AbsResourceInstance, ImportTarget] = {}
        self._deferrals = deferrals
        self._by_resource: dict[AbsResource, list[ImportNode]] = {}

    def open(self, frame: Frame) -> list[ImportNode]:
        """Add the blocks of a module instance, and return their nodes."""
        nodes = [
            ImportNode(frame, each, self.targets, self._deferrals) for each in frame.module.imports
        ]
        for node in nodes:
            self._by_resource.setdefault(node.resource, []).append(node)
        return nodes

    def __bool__(self) -> bool:
        return bool(self._by_resource)

    def into(self, address: AbsResourceInstance) -> ImportTarget | None:
        """The import of an instance."""
        target = self.targets.get(address)
        return None if target is None or target.is_empty else target

    def of(self, address: AbsResource) -> list[ImportNode]:
        """The blocks that may import to instances of a resource: in its module instance, or in one
        that calls it.
        """
        return [
            node
            for node in self._by_resource.get(address.unkeyed, ())
            if address.module.is_inside(node.module)
        ]

    def waiting(self, address: AbsResourceInstance) -> list[Deferral]:
        """The imports to an instance, or perhaps to it, that are left for later."""
        return [
            deferral
            for node in self.of(resource_of(address))
            for target, deferral in node.waiting.items()
            if target is None or target == address
        ]


class ImportNode(Node):
    """An import block of a module instance."""

    __slots__ = ("_block", "_deferrals", "_frame", "_targets", "waiting")

    def __init__(
        self,
        frame: Frame,
        block: Import,
        targets: dict[AbsResourceInstance, ImportTarget],
        deferrals: Deferrals | None = None,
    ) -> None:
        super().__init__()
        self._deferrals = deferrals
        self.waiting: dict[AbsResourceInstance | None, Deferral] = {}
        """The deferred imports by address; None if the address is not known either."""
        self._frame = frame
        self._block = block
        self._targets = targets

    @property
    def label(self) -> str:
        return self._frame.label(f"import to {self._block.shape}")

    @property
    def range(self) -> Range:
        return self._block.range

    @property
    def module(self) -> ModuleAddr:
        """The module instance that the block is in."""
        return self._frame.instance.addr

    @property
    def resource(self) -> AbsResource:
        """The resources of the block's instances, in modules without keys."""
        return within(self.module, resource_of(self._block.shape)).unkeyed

    def fail(self) -> None:
        """Then nothing is imported."""

    def step(self) -> Sequence[Need]:
        block = self._block
        instances = self._instances(block)
        if isinstance(instances, list):
            return instances
        found: list[ImportTarget] = []
        for data in instances:
            target = self._one(block, data)
            if isinstance(target, list):
                return target
            if target is not None:
                found.append(target)
        for each in found:
            self._put(each)
        return ()

    def _put(self, target: ImportTarget) -> None:
        known = self._targets.setdefault(target.address, target)
        if known is not target and known.range is not None:
            first = known.range
            self._frame.run.diags.error(
                "Duplicate import",
                f"{target.address} is already imported by the block in {first.filename}, line "
                f"{first.start.line}. Only one object can be imported there.",
                target.range,
            )

    def _instances(self, block: Import) -> tuple[InstanceData, ...] | list[Need]:
        """The values of `each` for every repetition of a block."""
        expr, frame = block.for_each, self._frame
        if expr is None:
            return (NO_INSTANCE_DATA,)
        compiled = frame.instance.compiled.expression(expr)
        value = evaluate(frame, compiled)
        if not isinstance(value, Value):
            return value
        plain, _ = value.unmark()
        if plain.type.kind == KIND_TUPLE and not value.is_marked:
            if not plain.is_known and self._leaves(plain, expr):
                return ()
            if plain.is_null or not plain.is_known:
                _report(frame, block, expr, f"its for_each is {_unusable(plain)}")
                return ()
            return tuple(
                InstanceData(each_key=number(index), each_value=each)
                for index, each in enumerate(plain.sequence())
            )
        asked = Asked(expr, partial(scope_of, frame, compiled), frame.run.diags)
        expansion = expand_for_each(value, asked)
        if expansion.deferred_by is not None:
            if self._leaves(expansion.deferred_by, expr):
                return tuple(expansion.certain.values())
            _report(frame, block, expr, f"its for_each is {_LATER}")
            return ()
        return tuple(expansion.instances.values())

    def _one(self, block: Import, data: InstanceData) -> ImportTarget | list[Need] | None:
        frame, needs = self._frame, list[Need]()
        keys: list[Value] = []
        for expr in block.target.keys:
            value = evaluate(frame, frame.instance.compiled.expression(expr), data)
            if not isinstance(value, Value):
                needs.extend(value)
            elif not value.is_known and not value.is_marked and self._leaves(value, expr, data):
                return None
            elif value.is_marked or not value.is_known or value.is_null:
                _report(frame, block, expr, f"a key in its address is {_unusable(value)}")
                return None
            else:
                keys.append(value)
        known_by = block.id or block.identity
        if needs or known_by is None:
            return needs or None
        value = evaluate(frame, frame.instance.compiled.expression(known_by), data)
        if not isinstance(value, Value):
            return value
        address = parse_resource_instance(block.target.with_keys(keys), frame.run.diags)
        if address is not None:
            address = within(self.module, address)
        what = "id" if block.id is not None else "identity"
        if address is not None and not value.is_wholly_known and not value.contains_marked:
            if self._leaves(value, known_by, data, address):
                return None
        if address is None or not self._is_usable(block, known_by, what, value):
            return None
        if block.id is None:
            return ImportTarget(address, "", value, block)
        id_ = self._id(block, known_by, value)
        return None if id_ is None else ImportTarget(address, id_, None, block)

    def _leaves(
        self,
        value: Value,
        expr: Expression,
        data: InstanceData = NO_INSTANCE_DATA,
        address: AbsResourceInstance | None = None,
    ) -> bool:
        """Leave an import for the round in which a value is known, if that may be done."""
        deferrals, frame = self._deferrals, self._frame
        if deferrals is None or is_reported(value):
            return False
        self.waiting[address] = deferrals.add(
            DeferredKind.IMPORT,
            DeferralReason.CONFIG,
            frame.instance.addr,
            f"import to {f'{self.resource}[*]' if address is None else address}",
            self._block.range,
            (Written(frame, frame.instance.compiled.expression(expr), data),),
            deferrals.within(value),
            unknown_value=value,
        )
        return True

    def _is_usable(self, block: Import, expr: Expression, what: str, value: Value) -> bool:
        plain, marks = value.unmark_deep()
        if SENSITIVE in marks or EPHEMERAL in marks or plain.is_null or not plain.is_wholly_known:
            marked = value if value.is_marked or not marks else value.with_marks(marks)
            _report(self._frame, block, expr, f"its {what} is {_unusable(marked)}")
            return False
        return True

    def _id(self, block: Import, expr: Expression, value: Value) -> str | None:
        try:
            return convert(value.unmark_deep()[0], STRING).as_string()
        except CtyError as error:
            _report(self._frame, block, expr, f"its id is not a string: {error.message}")
            return None


async def imported(
    provider: api.Provider,
    schema: Schema,
    target: ImportTarget,
    diags: Diagnostics,
    may_defer: bool = False,
) -> PriorObject | None:
    """The object that a target names; None after reporting why there is none.

    A provider that leaves it for a later plan, where it may, raises `ProviderDefers`.
    """
    type_name = target.address.item.resource.type
    identity = None
    if target.identity is not None:
        identity = _identity(schema, target, diags)
        if identity is None:
            return None
    request = api.ImportRequest(type_name, target.id, identity, may_defer)
    answer = await provider.import_state(request)
    if answer.deferred is not None and may_defer:
        raise ProviderDefers(answer.deferred)
    diags.extend(located(answer.diagnostics, address=str(target.address)))
    if api.has_errors(answer.diagnostics):
        return None
    if len(answer.resources) > 1:
        diags.error(
            "Several objects to import",
            f"The provider returned {len(answer.resources)} objects for {target.text}, but only "
            f"one can be imported to {target.address}.",
            target.range,
            address=str(target.address),
        )
        return None
    for found in answer.resources:
        if found.type_name == type_name and not found.state.is_null:
            if not is_sound(found.state, schema, target.address, "imported", diags):
                return None
            value = with_schema_marks(found.state, schema)
            stored = encode(value, schema, private=found.private, identity=found.identity)
            return PriorObject(value, stored, found.private, found.identity)
    report_missing(target, diags)
    return None


def report_missing(target: ImportTarget, diags: Diagnostics) -> None:
    """An object that does not exist."""
    diags.error(
        "Object to import not found",
        f"The provider has no object with {target.text} for {target.address}. Check the value, "
        "and whether the provider is configured for the account, region or server that the "
        "object is in.",
        target.range,
        address=str(target.address),
    )


def report_undeclared(target: ImportTarget, diags: Diagnostics) -> None:
    """A target that the configuration does not have."""
    option = advice().option("-generate-config-out")
    is_written = target.block is not None and target.address.module.is_root
    generated = "" if not is_written else f", or use {option} to write the block"
    diags.error(
        "Import without configuration",
        f"The configuration does not declare {target.address}, so nothing can be imported there. "
        f"Declare it first{generated}.",
        target.range,
        address=str(target.address),
    )


def _identity(schema: Schema, target: ImportTarget, diags: Diagnostics) -> Value | None:
    """The identity as the provider wants it."""
    assert target.identity is not None
    expr = None if target.block is None else target.block.identity
    problem = "resources of this type have no identity; use an id instead"
    if schema.identity is not None:
        try:
            return convert(target.identity.unmark_deep()[0], schema.identity.import_type)
        except CtyError as error:
            problem = f"its identity does not match: {error.message}"
    diags.error(
        "Cannot import",
        f"{target.address} cannot be imported: {problem}.",
        None if expr is None else expr.range,
        address=str(target.address),
    )
    return None


def _unusable(value: Value) -> str:
    if SENSITIVE in value.marks:
        return "sensitive, but it would be shown"
    if EPHEMERAL in value.marks:
        return "ephemeral, but it would be stored"
    return "null" if value.is_null else _LATER


def _report(frame: Frame, block: Import, expr: Expression, problem: str) -> None:
    hint = f" {in_rounds()}" if problem.endswith(_LATER) else ""
    frame.run.diags.error(
        "Cannot import", f"{block.shape} cannot be imported: {problem}.{hint}", expr.range
    )


_LATER: Final = "known only after something else has been applied"
