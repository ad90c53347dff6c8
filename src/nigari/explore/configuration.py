"""The configuration as data for the page: module instances and what they declare, with values.

Values, texts and places go into tables that the whole page shares and are referred to by number.
Secrets never get that far: `secrets` and `sensitive` decide what is masked. How it is drawn is not
known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from nigari.addrs.keys import InstanceKey, key_text
from nigari.explore.sensitive import (
    Schemas,
    hidden,
    inner_block,
    provider_block,
    resource_block,
)
from nigari.explore.values import ValueTable
from nigari.schema.block import Block
from nigari.workspace.views.blocks import BackendView, BlockView, ResourceView
from nigari.workspace.views.declarations import VariableView
from nigari.workspace.views.module_views import CallView, ModuleView
from nigari.workspace.views.provider_views import ProviderView
from nigari.workspace.views.static_value import StaticValue

T = TypeVar("T")
Data = dict[str, object]

_MOST_INSTANCES: Final = 500
"""The most instances of one block that are shown with values of their own."""
_OF_INSTANCES: Final = frozenset(("each", "count"))


class ConfigurationData:
    """Puts the data of a tree of modules together."""

    def __init__(self, table: ValueTable, schemas: Schemas) -> None:
        self._table = table
        self._schemas = schemas

    def whole(self, root: ModuleView, backend: BackendView | None) -> Data:
        """Every module instance, callers before those they call."""
        modules = _in_order(root)
        # Variables first: a reference to one finds it with its declaration.
        for module in modules:
            for name, variable in module.variables.items():
                self._table.add(variable, _path(module, f"var.{name}"))
        found: Data = {"modules": [self._module(each) for each in modules]}
        if backend is not None:
            found["backend"] = {
                "type": backend.type,
                "at": self._table.sources.place(backend.range),
                **self._backend(backend.arguments, backend.blocks),
            }
        return found

    def _backend(self, arguments: Mapping[str, StaticValue], blocks: Iterable[BlockView]) -> Data:
        """The arguments of a backend block, or of one within it."""
        found = self._content(arguments, (), None)
        inner = [
            {
                "type": each.type,
                "labels": list(each.labels),
                "at": self._table.sources.place(each.range),
                **self._backend(each.arguments, each.blocks),
            }
            for each in blocks
        ]
        return {**found, "blocks": inner} if inner else found

    def _module(self, module: ModuleView) -> Data:
        table = self._table
        return {
            "address": module.address,
            "directory": module.directory,
            "files": [
                number for number in map(table.sources.number, module.files) if number is not None
            ],
            "variables": [self._variable(*each) for each in module.variables.items()],
            "locals": [
                {"name": name, "value": table.add(each, _path(module, f"local.{name}"))}
                for name, each in module.locals.items()
            ],
            "outputs": [
                {
                    "name": name,
                    "value": table.add(each, _path(module, f"output.{name}")),
                    **_said(description=each.description, sensitive=each.is_sensitive),
                }
                for name, each in module.outputs.items()
            ],
            "resources": [self._resource(each) for each in module.resources.values()],
            "calls": [self._call(each) for each in module.calls.values()],
            "providers": [self._provider(each) for each in module.providers.values()],
            "requires": [
                {
                    "name": name,
                    "source": each.source,
                    "version": self._optional(each.version),
                    "at": table.sources.place(each.range),
                }
                for name, each in module.required_providers.items()
            ],
        }

    def _variable(self, name: str, variable: VariableView) -> Data:
        return {
            "name": name,
            "value": self._table.add(variable),
            "type": str(variable.type),
            **_said(
                description=variable.description,
                deprecated=variable.deprecated,
                sensitive=variable.is_sensitive,
                ephemeral=variable.is_ephemeral,
                required=variable.default is None,
            ),
        }

    def _optional(self, known: StaticValue | None) -> int | None:
        return None if known is None else self._table.add(known)

    def _resource(self, resource: ResourceView) -> Data:
        mode, provider = resource.mode, resource.provider
        block = resource_block(self._schemas, provider, mode, resource.type)
        return {
            "address": resource.address,
            "mode": resource.mode,
            "type": resource.type,
            "name": resource.name,
            "provider": resource.provider,
            **self._repeated(resource, resource.instances, block),
        }

    def _call(self, call: CallView) -> Data:
        found: Data = {
            "name": call.name,
            "address": call.address,
            "providers": dict(call.providers),
            **self._repeated(call, call.instances, None),
        }
        instances = call.instances
        found["calls"] = [
            {
                "key": key_text(key),
                "source": self._table.add(each.source, f"{each.address}.source"),
                "version": self._optional(each.version),
                "is_installed": each.module is not None,
            }
            for key, each in _first(instances)
        ]
        return found

    def _provider(self, provider: ProviderView) -> Data:
        block = provider_block(self._schemas, provider.provider)
        return {
            "address": provider.address,
            "provider": provider.provider,
            **_said(passed=provider.passed),
            **self._repeated(provider, provider.instances, block),
        }

    def _repeated(
        self,
        block: ResourceView | CallView | ProviderView,
        instances: Mapping[InstanceKey, ResourceView | CallView | ProviderView],
        schema: Block | None,
    ) -> Data:
        """The arguments of a block for all of its instances, and for each where they differ."""
        blocks = () if isinstance(block, CallView) else block.blocks
        arguments = hidden(block.arguments, schema)
        repetition = self._optional(block.repetition)
        differing: set[str] = set()
        if repetition is not None and instances:
            differing = {name for name, each in arguments.items() if _differs_by_instance(each)}
        shared = {name: each for name, each in arguments.items() if name not in differing}
        found: Data = {
            "at": self._table.sources.place(block.range),
            **self._content(shared, blocks, schema),
        }
        if repetition is None:
            return found
        found["repetition"] = repetition
        found["count"] = len(instances)
        found["instances"] = [
            {
                "key": key_text(key),
                "arguments": []
                if not differing
                else [
                    [name, self._table.add(known, f"{each.address}.{name}")]
                    for name, known in hidden(each.arguments, schema).items()
                    if name in differing
                ],
            }
            for key, each in _first(instances)
        ]
        return found

    def _content(
        self,
        arguments: Mapping[str, StaticValue],
        blocks: Iterable[BlockView],
        schema: Block | None,
    ) -> Data:
        found: Data = {}
        if arguments:
            found["arguments"] = [
                [name, self._table.add(each, each.name)] for name, each in arguments.items()
            ]
        inner: list[Data] = []
        for each in blocks:
            within = inner_block(schema, each.type, each.labels)
            inner.append(
                {
                    "type": each.type,
                    "labels": list(each.labels),
                    "at": self._table.sources.place(each.range),
                    **self._content(hidden(each.arguments, within), each.blocks, within),
                }
            )
        if inner:
            found["blocks"] = inner
        return found


def _first(instances: Mapping[InstanceKey, T]) -> list[tuple[InstanceKey, T]]:
    return list(instances.items())[:_MOST_INSTANCES]


def _differs_by_instance(known: StaticValue) -> bool:
    return any(each.root_name in _OF_INSTANCES for each in known.references)


def _in_order(root: ModuleView) -> list[ModuleView]:
    found = [root]
    # The list grows while it is walked.
    for module in found:
        found.extend(module.children)
    return found


def _path(module: ModuleView, item: str) -> str:
    return f"{module.address}.{item}" if module.address else item


def _said(**words: str | bool) -> Data:
    """The members that are not empty."""
    return {name: each for name, each in words.items() if each}
