"""Provider blocks with instances, where the target cannot iterate them: each instance is an alias.

That is so for every such block if the target has no `for_each` there, and in modules that get all
instances of a block at once, which no other program can pass on.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.provider import LocalProviderConfig
from nigari.config.core.provider_ref import ProviderRef
from nigari.eval.core.instances import Frame
from nigari.eval.static.run import StaticRun
from nigari.plain.names import names_for_keys
from nigari.plain.target import Target
from nigari.record import record


@record
class Aliases:
    """The names of a provider configuration's instances in one module."""

    names: Mapping[InstanceKey, str]
    """The alias of each instance."""

    @property
    def is_known(self) -> bool:
        """False if the instances are known only when planning."""
        return DEFERRED not in self.names


def aliases_of(
    run: StaticRun, frame: Frame, addr: LocalProviderConfig, target: Target
) -> Aliases | None:
    """The aliases of a provider configuration; None if its name can stay."""
    own = frame.module.provider_configs.get(addr)
    if own is not None and (not own.is_expanded or target.has("provider for_each")):
        return None
    keys = _keys_behind(run, frame, addr)
    if keys is None:
        return None
    declared = frame.module.provider_configs
    taken = {each.alias for each in declared if each.name == addr.name}
    return Aliases(names_for_keys(addr.alias, keys, taken))


def _keys_behind(
    run: StaticRun, frame: Frame, addr: LocalProviderConfig
) -> list[InstanceKey] | None:
    """The keys of the instances that a name stands for; None if it stands for one configuration."""
    while (config := frame.module.provider_configs.get(addr)) is None:
        passed = passed_as(frame, addr)
        if passed is None or passed.key is not None or frame.parent is None:
            return None
        frame, addr = frame.parent, passed.config
    return [*run.providers[frame][addr].instances] if config.is_expanded else None


def passed_as(frame: Frame, addr: LocalProviderConfig) -> ProviderRef | None:
    """Return the caller's configuration for a name."""
    call = frame.instance.call
    passed = () if call is None else call.providers
    return next((each.in_parent for each in passed if each.in_child.config == addr), None)
