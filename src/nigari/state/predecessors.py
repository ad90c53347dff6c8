"""States written by Terraform: providers of its registry stand for those of OpenTofu's.

Only the view of a state changes; the next apply stores it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from nigari.addrs.provider import DEFAULT_REGISTRY_HOST, Provider

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.state.model import State


_PREDECESSOR_HOST: Final = "registry.terraform.io"
_SWITCH: Final = "OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION"


def are_replaced(environ: Mapping[str, str]) -> bool:
    """Check whether providers of Terraform's registry are replaced at all."""
    return environ.get(_SWITCH) != "0"


def successor(provider: Provider, kept: Collection[Provider]) -> Provider:
    """Return the provider that stands for one of a state, except for those in `kept`."""
    if provider.hostname != _PREDECESSOR_HOST or provider in kept:
        return provider
    return Provider(DEFAULT_REGISTRY_HOST, provider.namespace, provider.type)


def has_predecessors(state: State, environ: Mapping[str, str]) -> bool:
    """Check for providers of Terraform's registry that are to be replaced."""
    return are_replaced(environ) and any(
        used.hostname == _PREDECESSOR_HOST
        for each in state.resources.values()
        for used in each.providers()
    )


def adopt_predecessors(state: State, kept: Collection[Provider]) -> State:
    """Replace providers of Terraform's registry, except for those that the configuration names."""
    # Most states have none of them and need no draft.
    from nigari.state.draft import StateDraft

    draft = StateDraft(state)
    used = {provider for each in state.resources.values() for provider in each.providers()}
    for provider in used:
        ours = successor(provider, kept)
        if ours != provider:
            draft.replace_provider(provider, ours)
    return draft.finish()
