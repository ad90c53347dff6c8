"""Resource types and data sources: dataclasses with methods, adapted to the provider interface.

The plan follows from the fields (see `planning`), and a class can influence it with its own method.
Even if a method raises, the state reports the objects that exist afterwards.
"""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from nigari import cty
from nigari.cty.paths import unknown_as_null
from nigari.hcl.evaluation import as_sentence
from nigari.providers import api
from nigari.providers.base import problem
from nigari.providers.python.attempt import AttemptResult, ProviderError, attempt, attribute_path
from nigari.providers.python.fields import Fields, written
from nigari.providers.python.planning import (
    changed_fields,
    completed,
    opened,
    replacing,
    results,
    with_prior_results,
    with_write_only,
)
from nigari.providers.python.timeouts import Timeouts
from nigari.schema.coerce import coerce, without_null_blocks

Upgrade = Callable[[int, dict[str, object]], dict[str, object]]


@dataclass(frozen=True, slots=True)
class Caller:
    """Arguments of methods: the provider's configuration, and a getter for the module's metadata."""

    config: object
    meta: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class ResourceType:
    """A registered class. Most methods are optional, and they may be async or not."""

    # `Any` stands for a class with such methods.
    owner: Any
    fields: Fields
    version: int
    upgrade: Upgrade | None
    limits: Timeouts

    async def upgraded(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        """Read stored data of this schema version, or convert that of an older one."""
        outcome = await attempt(_upgraded, self, request)
        nothing = cty.null(self.fields.block.implied_type)
        return api.UpgradeResponse(nothing if outcome.failed else outcome.result, outcome.reported)

    async def read(self, request: api.ReadRequest, caller: Caller) -> api.ReadResponse:
        """Read the current state of an object."""
        if not hasattr(self.owner, "read"):
            return api.ReadResponse(request.state, request.private, request.identity)
        made = await attempt(self.fields.to_instance, request.state)
        outcome = made if made.failed else await self._ask(made.result, "read", caller)
        if (reason := outcome.deferral(request.may_defer)) is not None:
            kept = request.state, request.private, request.identity
            return api.ReadResponse(*kept, outcome.warnings, reason)
        if not outcome.failed and not isinstance(outcome.result, bool):
            wrong = outcome.reported + _no_existence(request.type_name, outcome.result)
            return api.ReadResponse(request.state, request.private, request.identity, wrong)
        if outcome.result is False:
            return api.ReadResponse(cty.null(request.state.type), diagnostics=outcome.reported)
        state, reported = self._left(made.result, outcome, request.state, request.state)
        identity = request.identity if api.has_errors(reported) else self.fields.identity_of(state)
        return api.ReadResponse(state, request.private, identity, reported)

    async def read_data(self, request: api.ReadDataRequest, caller: Caller) -> api.ReadDataResponse:
        """Read a data source."""
        unknown = cty.unknown(self.fields.block.implied_type)
        made = await attempt(self.fields.to_instance, request.config)
        outcome = made if made.failed else await self._ask(made.result, "read", caller)
        if (reason := outcome.deferral(request.may_defer)) is not None:
            return api.ReadDataResponse(unknown, outcome.warnings, reason)
        return api.ReadDataResponse(*self._left(made.result, outcome, unknown, request.config))

    async def plan(self, request: api.PlanRequest, caller: Caller) -> api.PlanResponse:
        """Plan a change by the fields, and let the class influence it."""
        if request.proposed.is_null:
            return api.PlanResponse(request.proposed)
        value, replaced = _planned(self, request)
        if not hasattr(self.owner, "plan"):
            identity = self.fields.identity_of(value)
            return api.PlanResponse(value, replaced, identity=identity)
        made = await attempt(self.fields.to_instance, value, True)
        was = AttemptResult()
        if not request.prior.is_null:
            was = await attempt(self.fields.to_instance, request.prior)
        if made.failed or was.failed:
            return api.PlanResponse(value, diagnostics=made.reported + was.reported)
        outcome = await self._ask(made.result, "plan", caller, was.result)
        if (reason := outcome.deferral(request.may_defer)) is not None:
            return api.PlanResponse(value, diagnostics=outcome.warnings, deferred=reason)
        if outcome.failed:
            return api.PlanResponse(value, diagnostics=outcome.reported)
        try:
            value = coerce(self.fields.block, self.fields.to_value(made.result, value))
            more = _named_paths(outcome.result)
        except (TypeError, ValueError, cty.CtyError) as error:
            return api.PlanResponse(value, diagnostics=outcome.reported + self._wrong(error))
        replaced += tuple(path for path in more if path not in replaced)
        identity = self.fields.identity_of(value)
        return api.PlanResponse(value, replaced, identity=identity, diagnostics=outcome.reported)

    async def apply(self, request: api.ApplyRequest, caller: Caller) -> api.ApplyResponse:
        """Create, update or delete; the response always has the objects that exist afterwards."""
        if request.planned.is_null:
            state, reported = await self._delete(request, caller)
        elif request.prior.is_null:
            state, reported = await self._create(request, caller)
        else:
            state, reported = await self._update(request, caller)
        return api.ApplyResponse(
            state, identity=self.fields.identity_of(state), diagnostics=reported
        )

    async def _create(
        self, request: api.ApplyRequest, caller: Caller
    ) -> tuple[cty.Value, api.ProviderDiagnostics]:
        made = await self._wanted(request.planned, request.config)
        if made.failed:
            return request.prior, made.reported
        before = results(self.fields, self.fields.to_value(made.result))
        outcome = await self._ask(made.result, "create", caller)
        state, reported = self._left(made.result, outcome, request.prior, request.planned)
        if not api.has_errors(reported):
            return state, reported
        left = self._salvaged(made.result)
        exists = outcome.exists if outcome.failed else True
        if exists is None:
            exists = results(self.fields, left) != before
        return (left if exists else request.prior), reported

    async def _update(
        self, request: api.ApplyRequest, caller: Caller
    ) -> tuple[cty.Value, api.ProviderDiagnostics]:
        if _without_limits(self.fields, request.planned) == _without_limits(
            self.fields, request.prior
        ):
            return request.planned, ()
        planned = with_prior_results(self.fields, request.planned, request.prior)
        made = await self._wanted(planned, request.config)
        was = await attempt(self.fields.to_instance, request.prior)
        if made.failed or was.failed:
            return request.prior, made.reported + was.reported
        untouched = self.fields.to_value(was.result, request.prior)
        outcome = await self._ask(made.result, "update", caller, was.result)
        if outcome.failed:
            return self._changed(was.result, untouched, outcome, request.prior)
        return self._left(made.result, outcome, request.prior, planned)

    async def _delete(
        self, request: api.ApplyRequest, caller: Caller
    ) -> tuple[cty.Value, api.ProviderDiagnostics]:
        doomed = await attempt(self.fields.to_instance, request.prior)
        if doomed.failed:
            return request.prior, doomed.reported
        untouched = self.fields.to_value(doomed.result, request.prior)
        outcome = await self._ask(doomed.result, "delete", caller)
        if outcome.failed:
            return self._changed(doomed.result, untouched, outcome, request.prior)
        return request.planned, outcome.reported

    async def import_state(self, request: api.ImportRequest, caller: Caller) -> api.ImportResponse:
        """Import an existing object."""
        how = "import_object" if request.identity is None else "import_identity"
        if not hasattr(self.owner, how):
            by = "" if request.identity is None else " by identity"
            reported = problem(
                "Import not supported", f"Objects of {request.type_name} cannot be imported{by}."
            )
            return api.ImportResponse((), reported)
        if request.identity is None:
            outcome = await attempt(self.owner.import_object, caller.config, request.id)
        else:
            by_identity = partial(self.owner.import_identity, **self.fields.parts(request.identity))
            outcome = await attempt(by_identity, caller.config)
        nothing = cty.null(self.fields.block.implied_type)
        state, reported = self._left(outcome.result, outcome, nothing)
        if api.has_errors(reported):
            return api.ImportResponse((), reported)
        identity = self.fields.identity_of(state)
        found = api.ImportedResource(request.type_name, state, identity=identity)
        return api.ImportResponse((found,), reported)

    async def _wanted(self, planned: cty.Value, config: cty.Value) -> AttemptResult:
        """Create the instance that the plan describes."""
        wanted = with_write_only(self.fields, planned, config)
        return await attempt(self.fields.to_instance, wanted)

    async def _ask(
        self, instance: object, operation: str, caller: Caller, *args: object
    ) -> AttemptResult:
        """Call a method of an instance within its time limit."""
        limit = None if operation == "plan" else self._limit(instance, operation)
        work = getattr(instance, operation)
        return await attempt(work, caller.config, *args, meta=caller.meta, limit=limit)

    def _limit(self, instance: object, operation: str) -> float | None:
        for field in self.fields.fields:
            given = getattr(instance, field.keyword) if field.is_limit else None
            if isinstance(given, Timeouts) and (limit := given.seconds(operation)) is not None:
                return limit
        return self.limits.seconds(operation)

    def _left(
        self,
        instance: object,
        outcome: AttemptResult,
        otherwise: cty.Value,
        base: cty.Value | None = None,
    ) -> tuple[cty.Value, api.ProviderDiagnostics]:
        """Convert an instance to state; report a value of the wrong type as the provider's fault.

        `base` is the value from which the instance was created.
        """
        if outcome.failed:
            return otherwise, outcome.reported
        try:
            state = coerce(self.fields.block, self.fields.to_value(instance, base))
            if state.is_wholly_known:
                return state, outcome.reported
            raise TypeError("a value is UNKNOWN, which it may be only while a change is planned")
        except (TypeError, AttributeError, cty.CtyError) as error:
            return otherwise, outcome.reported + self._wrong(error)

    def _salvaged(self, instance: object) -> cty.Value:
        """Convert an instance to state, with null for values that cannot be stored."""
        values: dict[str, cty.Value] = {}
        for field in self.fields.fields:
            values[field.name] = written(field, None)
            try:
                if not field.is_write_only:
                    found = written(field, getattr(instance, field.keyword))
                    values[field.name] = unknown_as_null(found)
            except (TypeError, AttributeError, cty.CtyError):
                continue
        return coerce(self.fields.block, cty.object_value(values))

    def _wrong(self, error: Exception) -> api.ProviderDiagnostics:
        where = cty.path_text(error.path) if isinstance(error, cty.CtyError) else ""
        text = f"{where.removeprefix('.')}: {error}" if where else str(error)
        return problem(
            "Wrong value from the provider", as_sentence(f"{self.owner.__name__}: {text}")
        )

    def _changed(
        self, instance: object, untouched: cty.Value, outcome: AttemptResult, prior: cty.Value
    ) -> tuple[cty.Value, api.ProviderDiagnostics]:
        """Convert a prior object after a failure, with the changes that the method has recorded in
        it.
        """
        state, more = self._left(instance, AttemptResult(), prior, prior)
        return (prior if state == untouched else state), outcome.reported + more


async def validated(fields: Fields | None, config: cty.Value) -> api.ProviderDiagnostics:
    """Call a class's own `validate` once all attributes are known."""
    if fields is None or config.is_null or not config.is_wholly_known:
        return ()
    made = await attempt(fields.to_instance, config)
    if made.failed or not hasattr(made.result, "validate"):
        return made.reported
    return (await attempt(made.result.validate)).reported


def _no_existence(type_name: str, result: object) -> api.ProviderDiagnostics:
    """Report a `read` whose result does not tell whether the object exists.

    A forgotten `return True` must not remove an existing object from the state.
    """
    returned = "nothing" if result is None else f"a value of type {type(result).__name__}"
    return problem(
        "Wrong result of a read method",
        f"The read method of {type_name} returned {returned}. It must return True if the object "
        "exists, or False if it is gone. The object stays in the state as it was.",
    )


def _planned(
    kind: ResourceType, request: api.PlanRequest
) -> tuple[cty.Value, tuple[cty.Path, ...]]:
    """Fill in defaults, make results of a change unknown, and list replacing paths."""
    fields = kind.fields
    is_new = request.prior.is_null
    value = completed(fields, request.config, None if is_new else request.prior)
    replaced: tuple[cty.Path, ...] = ()
    changed = [] if is_new else changed_fields(fields, value, request.prior)
    if changed and hasattr(kind.owner, "update"):
        replaced = tuple(replacing(fields, value, request.prior))
    elif changed:
        replaced = tuple((cty.GetAttr(field.name),) for field in changed)
    if is_new or changed:
        value = opened(fields, value, keeps=not is_new and not replaced)
    return coerce(fields.block, value), replaced


def _without_limits(fields: Fields, value: cty.Value) -> cty.Value:
    limits = {field.name for field in fields.fields if field.is_limit}
    return cty.object_value(
        {name: part for name, part in value.mapping().items() if name not in limits}
    )


def _named_paths(named: object) -> tuple[cty.Path, ...]:
    """Parse the attribute names that a class's `plan` returned: none, one or several."""
    names = [named] if isinstance(named, str) else named or ()
    if not isinstance(names, Iterable):
        raise TypeError(
            f"plan must return names of attributes that replace the object, not {named}"
        )
    paths = [attribute_path(str(name)) for name in names]
    return tuple(path for path in paths if path is not None)


def _upgraded(kind: ResourceType, request: api.UpgradeRequest) -> cty.Value:
    type_ = kind.fields.block.implied_type
    if request.version == kind.version:
        # Stored numbers keep all their digits, unless the fields have changed.
        with suppress(cty.CtyError):
            stored = cty.value_from_json(request.json, type_)
            return without_null_blocks(kind.fields.block, stored)
    attributes = json.loads(request.json)
    if request.version != kind.version:
        if kind.upgrade is None or request.version > kind.version:
            raise ProviderError(
                "State of another provider version",
                f"The object was stored with version {request.version} of its schema, but this "
                f"provider has version {kind.version}.",
            )
        attributes = kind.upgrade(request.version, attributes)
    state = cty.value_from_json(json.dumps(_fitted(attributes, type_)), type_)
    return without_null_blocks(kind.fields.block, state)


def _fitted(stored: object, type_: cty.Type) -> object:
    """Fill in null for missing attributes of stored data, and drop obsolete ones."""
    if isinstance(type_, cty.ObjectType) and isinstance(stored, dict):
        return {name: _fitted(stored.get(name), of) for name, of in type_.attributes.items()}
    if isinstance(type_, cty.ListType | cty.SetType) and isinstance(stored, list):
        return [_fitted(each, type_.element) for each in stored]
    if isinstance(type_, cty.MapType) and isinstance(stored, dict):
        return {key: _fitted(each, type_.element) for key, each in stored.items()}
    return stored
