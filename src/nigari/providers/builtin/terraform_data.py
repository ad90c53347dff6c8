"""The resource type `terraform_data`, which stores a value and exists in the state only.

As in OpenTofu, `output` adopts `input` on apply; a change of `triggers_replace` replaces the
object. The block `store` is that of Terraform: its rules are in `nigari.providers.builtin.stored_value`.
"""

from __future__ import annotations

from nigari import cty
from nigari.cty.paths import infinite_as_null
from nigari.cty.refinements import refine_not_null
from nigari.lang.random_ids import random_uuid
from nigari.providers import api
from nigari.providers.base import problem
from nigari.providers.builtin.schema import STORE, TERRAFORM_DATA_NAME
from nigari.providers.builtin.stored_value import apply_store, plan_store
from nigari.schema.block import Attribute, Block
from nigari.schema.coerce import coerce

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_NULL_RESOURCE: Final = Block(
    {
        "triggers": Attribute(cty.MapType(cty.STRING), optional=True),
        "id": Attribute(cty.STRING, computed=True),
    }
)


def validate(config: cty.Value) -> api.ProviderDiagnostics:
    """Reject values for computed attributes."""
    if config.is_null or not config.is_known:
        return ()
    reported: api.ProviderDiagnostics = ()
    for name in ("id", "output"):
        if not config.attribute(name).is_null:
            reported += problem(
                "Result set in the configuration",
                f"{name} is set when terraform_data is created; it cannot be set in the "
                "configuration.",
                (cty.GetAttr(name),),
            )
    return reported


def plan(request: api.PlanRequest) -> api.PlanResponse:
    """Plan all results as unknown for a new object or changed triggers, otherwise only a changed
    `output` or a value to store.
    """
    proposed = request.proposed
    if proposed.is_null:
        return api.PlanResponse(proposed)
    infinite = infinite_as_null(proposed)[1]
    if infinite:
        reported = tuple(each for path in infinite for each in _infinite(path))
        return api.PlanResponse(proposed, diagnostics=reported)
    planned = dict(proposed.mapping())
    given = proposed.attribute("input")
    prior = request.prior
    replaced: tuple[cty.Path, ...] = ()
    if prior.is_null:
        # dataStoreResource: the id is a new UUID for each object.
        planned["id"] = refine_not_null(cty.unknown(cty.STRING))
        planned["output"] = _output_for(given)
    elif prior.attribute("triggers_replace") != proposed.attribute("triggers_replace"):
        replaced = ((cty.GetAttr("triggers_replace"),),)
        planned["id"] = refine_not_null(cty.unknown(cty.STRING))
        planned["output"] = _output_for(given)
    elif prior.attribute("input") != given:
        # planDataStoreResourceChange: output follows input on apply only, so that what
        # refers to it waits.
        planned["output"] = cty.unknown(given.type)
    if STORE not in planned or planned[STORE].is_null:
        return api.PlanResponse(cty.object_value(planned), replaced)
    had = cty.null(planned[STORE].type) if prior.is_null or replaced else prior.attribute(STORE)
    store = plan_store(had, planned[STORE], request.config.attribute(STORE).attribute("input"))
    planned[STORE] = store.planned
    if store.replaces and not prior.is_null and not replaced:
        replaced = ((cty.GetAttr(STORE), cty.GetAttr("input")),)
        planned["id"] = refine_not_null(cty.unknown(cty.STRING))
    return api.PlanResponse(cty.object_value(planned), replaced, diagnostics=store.diagnostics)


def _infinite(path: cty.Path) -> api.ProviderDiagnostics:
    where = cty.path_text(path).removeprefix(".")
    return problem(
        "Infinite number", f"The value of {where} is infinite, and a state cannot store that.", path
    )


def _output_for(given: cty.Value) -> cty.Value:
    return given if given.is_null else cty.unknown(given.type)


def apply(request: api.ApplyRequest) -> api.ApplyResponse:
    """Fill in the unknown results."""
    planned = request.planned
    if planned.is_null:
        return api.ApplyResponse(planned)
    state = dict(planned.mapping())
    if not planned.attribute("output").is_known:
        state["output"] = planned.attribute("input")
    if not planned.attribute("id").is_known:
        # The id is unknown for new objects only; otherwise it stays.
        state["id"] = cty.string(random_uuid())
    if STORE in state and not state[STORE].is_null:
        given = request.config.attribute(STORE).attribute("input")
        state[STORE] = apply_store(state[STORE], given)
    return api.ApplyResponse(cty.object_value(state))


def upgrade(request: api.UpgradeRequest, block: Block) -> api.UpgradeResponse:
    """Read stored state: this schema has had only one version."""
    try:
        return api.UpgradeResponse(cty.value_from_json(request.json, block.implied_type))
    except cty.CtyError as error:
        return api.UpgradeResponse(cty.null(block.implied_type), _bad_state(str(error)))


def import_state(request: api.ImportRequest, block: Block) -> api.ImportResponse:
    """Import an object by its id; the next apply fills in the rest."""
    state = coerce(block, cty.object_value({"id": cty.string(request.id)}))
    return api.ImportResponse((api.ImportedResource(TERRAFORM_DATA_NAME, state),))


def move_state(request: api.MoveRequest, block: Block) -> api.MoveResponse:
    """Take over a `null_resource`: its triggers and its id."""
    nothing = cty.null(block.implied_type)
    # moveDataStoreResourceState: null_resource is the only source, and triggers become
    # triggers_replace.
    if request.source_type_name != "null_resource":
        reported = problem(
            "Move between resource types not supported",
            f"Only a null_resource can become a terraform_data, not a {request.source_type_name}.",
        )
        return api.MoveResponse(nothing, diagnostics=reported)
    try:
        old = cty.value_from_json(request.json, _NULL_RESOURCE.implied_type)
    except cty.CtyError as error:
        return api.MoveResponse(nothing, diagnostics=_bad_state(str(error)))
    values = {"id": old.attribute("id")}
    triggers = old.attribute("triggers")
    if not triggers.is_null:
        values["triggers_replace"] = cty.object_value(triggers.mapping())
    return api.MoveResponse(coerce(block, cty.object_value(values)), request.private)


def _bad_state(reason: str) -> api.ProviderDiagnostics:
    return problem("Unreadable state", f"The stored object cannot be read: {reason}.")
