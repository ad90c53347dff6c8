"""The provider configurations that one module can name, and where they come from.

A module has configurations of its own and is given some by its caller. The rules about them are in
`provider_rules` and `passed_providers`.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.blocks.module_call import PassedProvider
    from nigari.config.blocks.provider_config import ProviderConfig
    from nigari.config.blocks.required_providers import RequiredProvider
    from nigari.eval.core.module_tree import ModuleInstance
    from nigari.hcl.expressions import Expression


@record
class ProviderScope:
    """The provider configurations inside one module, by name, as `aws.west`."""

    configured: Mapping[str, ProviderConfig]
    """Blocks that configure something."""
    empty: Mapping[str, ProviderConfig]
    """Blocks that only say that a configuration is wanted, as modules had to in the past."""
    expanded: Mapping[str, Expression]
    """The configurations that have instances with keys, and the expression of those."""
    wanted: Mapping[str, RequiredProvider]
    """Configurations that the caller must give."""
    passed: Mapping[str, PassedProvider]
    """Configurations that the caller gives."""

    def has(self, name: str) -> bool:
        """Return whether a configuration with this name exists or will exist."""
        return (
            name in self.configured
            or name in self.empty
            or name in self.wanted
            or name in self.passed
        )


def provider_scope(node: ModuleInstance, parent: ProviderScope | None) -> ProviderScope:
    module, call = node.module, node.call
    configs = {str(addr): config for addr, config in module.provider_configs.items()}
    passed = {str(each.in_child.config): each for each in (call.providers if call else ())}
    expanded: dict[str, Expression] = {}
    for name, config in configs.items():
        source = config.for_each or config.count
        if source is not None:
            expanded[name] = source
    for name, each in passed.items():
        whole = None if parent is None else parent.expanded.get(str(each.in_parent))
        if whole is not None and each.in_child.alias:
            expanded[name] = whole
    return ProviderScope(
        {name: config for name, config in configs.items() if not config.is_empty},
        {name: config for name, config in configs.items() if config.is_empty},
        expanded,
        {
            str(alias): required
            for required in module.required_providers.values()
            for alias in required.configuration_aliases
        },
        passed,
    )
