"""A provider made of Python classes and functions, as everything above `providers.api` sees it.

The rules of planning are kept here, so that a resource type only says how things are created,
read, updated and deleted.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from nigari import cty
from nigari.providers import api
from nigari.providers.base import ProviderBase, problem, unknown_type
from nigari.providers.python.attempt import ProviderError, attempt
from nigari.providers.python.definitions import fields_of
from nigari.providers.python.ephemeral import OpenObjects
from nigari.providers.python.fields import Fields
from nigari.providers.python.functions import PythonFunction, python_function
from nigari.providers.python.planning import (
    changed_fields,
    completed,
    opened,
    replacing,
    with_write_only,
)
from nigari.schema.block import Block
from nigari.schema.coerce import coerce, without_null_blocks
from nigari.schema.provider import ProviderSchema, Schema
from nigari.schema.validate import problems

_C = TypeVar("_C", bound=type)
_F = TypeVar("_F", bound=Callable[..., object])

# Resource types are duck-typed: they may leave out methods, and the methods may be async or not.
# That is what `Any` below stands for.


@dataclass(frozen=True, slots=True)
class _ResourceType:
    owner: Any
    fields: Fields
    version: int
    upgrade: Callable[[int, dict[str, object]], dict[str, object]] | None


class Provider(ProviderBase):
    """A provider to register resource types, data sources and functions with.

    `config` is a dataclass for the arguments of the `provider` block. Methods of resource types
    get its instance as their first argument. `meta` is a dataclass for what modules say in their
    `provider_meta` blocks; methods that have a parameter of that name get its instance.
    """

    def __init__(self, name: str, config: type | None = None, meta: type | None = None) -> None:
        self.name = name
        self._config_fields = None if config is None else fields_of(config)
        self._meta_fields = None if meta is None else fields_of(meta)
        self._resources: dict[str, _ResourceType] = {}
        self._data_sources: dict[str, _ResourceType] = {}
        self._ephemeral: dict[str, _ResourceType] = {}
        self._open = OpenObjects()
        self._functions: dict[str, PythonFunction] = {}
        self._config: object = None

    def resource(
        self,
        name: str,
        version: int = 0,
        upgrade: Callable[[int, dict[str, object]], dict[str, object]] | None = None,
    ) -> Callable[[_C], _C]:
        """Register a dataclass as a resource type; its full name is `{provider}_{name}`.

        It has `create(self, config)` and `delete(self, config)`; and, where there is a use for
        them, `read(self, config) -> bool` (false if the object is gone), `update(self, config,
        prior)` (without it every change replaces the object), `validate(self)` and the class
        methods `import_object(cls, config, id)` and `import_identity(cls, config, **parts)`, the
        parts being the fields marked `IDENTITY`. Methods set results as attributes of `self`.
        `upgrade` turns state of an older `version` into the attributes of this one.
        """

        def register(owner: _C) -> _C:
            self._resources[f"{self.name}_{name}"] = self._type(owner, name, version, upgrade)
            return owner

        return register

    def data_source(self, name: str) -> Callable[[_C], _C]:
        """Register a dataclass with `read(self, config)` as a data source."""

        def register(owner: _C) -> _C:
            self._data_sources[f"{self.name}_{name}"] = self._type(owner, name, 0, None)
            return owner

        return register

    def ephemeral_resource(self, name: str) -> Callable[[_C], _C]:
        """Register a dataclass as an ephemeral resource type.

        It has `open(self, config)`, which sets results as attributes of `self`; and, where there
        is a use for them, `close(self, config)` and `renew(self, config)`. What `open` and `renew`
        return is the time from then on, a `timedelta`, after which the object must be renewed, or
        None if it need not be. Until it is closed, an object is the same instance.
        """

        def register(owner: _C) -> _C:
            self._ephemeral[f"{self.name}_{name}"] = self._type(owner, name, 0, None)
            return owner

        return register

    def function(self, body: _F) -> _F:
        """Register a plain annotated function under its own name."""
        self._functions[body.__name__] = python_function(body)
        return body

    def serve(self) -> None:
        """Be a plugin program until the program that started this one says to end."""
        from nigari.providers.serve import serve

        serve(self)

    def _type(
        self,
        owner: type,
        name: str,
        version: int,
        upgrade: Callable[[int, dict[str, object]], dict[str, object]] | None,
    ) -> _ResourceType:
        fields = fields_of(owner)
        for fault in problems(fields.block):
            raise TypeError(f"{self.name}_{name}: {fault}")
        return _ResourceType(owner, fields, version, upgrade)

    # What everything above the provider interface asks.

    async def schema(self) -> api.SchemaResponse:
        block = Block() if self._config_fields is None else self._config_fields.block
        return api.SchemaResponse(
            ProviderSchema(
                provider=Schema(block),
                resources={
                    name: Schema(kind.fields.block, kind.version, kind.fields.identity)
                    for name, kind in self._resources.items()
                },
                data_sources={
                    name: Schema(kind.fields.block) for name, kind in self._data_sources.items()
                },
                ephemeral_resources={
                    name: Schema(kind.fields.block) for name, kind in self._ephemeral.items()
                },
                functions={name: f.signature for name, f in self._functions.items()},
                provider_meta=(
                    None if self._meta_fields is None else Schema(self._meta_fields.block)
                ),
                plans_destroy=False,
                schema_call_optional=True,
            )
        )

    async def configure(self, config: cty.Value) -> api.Response:
        if self._config_fields is None or config.is_null:
            return api.Response()
        told, self._config = await attempt(self._config_fields.to_instance, config)
        return api.Response(told)

    async def validate_provider(self, config: cty.Value) -> api.Response:
        return api.Response(await _validated(self._config_fields, config))

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        kind = self._resources.get(type_name)
        if kind is None:
            return await super().validate_resource(type_name, config)
        return api.Response(await _validated(kind.fields, config))

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        kind = self._data_sources.get(type_name)
        if kind is None:
            return await super().validate_data(type_name, config)
        return api.Response(await _validated(kind.fields, config))

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        kind = self._ephemeral.get(type_name)
        if kind is None:
            return await super().validate_ephemeral(type_name, config)
        return api.Response(await _validated(kind.fields, config))

    def _meta(self, meta: cty.Value | None) -> object:
        """What the module says about itself; None where it says nothing."""
        if self._meta_fields is None or meta is None or meta.is_null:
            return None
        return self._meta_fields.to_instance(meta)

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        kind = self._resources.get(request.type_name)
        if kind is None:
            return await super().upgrade(request)
        told, state = await attempt(_upgraded, kind, request)
        if not isinstance(state, cty.Value):
            state = cty.null(kind.fields.block.implied_type)
        return api.UpgradeResponse(state, told)

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        kind = self._resources.get(request.type_name)
        if kind is None:
            return await super().read(request)
        if not hasattr(kind.owner, "read"):
            return api.ReadResponse(request.state, request.private, request.identity)
        instance: Any = kind.fields.to_instance(request.state)
        told, found = await attempt(
            instance.read, self._config, meta=self._meta(request.provider_meta)
        )
        if told:
            return api.ReadResponse(request.state, request.private, request.identity, told)
        if found is False:
            return api.ReadResponse(cty.null(request.state.type))
        told, state = _stored(kind, instance)
        if told:
            return api.ReadResponse(request.state, request.private, request.identity, told)
        return api.ReadResponse(state, request.private, kind.fields.identity_of(state))

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        kind = self._resources.get(request.type_name)
        if kind is None:
            return await super().plan(request)
        if request.proposed.is_null:
            return api.PlanResponse(request.proposed)
        return _planned(kind, request)

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        kind = self._resources.get(request.type_name)
        if kind is None:
            return await super().apply(request)
        meta = self._meta(request.provider_meta)
        if request.planned.is_null:
            doomed: Any = kind.fields.to_instance(request.prior)
            told, _ = await attempt(doomed.delete, self._config, meta=meta)
            kept = request.prior if told else request.planned
            return api.ApplyResponse(kept, identity=kind.fields.identity_of(kept), diagnostics=told)
        wanted = with_write_only(kind.fields, request.planned, request.config)
        instance: Any = kind.fields.to_instance(wanted)
        if request.prior.is_null:
            told, _ = await attempt(instance.create, self._config, meta=meta)
        else:
            prior = kind.fields.to_instance(request.prior)
            told, _ = await attempt(instance.update, self._config, prior, meta=meta)
        if told:
            kept = request.prior
            return api.ApplyResponse(kept, identity=kind.fields.identity_of(kept), diagnostics=told)
        told, state = _stored(kind, instance)
        kept = request.prior if told else state
        return api.ApplyResponse(kept, identity=kind.fields.identity_of(kept), diagnostics=told)

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        kind = self._resources.get(request.type_name)
        if kind is None:
            return await super().import_state(request)
        how = "import_object" if request.identity is None else "import_identity"
        if not hasattr(kind.owner, how):
            by = "" if request.identity is None else " by identity"
            told = problem(
                "Import not supported", f"Objects of {request.type_name} cannot be imported{by}."
            )
            return api.ImportResponse((), told)
        if request.identity is None:
            told, instance = await attempt(kind.owner.import_object, self._config, request.id)
        else:
            by_identity = partial(kind.owner.import_identity, **kind.fields.parts(request.identity))
            told, instance = await attempt(by_identity, self._config)
        if told:
            return api.ImportResponse((), told)
        told, state = _stored(kind, instance)
        if told:
            return api.ImportResponse((), told)
        identity = kind.fields.identity_of(state)
        found = api.ImportedResource(request.type_name, state, identity=identity)
        return api.ImportResponse((found,))

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        kind = self._data_sources.get(request.type_name)
        if kind is None:
            return api.ReadDataResponse(
                cty.unknown(cty.DYNAMIC), unknown_type("data source", request.type_name)
            )
        instance: Any = kind.fields.to_instance(request.config)
        meta = self._meta(request.provider_meta)
        told, _ = await attempt(instance.read, self._config, meta=meta)
        if told:
            return api.ReadDataResponse(cty.unknown(kind.fields.block.implied_type), told)
        told, state = _stored(kind, instance)
        return api.ReadDataResponse(state, told)

    async def open_ephemeral(self, type_name: str, config: cty.Value) -> api.OpenEphemeralResponse:
        kind = self._ephemeral.get(type_name)
        if kind is None:
            return await super().open_ephemeral(type_name, config)
        return await self._open.open(kind.fields, config, self._config)

    async def renew_ephemeral(
        self, type_name: str, private: bytes | None
    ) -> api.RenewEphemeralResponse:
        return await self._open.renew(private, self._config)

    async def close_ephemeral(self, type_name: str, private: bytes | None) -> api.Response:
        return await self._open.close(private, self._config)

    async def call_function(self, name: str, arguments: Sequence[cty.Value]) -> api.CallResponse:
        function = self._functions.get(name)
        if function is None:
            return await super().call_function(name, arguments)
        return await function.call(arguments)


def _planned(kind: _ResourceType, request: api.PlanRequest) -> api.PlanResponse:
    """Fill in defaults, leave results open where something changes, name what replaces."""
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
    value = coerce(fields.block, value)
    return api.PlanResponse(value, replaced, identity=fields.identity_of(value))


def _stored(kind: _ResourceType, instance: object) -> tuple[api.Told, cty.Value]:
    """An instance as state; a value of the wrong type is the provider's fault and is named."""
    try:
        return (), coerce(kind.fields.block, kind.fields.to_value(instance))
    except (TypeError, cty.CtyError) as error:
        told = problem("Wrong value from the provider", f"{kind.owner.__name__}: {error}.")
        return told, cty.null(kind.fields.block.implied_type)


