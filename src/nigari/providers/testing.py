"""Test harness for providers, which enforces OpenTofu's rules within the test process.

with Harness(provider, directory="out") as files:
text = files.apply("files_text", name="a", content="hello")
assert text["sha256"] == "2cf2…"
files.check("files_text", {"name": "b"}, {"name": "b", "content": "changed"})

Every plan and apply is validated as in OpenTofu, so that a provider that contradicts itself fails
its own tests first. `check` covers the whole life cycle of an object. Any
`nigari.providers.api.Provider` can be tested; the program itself does not use this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from types import TracebackType

from nigari import cty
from nigari.cty import msgpack
from nigari.hcl.suggestion import listed
from nigari.plan.objects.proposed_object import proposed_new
from nigari.plan.objects.provider_checks import (
    ProviderFault,
    plan_faults,
    result_faults,
    type_faults,
)
from nigari.providers import api
from nigari.providers.api import ProviderDiagnostic
from nigari.providers.python.markers import UNKNOWN
from nigari.providers.tested import (
    Broken,
    Failed,
    Object,
    Planned,
    configured,
    plain,
    value_of,
)
from nigari.schema.block import Block
from nigari.schema.provider import ProviderSchema, Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, Self, TypeVar

    _T = TypeVar("_T")


__all__ = ["UNKNOWN", "Broken", "Failed", "Harness", "Object", "Planned", "ProviderDiagnostic"]


def __dir__() -> list[str]:
    return __all__


class Harness:
    """A configured provider. Arguments are plain data, or `UNKNOWN` for values known after apply."""

    def __init__(self, provider: api.Provider, /, **settings: object) -> None:
        self._provider = provider
        self._settings = settings
        self._runner = asyncio.Runner()
        self._schema: ProviderSchema | None = None

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._runner.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run(self._provider.close())
        self._runner.close()

    def plan(self, what: str | Object, /, **arguments: object) -> Planned:
        """Plan a new object of a type, or a change of an object to these arguments."""
        type_name = what if isinstance(what, str) else what.type_name
        prior = None if isinstance(what, str) else what
        config = configured(self._block(type_name), arguments)
        return self._run(self._plan(type_name, prior, config))

    def apply(self, what: str | Object | Planned, /, **arguments: object) -> Object:
        """Apply a plan; for a type or an object, plan first.

        With a plan, the arguments are those of the plan, now with known values.
        """
        if not isinstance(what, Planned):
            what = self.plan(what, **arguments)
        elif arguments:
            config = configured(self._block(what.type_name), arguments)
            final = self._run(self._plan(what.type_name, what.prior, config))
            faults = result_faults(self._block(what.type_name), what.value, final.value)
            _raise_faults("the plan changes when everything is known", faults)
            what = final
        return self._run(self._apply(what))

    def destroy(self, what: Object) -> None:
        """Destroy an object."""
        self._run(self._destroy(what))

    def read(self, what: Object) -> Object | None:
        """Read the current object; None if it no longer exists, that is if its `read` method
        returned `False`. A method that returns neither `True` nor `False` fails.
        """
        return self._run(self._read(what))

    def import_object(self, type_name: str, identifier: str) -> Object:
        """Import an existing object, and read it."""

        async def run() -> Object:
            request = api.ImportRequest(type_name, identifier)
            answer = await self._provider.import_state(request)
            _raise_errors("Importing", answer.diagnostics)
            (found,) = answer.resources
            block = self._block(type_name)
            made = Object(
                type_name, found.state, cty.null(block.implied_type), found.private, found.identity
            )
            now = await self._read(made)
            if now is None:
                raise Broken([f"{type_name} {identifier}: it does not exist after its import"])
            return now

        return self._run(run())

    def data(self, type_name: str, /, **arguments: object) -> Object:
        """Read a data source."""
        block = _declared("data source", type_name, self._offered.data_sources)
        config = configured(block, arguments)

        async def run() -> Object:
            valid = await self._provider.validate_data(type_name, config)
            _raise_errors("Validating", valid.diagnostics)
            answer = await self._provider.read_data(api.ReadDataRequest(type_name, config))
            _raise_errors("Reading", answer.diagnostics)
            faults = _crossing_faults(block, answer.state)
            if not faults and (answer.state.is_null or not answer.state.is_wholly_known):
                faults = [ProviderFault((), "part of it is unknown, or there is nothing")]
            _raise_faults("reading", faults)
            return Object(type_name, answer.state, config, warnings=answer.diagnostics)

        return self._run(run())

    def call(self, function: str, *arguments: object) -> Any:  # noqa: ANN401
        """Call a function."""
        given = [cty.Value.of(value_of(each)) for each in arguments]
        answer = self._run(self._provider.call_function(function, given))
        if answer.failure is not None:
            raise AssertionError(f"{function}: {answer.failure.text}")
        return plain(answer.result)

    def check(self, type_name: str, /, *stages: Mapping[str, object]) -> None:
        """Test the life cycle of an object: creation with the first arguments, changes to the
        others.

        At each stage it is planned with unknown and known arguments, applied, stored, read and
        planned again, which must plan no change; in the end it is destroyed. A broken rule raises
        `Broken`.
        """
        made: Object | None = None
        for stage in stages:
            config = configured(self._block(type_name), stage)
            made = self._run(self._stage(type_name, made, config))
        if made is None:
            return
        self.destroy(made)

    # -- the conversation -------------------------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._runner.run(work)

    def _start(self) -> None:
        answer = self._run(self._provider.schema())
        _raise_errors("The schema", answer.diagnostics)
        assert answer.schema is not None
        self._schema = answer.schema
        config = configured(answer.schema.provider.block, self._settings)
        for ask in (self._provider.validate_provider, self._provider.configure):
            _raise_errors("Configuring", self._run(ask(config)).diagnostics)

    @property
    def _offered(self) -> ProviderSchema:
        assert self._schema is not None, "use the harness in a `with` statement"
        return self._schema

    def _block(self, type_name: str) -> Block:
        return _declared("resource type", type_name, self._offered.resources)

    async def _plan(self, type_name: str, prior: Object | None, config: cty.Value) -> Planned:
        valid = await self._provider.validate_resource(type_name, config)
        _raise_errors("Validating", valid.diagnostics)
        block = self._block(type_name)
        before = cty.null(block.implied_type) if prior is None else prior.value
        answer = await self._ask(type_name, before, config, prior)
        paths = [path for path in answer.requires_replace if _differs(before, answer.planned, path)]
        action: Literal["create", "update", "replace", "no-op"] = "update"
        if prior is None:
            action = "create"
        elif answer.planned == before:
            action = "no-op"
        elif paths:
            action = "replace"
            answer = await self._ask(type_name, cty.null(block.implied_type), config, None)
        return Planned(
            type_name=type_name,
            action=action,
            prior=prior,
            value=answer.planned,
            config=config,
            replaces=tuple(cty.path_text(path).removeprefix(".") for path in paths),
            private=answer.planned_private,
            identity=answer.identity,
            warnings=valid.diagnostics + answer.diagnostics,
        )

    async def _ask(
        self, type_name: str, before: cty.Value, config: cty.Value, prior: Object | None
    ) -> api.PlanResponse:
        block = self._block(type_name)
        proposed = proposed_new(block, before, config)
        private, identity = (b"", None) if prior is None else (prior.private, prior.identity)
        answer = await self._provider.plan(
            api.PlanRequest(type_name, before, proposed, config, private, identity=identity)
        )
        _raise_errors("Planning", answer.diagnostics)
        _raise_faults("planning", _crossing_faults(block, answer.planned))
        if not answer.legacy_type_system:
            _raise_faults("planning", plan_faults(block, before, config, answer.planned))
        return answer

    async def _apply(self, plan: Planned) -> Object:
        if not plan.config.is_wholly_known:
            raise ValueError("apply the plan with arguments that are all known")
        if plan.prior is not None and plan.action == "no-op":
            return plan.prior
        block = self._block(plan.type_name)
        before = cty.null(block.implied_type)
        if plan.prior is not None and plan.action == "replace":
            await self._destroy(plan.prior)
        elif plan.prior is not None:
            before = plan.prior.value
        answer = await self._provider.apply(
            api.ApplyRequest(
                type_name=plan.type_name,
                prior=before,
                planned=plan.value,
                config=plan.config,
                planned_private=plan.private,
                provider_meta=None,
                identity=plan.identity,
            )
        )
        _raise_errors("Applying", answer.diagnostics)
        state = answer.state
        faults = _crossing_faults(block, state)
        if not faults and state.is_null:
            faults = [ProviderFault((), "there is no object after apply")]
        elif not faults and not state.is_wholly_known:
            faults = [ProviderFault((), "part of it is still unknown after apply")]
        if not faults and not answer.legacy_type_system:
            faults = result_faults(block, plan.value, state)
        _raise_faults("the created object is not what was planned", faults)
        warnings = plan.warnings + answer.diagnostics
        return Object(plan.type_name, state, plan.config, answer.private, answer.identity, warnings)

    async def _destroy(self, what: Object) -> None:
        nothing = cty.null(what.value.type)
        proposal = api.PlanRequest(what.type_name, what.value, nothing, nothing, what.private)
        plan = await self._provider.plan(proposal)
        _raise_errors("Planning", plan.diagnostics)
        private = plan.planned_private
        answer = await self._provider.apply(
            api.ApplyRequest(what.type_name, what.value, nothing, nothing, private)
        )
        _raise_errors("Destroying", answer.diagnostics)
        if not answer.state.is_null:
            raise Broken([f"{what.type_name}: there is still an object after it was destroyed"])

    async def _read(self, what: Object) -> Object | None:
        request = api.ReadRequest(what.type_name, what.value, what.private, None, what.identity)
        answer = await self._provider.read(request)
        _raise_errors("Reading", answer.diagnostics)
        block = self._block(what.type_name)
        faults = _crossing_faults(block, answer.state)
        if not faults and not answer.state.is_wholly_known:
            faults = [ProviderFault((), "part of it is unknown after it was read")]
        _raise_faults("reading", faults)
        if answer.state.is_null:
            return None
        identity = answer.identity or what.identity
        return Object(
            what.type_name, answer.state, what.config, answer.private, identity, answer.diagnostics
        )

    # -- the whole life of an object ----------------------------------------------------------------

    async def _stage(self, type_name: str, prior: Object | None, config: cty.Value) -> Object:
        block = self._block(type_name)
        plan = await self._plan(type_name, prior, config)
        for name, given in config.mapping().items():
            if name in block.attributes and not given.is_null:
                vague = {**config.mapping(), name: cty.unknown(given.type)}
                early = await self._plan(type_name, prior, cty.object_value(vague))
                if early.action == plan.action:
                    faults = result_faults(block, early.value, plan.value)
                    _raise_faults(f"the plan was different while {name} was unknown", faults)
        made = await self._apply(plan)
        await self._stored(made)
        now = await self._read(made)
        if now is None:
            raise Broken([f"{type_name}: it no longer exists right after it was created"])
        _raise_faults(
            "reading changes the created object", result_faults(block, made.value, now.value)
        )
        twice = await self._read(now)
        if twice is None or twice.value != now.value:
            raise Broken([f"{type_name}: reading it twice returns different objects"])
        again = await self._plan(type_name, now, config)
        if again.action != "no-op":
            faults = result_faults(block, now.value, again.value)
            _raise_faults("the same arguments lead to another change", faults)
        return now

    async def _stored(self, made: Object) -> None:
        """Check that stored state reads back unchanged."""
        assert self._schema is not None
        schema = self._schema.resources[made.type_name]
        text = cty.value_to_json(made.value, schema.block.implied_type).encode()
        request = api.UpgradeRequest(made.type_name, schema.version, text)
        answer = await self._provider.upgrade(request)
        _raise_errors("Reading what was stored", answer.diagnostics)
        faults = result_faults(schema.block, made.value, answer.state)
        _raise_faults("what was stored is read as something else", faults)


def _declared(kind: str, name: str, offered: Mapping[str, Schema]) -> Block:
    found = offered.get(name)
    if found is None:
        others = listed(sorted(offered)) or "none"
        raise LookupError(f'the provider has no {kind} "{name}"; it has {others}')
    return found.block


def _raise_errors(what: str, reported: api.ProviderDiagnostics) -> None:
    if api.has_errors(reported):
        raise Failed(what, reported)


def _raise_faults(what: str, faults: Sequence[ProviderFault]) -> None:
    if faults:
        where = [cty.path_text(fault.path).removeprefix(".") for fault in faults]
        raise Broken(
            [
                f"{what}: {path}: {fault.text}" if path else f"{what}: {fault.text}"
                for path, fault in zip(where, faults, strict=True)
            ]
        )


def _crossing_faults(block: Block, value: cty.Value) -> list[ProviderFault]:
    """Find faults in a value's type, or parts that cannot be sent to another program."""
    faults = type_faults(block, value)
    if faults:
        return faults
    try:
        msgpack.unmarshal(msgpack.marshal(value, block.implied_type), block.implied_type)
    except cty.CtyError as error:
        return [ProviderFault(error.path, error.message)]
    return []


def _differs(before: cty.Value, after: cty.Value, path: cty.Path) -> bool:
    try:
        return cty.apply_path(before, path) != cty.apply_path(after, path)
    except cty.CtyError:
        return True
