"""Resources whose instances have provider configurations of their own, where these are aliases.

A resource names one alias for all of its instances. With `for_each` it becomes a block for each
alias, which has the instances that select it; with `count`, a block for each instance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.keys import InstanceKey
from nigari.addrs.resource import MANAGED
from nigari.config.blocks.resource import Resource
from nigari.config.core.provider_ref import ProviderRef
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.plain.expressions import SplitBlock
from nigari.plain.instance_words import key_literal
from nigari.plain.names import names_for_keys
from nigari.plain.provider_aliases import Aliases
from nigari.plain.spots import spot_of
from nigari.plain.static_values import StaticValues, instance_key
from nigari.record import record


@record
class ResourceSplit:
    """The blocks that a resource becomes."""

    resource: Resource
    reference: ProviderRef
    names: Mapping[InstanceKey, str]
    """The names of the blocks: by provider key with `for_each`, by instance with `count`."""
    aliases: Mapping[InstanceKey, str]
    """The alias of each block."""
    moves: Sequence[tuple[str, str]]
    """Addresses that change."""
    data: Mapping[InstanceKey, Sequence[InstanceData]]
    """The value of `count` in each block, in all modules that share it."""
    block: SplitBlock


def split_resource(
    values: StaticValues, frames: Sequence[Frame], resource: Resource
) -> ResourceSplit | None:
    """Return the blocks that replace a resource; None if it stays one block."""
    frame, ref = frames[0], resource.provider
    aliases = None if ref is None else values.aliases.get((frame, ref.config))
    if ref is None or ref.key is None or aliases is None:
        return None
    if (frame.instance, spot_of(ref.key)) in values.chosen:
        return None
    if resource.repetition.for_each is not None:
        return _for_each(values, frames, resource, ref, aliases)
    if resource.repetition.count is not None:
        return _count(values, frames, resource, ref, aliases)
    return None


def _for_each(
    values: StaticValues,
    frames: Sequence[Frame],
    resource: Resource,
    ref: ProviderRef,
    aliases: Aliases,
) -> ResourceSplit | None:
    frame = frames[0]
    names = _names(frame, resource, [*aliases.names])
    addresses = {key: _address(resource, name) for key, name in names.items()}
    chosen = _chosen(values, frames, resource, ref, aliases)
    if chosen is None:
        return None
    parts = {
        key: f"{addresses[provider]}[{key_literal(key)}]"
        for key, provider in chosen.items()
        if provider in addresses
    }
    whole = f"merge({', '.join(addresses.values())})"
    moves = [(f"{resource.addr}[{key_literal(key)}]", part) for key, part in parts.items()]
    return ResourceSplit(
        resource=resource,
        reference=ref,
        names=names,
        aliases=aliases.names,
        moves=moves if resource.addr.mode is MANAGED else (),
        data={},
        block=SplitBlock(whole, parts, tuple(addresses.values())),
    )


def _chosen(
    values: StaticValues,
    frames: Sequence[Frame],
    resource: Resource,
    ref: ProviderRef,
    aliases: Aliases,
) -> dict[InstanceKey, InstanceKey] | None:
    """The provider key of each instance, as far as needed; None after reporting that it is not
    known.
    """
    assert ref.key is not None
    traversal = ref.key.static_traversal()
    if traversal is not None and str(traversal) == "each.key":
        return {str(key): key for key in aliases.names}
    found: dict[InstanceKey, InstanceKey] = {}
    for frame in frames:
        instances = values.instances(frame, resource.repetition)
        for key, data in (instances or {}).items():
            value = values.quietly(frame, ref.key, data)
            if value is None or not value.is_wholly_known:
                instances = None
                break
            if found.setdefault(key, selected := instance_key(value, aliases)) != selected:
                instances = None
                break
        if instances is None:
            _refuse(values, resource, ref)
            return None
    return found


def _count(
    values: StaticValues,
    frames: Sequence[Frame],
    resource: Resource,
    ref: ProviderRef,
    aliases: Aliases,
) -> ResourceSplit | None:
    chosen = _chosen(values, frames, resource, ref, aliases)
    if chosen is None:
        return None
    names = _names(frames[0], resource, [*chosen])
    addresses = {key: _address(resource, name) for key, name in names.items()}
    found = [values.instances(frame, resource.repetition) or {} for frame in frames]
    moves = [(f"{resource.addr}[{key}]", each) for key, each in addresses.items()]
    return ResourceSplit(
        resource=resource,
        reference=ref,
        names=names,
        aliases={key: aliases.names[provider] for key, provider in chosen.items()},
        moves=moves if resource.addr.mode is MANAGED else (),
        data={key: [each[key] for each in found if key in each] for key in names},
        block=SplitBlock(
            f"[{', '.join(addresses.values())}]", addresses, tuple(addresses.values())
        ),
    )


def _names(frame: Frame, resource: Resource, keys: Sequence[InstanceKey]) -> dict[InstanceKey, str]:
    addr = resource.addr
    taken = {
        each.name
        for each in frame.module.resources
        if (each.mode, each.type) == (addr.mode, addr.type)
    }
    return names_for_keys(addr.name, keys, taken)


def _address(resource: Resource, name: str) -> str:
    return f"{str(resource.addr).removesuffix(resource.addr.name)}{name}"


def _refuse(values: StaticValues, resource: Resource, ref: ProviderRef) -> None:
    assert ref.key is not None
    values.refuse(
        "Provider of an instance known only when planning",
        f"{values.target.title} needs one provider configuration for each block, so {resource.addr} "
        "has to become several blocks, and which of its instances select which configuration of "
        f"{ref.config} is not known before planning. Use each.key, or a static for_each.",
        ref.key,
    )
