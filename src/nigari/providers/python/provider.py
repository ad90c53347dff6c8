"""Providers made of Python classes and functions, behind the provider interface.

`resources`, `ephemeral` and `functions` call the classes and convert their results.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import TypeVar

from nigari import cty
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.providers.python.actions import ActionType
from nigari.providers.python.attempt import attempt
from nigari.providers.python.definitions import fields_of
from nigari.providers.python.ephemeral import OpenObjects
from nigari.providers.python.functions import PythonFunction, python_function
from nigari.providers.python.lists import ListType
from nigari.providers.python.resources import Caller, ResourceType, Upgrade, validated
from nigari.providers.python.timeouts import Timeouts
from nigari.schema.block import Block
from nigari.schema.provider import ProviderSchema, Schema
from nigari.schema.validate import problems

_C = TypeVar("_C", bound=type)
_F = TypeVar("_F", bound=Callable[..., object])


class Provider(ProviderBase):
    """A provider with registered resource types, data sources and functions.

    `config` is a dataclass for the arguments of the `provider` block. Methods of resource types
    receive its instance as their first argument. `meta` is a dataclass for the `provider_meta`
    blocks of modules; methods with a parameter of that name receive its instance.
    """

    def __init__(self, name: str, config: type | None = None, meta: type | None = None) -> None:
        self.name = name
        self._config_fields = None if config is None else fields_of(config)
        self._meta_fields = None if meta is None else fields_of(meta)
        self._resources: dict[str, ResourceType] = {}
        self._data_sources: dict[str, ResourceType] = {}
        self._ephemeral: dict[str, ResourceType] = {}
        self._open = OpenObjects()
        self._lists: dict[str, ListType] = {}
        self._actions: dict[str, ActionType] = {}
        self._functions: dict[str, PythonFunction] = {}
        self._config: object = None

    def resource(
        self,
        name: str,
        version: int = 0,
        upgrade: Upgrade | None = None,
        timeouts: Timeouts | None = None,
    ) -> Callable[[_C], _C]:
        """Register a dataclass as a resource type; its full name is `{provider}_{name}`.

        It has `create(self, config)` and `delete(self, config)`; and, if needed, `read(self,
        config) -> bool` (True if the object exists, False if it does not; any other result is an
        error), `update(self, config, prior)` (without it every change replaces the object),
        `validate(self)` and the class methods `import_object(cls, config, id)` and
        `import_identity(cls, config, **parts)`, with the fields marked `IDENTITY` as parts. Methods
        set results as attributes of `self`; results that `update` does not set stay unchanged.
        `plan(self, config, prior)` can influence the plan: it can set known results (the others are
        `UNKNOWN`) and return the names of attributes whose change replaces the object; `prior` is
        None for a new one.

        If `create` fails after it has set a result, the object exists and will be replaced; if
        `update` or `delete` fails, the attributes they have set in `prior`, or in `self`, are
        stored. `upgrade` converts state of an older `version` to the attributes of this one.
        `timeouts` are default limits for operations.
        """

        def register(owner: _C) -> _C:
            kind = self._type(owner, name, version, upgrade, timeouts)
            self._resources[f"{self.name}_{name}"] = kind
            return owner

        return register

    def data_source(self, name: str) -> Callable[[_C], _C]:
        """Register a dataclass with `read(self, config)` as a data source."""

        def register(owner: _C) -> _C:
            self._data_sources[f"{self.name}_{name}"] = self._type(owner, name)
            return owner

        return register

    def ephemeral_resource(self, name: str) -> Callable[[_C], _C]:
        """Register a dataclass as an ephemeral resource type.

        It has `open(self, config)`, which sets results as attributes of `self`; and, if needed,
        `close(self, config)` and `renew(self, config)`. `open` and `renew` return the time, a
        `timedelta`, after which the object must be renewed, or None if it need not be. The object
        is the same instance until it is closed.
        """

        def register(owner: _C) -> _C:
            self._ephemeral[f"{self.name}_{name}"] = self._type(owner, name)
            return owner

        return register

    def list_resource(self, name: str) -> Callable[[_C], _C]:
        """Register a dataclass as a query for objects of the resource type with this name, which
        must be registered before and have fields marked `IDENTITY`.

        Its fields are the arguments of the query. `list(self, config)` is a generator, async or
        not, that yields instances of the resource type's class, or `Listed` with a name for each.
        It should find objects as they are needed: `nigari query` stops it at the limit.
        """

        def register(owner: _C) -> _C:
            full = f"{self.name}_{name}"
            listed = self._resources.get(full)
            if listed is None or listed.fields.identity is None:
                raise TypeError(f"{full}: a query needs a resource type with an identity")
            self._lists[full] = ListType(self._type(owner, name).fields, listed.fields)
            return owner

        return register

    def action(self, name: str) -> Callable[[_C], _C]:
        """Register a dataclass as an action type: something to do that manages no object.

        Its fields are the arguments. `invoke(self, config)` does it; if it is a generator, async or
        not, the texts that it yields are shown as progress. `plan(self, config)`, if there is one,
        is called before that, when arguments may be `UNKNOWN`, and so may be `validate(self)`.
        """

        def register(owner: _C) -> _C:
            if not hasattr(owner, "invoke"):
                raise TypeError(f"{self.name}_{name}: an action needs the method invoke")
            self._actions[f"{self.name}_{name}"] = ActionType(self._type(owner, name).fields)
            return owner

        return register

    def function(self, body: _F) -> _F:
        """Register an annotated function under its own name."""
        self._functions[body.__name__] = python_function(body)
        return body

    def serve(self) -> None:
        """Run as a plugin until the calling program ends it."""
        from nigari.providers.serve import serve

        serve(self)

    def _type(
        self,
        owner: type,
        name: str,
        version: int = 0,
        upgrade: Upgrade | None = None,
        timeouts: Timeouts | None = None,
    ) -> ResourceType:
        fields = fields_of(owner)
        for fault in problems(fields.block):
            raise TypeError(f"{self.name}_{name}: {fault}")
        return ResourceType(owner, fields, version, upgrade, timeouts or Timeouts())

    # The provider interface.

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
                list_resources={
                    name: Schema(kind.fields.block) for name, kind in self._lists.items()
                },
                actions={name: Schema(kind.fields.block) for name, kind in self._actions.items()},
                functions={name: f.signature for name, f in self._functions.items()},
                provider_meta=(
                    None if self._meta_fields is None else Schema(self._meta_fields.block)
                ),
                plans_destroy=False,
                schema_call_optional=True,
            )
        )

    async def configure(self, config: cty.Value, may_defer: bool = False) -> api.Response:
        if self._config_fields is None or config.is_null:
            return api.Response()
        outcome = await attempt(self._config_fields.to_instance, config)
        self._config = outcome.result
        return api.Response(outcome.reported)

    async def validate_provider(self, config: cty.Value) -> api.Response:
        return api.Response(await validated(self._config_fields, config))

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        kind = self._resources.get(type_name)
        if kind is None:
            return await super().validate_resource(type_name, config)
        return api.Response(await validated(kind.fields, config))

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        kind = self._data_sources.get(type_name)
        if kind is None:
            return await super().validate_data(type_name, config)
        return api.Response(await validated(kind.fields, config))

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        kind = self._ephemeral.get(type_name)
        if kind is None:
            return await super().validate_ephemeral(type_name, config)
        return api.Response(await validated(kind.fields, config))

    def _caller(self, meta: cty.Value | None = None) -> Caller:
        """Build the arguments of methods; meta is absent for a module without a `provider_meta`
        block.
        """
        if self._meta_fields is None or meta is None or meta.is_null:
            return Caller(self._config)
        return Caller(self._config, partial(self._meta_fields.to_instance, meta))

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        kind = self._resources.get(request.type_name)
        return await super().upgrade(request) if kind is None else await kind.upgraded(request)

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        kind = self._resources.get(request.type_name)
        if kind is None:
            return await super().read(request)
        return await kind.read(request, self._caller(request.provider_meta))

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        kind = self._resources.get(request.type_name)
        if kind is None:
            return await super().plan(request)
        return await kind.plan(request, self._caller(request.provider_meta))

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        kind = self._resources.get(request.type_name)
        if kind is None:
            return await super().apply(request)
        return await kind.apply(request, self._caller(request.provider_meta))

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        kind = self._resources.get(request.type_name)
        if kind is None:
            return await super().import_state(request)
        return await kind.import_state(request, self._caller())

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        kind = self._data_sources.get(request.type_name)
        if kind is None:
            return await super().read_data(request)
        return await kind.read_data(request, self._caller(request.provider_meta))

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

    async def validate_list(self, request: api.ListRequest) -> api.Response:
        kind = self._lists.get(request.type_name)
        if kind is None:
            return await super().validate_list(request)
        return api.Response(await validated(kind.fields, request.config))

    def list_resources(self, request: api.ListRequest) -> AsyncGenerator[api.ListEvent, None]:
        kind = self._lists.get(request.type_name)
        if kind is None:
            return super().list_resources(request)
        return kind.found(request, self._config)

    async def validate_action(self, type_name: str, config: cty.Value) -> api.Response:
        kind = self._actions.get(type_name)
        if kind is None:
            return await super().validate_action(type_name, config)
        return api.Response(await validated(kind.fields, config))

    async def plan_action(
        self, type_name: str, config: cty.Value, may_defer: bool = False
    ) -> api.PlanActionResponse:
        kind = self._actions.get(type_name)
        if kind is None:
            return await super().plan_action(type_name, config, may_defer)
        return await kind.plan(config, self._config, may_defer)

    def invoke_action(
        self, type_name: str, config: cty.Value
    ) -> AsyncGenerator[api.ActionEvent, None]:
        kind = self._actions.get(type_name)
        if kind is None:
            return super().invoke_action(type_name, config)
        return kind.invoke(config, self._config)

    async def call_function(self, name: str, arguments: Sequence[cty.Value]) -> api.CallResponse:
        function = self._functions.get(name)
        if function is None:
            return await super().call_function(name, arguments)
        return await function.call(arguments)