def _upgraded(kind: _ResourceType, request: api.UpgradeRequest) -> cty.Value:
    attributes = json.loads(request.json)
    if request.version != kind.version:
        if kind.upgrade is None or request.version > kind.version:
            raise ProviderError(
                "State of another provider version",
                f"The object was stored with version {request.version} of its schema, but this "
                f"provider has version {kind.version}.",
            )
        attributes = kind.upgrade(request.version, attributes)
    type_ = kind.fields.block.implied_type
    state = cty.value_from_json(json.dumps(_fitted(attributes, type_)), type_)
    return without_null_blocks(kind.fields.block, state)


def _fitted(stored: object, type_: cty.Type) -> object:
    """Stored data with null for attributes that it lacks, and without those that are no more."""
    if isinstance(type_, cty.ObjectType) and isinstance(stored, dict):
        return {name: _fitted(stored.get(name), of) for name, of in type_.attributes.items()}
    if isinstance(type_, cty.ListType | cty.SetType) and isinstance(stored, list):
        return [_fitted(each, type_.element) for each in stored]
    if isinstance(type_, cty.MapType) and isinstance(stored, dict):
        return {key: _fitted(each, type_.element) for key, each in stored.items()}
    return stored


async def _validated(fields: Fields | None, config: cty.Value) -> api.Told:
    """Run a class's own `validate` as soon as everything it could look at is known."""
    if fields is None or config.is_null or not config.is_wholly_known:
        return ()
    told, instance = await attempt(fields.to_instance, config)
    if told or not hasattr(instance, "validate"):
        return told
    told, _ = await attempt(instance.validate)
    return told
