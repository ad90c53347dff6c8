"""`import` blocks: existing objects that are taken over, by the provider's own identifiers."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.parse import parse_resource_instance
from nigari.config.imports import Import
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import STRING
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.expansion import NO_INSTANCE_DATA, InstanceData, expand_for_each
from nigari.eval.instances import Frame
from nigari.eval.once import Need, Node
from nigari.eval.scope import evaluate
from nigari.hcl.expressions import Expression
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.plan.prior import PriorObject, with_schema_marks
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.schema.provider import Schema
from nigari.state.objects import encode


class ImportsNode(Node):
    """All import blocks of the root module; its result says what is imported where."""

    __slots__ = ("_at", "_frame", "ids")

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self._frame = frame
        self._at = 0
        self.ids: dict[AbsResourceInstance, str] = {}

    @property
    def label(self) -> str:
        return "import blocks"

    def fail(self) -> None:
        self.ids = {}

    def step(self) -> Sequence[Need]:
        imports = self._frame.module.imports
        while self._at < len(imports):
            needs = self._block(imports[self._at])
            if needs:
                return needs
            self._at += 1
        return ()

    def _block(self, block: Import) -> Sequence[Need]:
        frame = self._frame
        instances = [NO_INSTANCE_DATA]
        if block.for_each is not None:
            compiled = frame.instance.compiled.expression(block.for_each)
            value = evaluate(frame, compiled)
            if not isinstance(value, Value):
                return value
            expansion = expand_for_each(value, block.for_each.range, frame.run.diags)
            if expansion.deferred_by is not None:
                _report(frame, block, block.for_each, "its for_each is not known yet")
                return ()
            instances = list(expansion.instances.values())
        for data in instances:
            needs = self._one(block, data)
            if needs:
                return needs
        return ()

    def _one(self, block: Import, data: InstanceData) -> Sequence[Need]:
        frame, needs = self._frame, list[Need]()
        keys: list[Value] = []
        for expr in block.target.keys:
            value = evaluate(frame, frame.instance.compiled.expression(expr), data)
            if isinstance(value, Value):
                keys.append(value.unmark()[0])
            else:
                needs.extend(value)
        if needs or block.id is None:
            return needs
        value = evaluate(frame, frame.instance.compiled.expression(block.id), data)
        if not isinstance(value, Value):
            return value
        address = parse_resource_instance(block.target.with_keys(keys), frame.run.diags)
        found = self._id(block, block.id, value)
        if address is not None and found is not None:
            self.ids[address] = found
        return ()

    def _id(self, block: Import, expr: Expression, value: Value) -> str | None:
        value, marks = value.unmark()
        problem = ""
        if SENSITIVE in marks or EPHEMERAL in marks:
            problem = "its id is sensitive or ephemeral, and ids are shown"
        elif not value.is_known:
            problem = "its id is known only after something else has been applied"
        else:
            try:
                value = convert(value, STRING)
            except CtyError as error:
                problem = f"its id is no string: {error.message}"
        if not problem and (value.is_null or not value.as_string()):
            problem = "its id is empty"
        if problem:
            _report(self._frame, block, expr, problem)
            return None
        return value.as_string()


async def imported(
    provider: api.Provider,
    schema: Schema,
    address: AbsResourceInstance,
    id_: str,
    diags: Diagnostics,
) -> PriorObject | None:
    """The object that an identifier names; None after reporting why there is none."""
    type_name = address.item.resource.type
    answer = await provider.import_state(api.ImportRequest(type_name, id_))
    diags.extend(located(answer.diagnostics, address=str(address)))
    if api.has_errors(answer.diagnostics):
        return None
    for found in answer.resources:
        if found.type_name == type_name and not found.state.is_null:
            value = with_schema_marks(found.state, schema)
            stored = encode(value, schema, private=found.private, identity=found.identity)
            return PriorObject(value, stored, found.private, found.identity)
    diags.error(
        "Nothing to import",
        f'The provider has no object with the id "{id_}" for {address}. Check the id, and whether '
        "the provider is configured for the place where the object is.",
        address=str(address),
    )
    return None


def _report(frame: Frame, block: Import, expr: Expression, problem: str) -> None:
    frame.run.diags.error(
        "Import not possible", f"{block.shape} cannot be imported: {problem}.", expr.range
    )
