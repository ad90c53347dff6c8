"""The provider configurations of a whole configuration, under the keys that `show -json` uses.

A module that is handed a configuration, or inherits one, has none of its own: what uses it names
the one at the beginning of the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import Provider
from nigari.config.blocks.resource import Resource
from nigari.eval.core.instances import Frame
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.static.run import StaticRun
from nigari.hcl.body import Body
from nigari.lang.versions import ProviderConstraints
from nigari.schema.block import Block
from nigari.workspace.configuration.requirements import find_requirements

Data = dict[str, object]
ProviderSchemaOf = Callable[[Frame, str], Block | None]
Expressions = Callable[[Body, Block], Data]


class _Entry:
    """A configuration, or a name for one of a caller."""

    __slots__ = ("data", "full_name", "parent")

    def __init__(self, full_name: str, data: Data, parent: str = "") -> None:
        self.full_name = full_name
        self.data = data
        self.parent = parent


class ProviderConfigs:
    """All provider configurations by key."""

    def __init__(
        self, run: StaticRun, schema_of: ProviderSchemaOf, expressions: Expressions
    ) -> None:
        self._schema_of = schema_of
        self._expressions = expressions
        self._entries: dict[str, _Entry] = {}
        self._constraints: dict[str, dict[Provider, ProviderConstraints]] = {}
        self._run = run
        for each in find_requirements(run):
            wanted = self._constraints.setdefault(each.module, {})
            known = wanted.get(each.provider)
            found = each.constraints if known is None else known & each.constraints
            wanted[each.provider] = found
        self._look_at([run.root])

    def data(self) -> Data:
        """Every configuration that stands for itself."""
        return {key: entry.data for key, entry in sorted(self._entries.items()) if not entry.parent}

    def key_of(self, frame: Frame, resource: Resource) -> str:
        """The key of the configuration that a resource uses."""
        ref = resource.provider
        name = resource.provider_name if ref is None else str(ref.config)
        key = _key(frame, name)
        entry = self._entries.get(key)
        if entry is not None and entry.parent in self._entries:
            return entry.parent
        return key

    def _look_at(self, alike: Sequence[Frame]) -> None:
        frame = alike[0]
        module = frame.module
        for local, config in module.provider_configs.items():
            provider = provider_of(module, config.name)
            data = self._entry(frame, config.name, provider, config.alias)
            schema = self._schema_of(frame, config.name)
            if schema is not None:
                found = self._expressions(config.body, schema)
                if found:
                    data["expressions"] = found
            self._entries[_key(frame, str(local))] = _Entry(str(provider), data)
        for name, required in module.required_providers.items():
            provider = provider_of(module, name)
            for alias in required.configuration_aliases:
                self._add(frame, str(alias), name, provider)
            self._add(frame, name, name, provider, inherits=True)
        used = [*self._constraints.get(str(frame.instance.shown_variant), ())]
        for each in module.imports:
            # An import into another module counts as a use here, too.
            name = each.shape.item.resource.implied_provider
            used.append(provider_of(module, name if each.provider is None else each.provider.name))
        for provider in used:
            self._add(frame, provider.type, provider.type, provider, inherits=True, is_implied=True)
        self._look_at_calls(alike)

    def _look_at_calls(self, callers: Sequence[Frame]) -> None:
        frame = callers[0]
        for name, call in frame.module.calls.items():
            for found in called_by(callers, name).values():
                child = found[0]
                for passed in call.providers:
                    name_in_child = str(passed.in_child.config)
                    full_name = str(provider_of(child.module, passed.in_child.name))
                    data = self._entry(
                        child,
                        name_in_child,
                        provider_of(child.module, passed.in_child.name),
                        versioned=False,
                    )
                    parent = self._source(_key(frame, str(passed.in_parent.config)), full_name)
                    self._entries[_key(child, name_in_child)] = _Entry(full_name, data, parent)
                self._look_at(found)

    def _add(
        self,
        frame: Frame,
        name: str,
        local: str,
        provider: Provider,
        inherits: bool = False,
        is_implied: bool = False,
    ) -> None:
        key = _key(frame, name)
        if key in self._entries:
            return
        parent = ""
        if inherits and frame.parent is not None:
            parent = self._source(_key(frame.parent, local), str(provider))
        data = self._entry(frame, local, provider, versioned=not is_implied)
        self._entries[key] = _Entry(str(provider), data, parent)

    def _source(self, key: str, full_name: str) -> str:
        """The start of the chain of names that leads to a configuration."""
        found = ""
        while key:
            entry = self._entries.get(key)
            if entry is None or entry.full_name != full_name:
                break
            found, key = key, entry.parent
        return found

    def _entry(
        self, frame: Frame, name: str, provider: Provider, alias: str = "", versioned: bool = True
    ) -> Data:
        data: Data = {"name": name, "full_name": str(provider)}
        if alias:
            data["alias"] = alias
        path = str(frame.instance.shown_variant)
        constraints = self._constraints.get(path, {}).get(provider)
        if versioned and constraints:
            data["version_constraint"] = str(constraints)
        if path:
            data["module_address"] = path
        return data


def called_by(callers: Sequence[Frame], name: str) -> dict[ModuleAddr, list[Frame]]:
    """The instances of a call by variant, in all instances of the module that has the call."""
    found: dict[ModuleAddr, list[Frame]] = {}
    for caller in callers:
        for child in caller.calls[name].frames.values():
            found.setdefault(child.instance.variant, []).append(child)
    return found


def _key(frame: Frame, name: str) -> str:
    path = str(frame.instance.shown_variant)
    return f"{path}:{name}" if path else name
