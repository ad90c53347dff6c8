"""Rules about providers that hold over the whole tree of modules.

Which configurations a module may have of its own, what it may refer to, and what a call may pass
to the module it calls. Nothing is evaluated: where the source of a provider has to be, rules about
what it is are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.provider import Provider, implied_provider
from nigari.addrs.resource import MANAGED
from nigari.config.module import Module
from nigari.config.module_call import ModuleCall, PassedProvider
from nigari.config.module_tree import ModuleNode, each_module, place
from nigari.config.provider_config import ProviderConfig
from nigari.config.provider_names import check_provider_names
from nigari.config.provider_ref import ProviderRef, report_value
from nigari.config.required_providers import RequiredProvider
from nigari.config.resource import Resource
from nigari.config.same_expression import is_same_iteration
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.expressions import Expression
from nigari.hcl.suggestion import did_you_mean
from nigari.record import record


@record
class _Names:
    """What is known of provider configurations inside one module, by name, as `aws.west`."""

    configured: Mapping[str, ProviderConfig]
    """Blocks that configure something."""
    empty: Mapping[str, ProviderConfig]
    """Blocks that only say that a configuration is wanted, as modules had to in the past."""
    expanded: Mapping[str, Expression]
    """What has instances with keys, and what they come from."""
    wanted: Mapping[str, RequiredProvider]
    """Configurations that the caller must give."""
    passed: Mapping[str, PassedProvider]
    """Configurations that the caller gives."""
    barred: Range | None
    """What about a call, of this module or of one on the way, forbids configurations here."""

    def has(self, name: str) -> bool:
        """Whether there is a configuration of this name, or will be."""
        return (
            name in self.configured
            or name in self.empty
            or name in self.wanted
            or name in self.passed
        )


def check_providers(root: ModuleNode, diags: Diagnostics) -> None:
    """Report whatever is wrong with providers in a tree of modules."""
    known: dict[int, _Names] = {}
    referring: dict[int, list[Resource]] = {}
    for node in each_module(root):
        parent = None if node.parent is None else known.get(id(node.parent))
        names = known[id(node)] = _names(node, parent)
        module = node.module
        if id(module) not in referring:
            resources = module.resources.values()
            referring[id(module)] = [each for each in resources if each.provider is not None]
            check_provider_names(module, diags)
            _check_imports(module, diags)
        _check_references(node, names, referring[id(module)], diags)
        _check_passing(node, names, diags)
        if node.call is not None and node.parent is not None:
            _check_configurations(node, node.call, names, diags)
            _check_passed(node, node.call, names, node.parent, diags)
            _check_empty(node, names, diags)


def check_aliases(root: ModuleNode, diags: Diagnostics) -> None:
    """Report references to configurations with an alias that no module has declared.

    A tree can be built and looked at with such references in it, but nothing can be done with it.
    """
    for node in each_module(root):
        module = node.module
        references = [each.provider for each in module.resources.values()]
        for call in module.calls.values():
            references += [passed.in_parent for passed in call.providers]
        names = _names(node, None)
        for reference in references:
            if reference is not None and reference.alias and reference.key is None:
                if not names.has(str(reference)):
                    _report_no_configuration(reference, names, diags)


def _names(node: ModuleNode, parent: _Names | None) -> _Names:
    module, call = node.module, node.call
    configs = {str(addr): config for addr, config in module.provider_configs.items()}
    passed = {str(each.in_child): each for each in (call.providers if call else ())}
    expanded: dict[str, Expression] = {}
    for name, config in configs.items():
        source = config.for_each or config.count
        if source is not None:
            expanded[name] = source
    for name, each in passed.items():
        whole = None if parent is None else parent.expanded.get(str(each.in_parent))
        if whole is not None and each.in_child.alias:
            expanded[name] = whole
    return _Names(
        {name: config for name, config in configs.items() if not config.is_empty},
        {name: config for name, config in configs.items() if config.is_empty},
        expanded,
        {
            str(alias): required
            for required in module.required_providers.values()
            for alias in required.configuration_aliases
        },
        passed,
        _bar(call) or (None if parent is None else parent.barred),
    )


def _bar(call: ModuleCall | None) -> Range | None:
    """What in a call forbids the called module to have provider configurations of its own."""
    if call is None:
        return None
    repeated = call.repetition
    expr = repeated.count or repeated.for_each or repeated.enabled
    if expr is not None:
        return expr.range
    if call.depends_on is None:
        return None
    return call.depends_on[0].range if call.depends_on else call.range


# -- references -------------------------------------------------------------------------------


def _check_references(
    node: ModuleNode, names: _Names, referring: list[Resource], diags: Diagnostics
) -> None:
    """What resources and calls name must be there, with keys where it has instances."""
    module = node.module
    for resource in referring:
        reference = resource.provider
        if reference is not None:
            _check_reference(reference, names, module, False, diags)
            if resource.addr.mode is MANAGED:
                each = resource.repetition.for_each
                _check_iteration(str(resource.addr), each, reference, names, diags)
    for call in module.calls.values():
        for passed in call.providers:
            child, reference = passed.in_child, passed.in_parent
            if child.key is not None:
                _report_key_in_child(child.key, diags)
            _check_reference(reference, names, module, bool(child.alias), diags)
            each = call.repetition.for_each
            _check_iteration(f"module.{call.name}", each, reference, names, diags)


def _check_reference(
    reference: ProviderRef, names: _Names, module: Module, takes_all: bool, diags: Diagnostics
) -> None:
    """`takes_all` says that all instances may be meant, as where a call passes them on."""
    name = str(reference.config)
    if name in names.expanded:
        if reference.key is None and not takes_all:
            _report_no_key(reference, diags)
        return
    if names.has(name):
        if reference.key is not None:
            _report_needless_key(reference, reference.key, diags)
    elif reference.name == "local" and reference.alias in module.locals:
        report_value(name, reference.range, diags)
    elif reference.key is not None:
        _report_no_instances(reference, diags)


def _check_iteration(
    name: str,
    each: Expression | None,
    reference: ProviderRef,
    names: _Names,
    diags: Diagnostics,
) -> None:
    """A provider instance must outlive what it is needed for to destroy."""
    source = names.expanded.get(str(reference.config))
    if each is not None and reference.key is not None and is_same_iteration(each, source):
        _report_same_iteration(name, each, diags)


def _check_passing(node: ModuleNode, names: _Names, diags: Diagnostics) -> None:
    """What a call passes under a plain name should be declared, and should be there."""
    for call in node.module.calls.values():
        for passed in call.providers:
            reference = passed.in_parent
            if reference.alias:
                continue
            name = reference.name
            if name not in names.configured and name not in node.module.required_providers:
                _report_undeclared(reference, node, diags)
            elif name not in names.configured and name not in names.passed:
                if node.call is not None:
                    _report_not_inherited(name, node, node.call, diags)


def _check_imports(module: Module, diags: Diagnostics) -> None:
    """The provider that imports an object is the one that manages it from then on."""
    for each in module.imports:
        if each.provider is None or not each.shape.module.is_root:
            continue
        resource = module.resources.get(each.shape.item.resource)
        if resource is None:
            continue
        if resource.provider is None or resource.provider.config != each.provider.config:
            _report_import_provider(each.provider, resource, diags)


# -- called modules ---------------------------------------------------------------------------


def _check_configurations(
    node: ModuleNode, call: ModuleCall, names: _Names, diags: Diagnostics
) -> None:
    if names.configured and names.barred is not None:
        _report_barred(node, names.barred, diags)
    for name in names.configured:
        if name in names.passed:
            _report_own_configuration(name, node, names.passed[name], diags)
    for name, required in names.wanted.items():
        if name not in names.configured and name not in names.passed:
            _report_not_passed(name, required, call, diags)


def _check_passed(
    node: ModuleNode, call: ModuleCall, names: _Names, parent: ModuleNode, diags: Diagnostics
) -> None:
    """What a call passes must be expected by the called module, and be of the same provider."""
    module = node.module
    for passed in call.providers:
        child = passed.in_child
        name = str(child)
        provider = module.provider(child.name)
        is_declared = not child.alias and child.name in module.required_providers
        if not is_declared and name not in names.wanted and name not in names.empty:
            if provider is not None:
                _report_unexpected(child, provider, node, diags)
        given = parent.module.provider(passed.in_parent.name)
        if provider is None or given is None or provider == given:
            continue
        if _is_declared(passed.in_parent, parent.module):
            _report_mismatch(passed, provider, given, node, diags)


def _is_declared(reference: ProviderRef, module: Module) -> bool:
    """Whether a module says which provider a name stands for, or leaves it to the plain name."""
    if not reference.alias or reference.name in module.required_providers:
        return True
    return reference.config in module.provider_configs


def _check_empty(node: ModuleNode, names: _Names, diags: Diagnostics) -> None:
    """Empty blocks are an old way to ask for a configuration; one word for each provider."""
    first: dict[str, ProviderConfig] = {}
    for config in names.empty.values():
        first.setdefault(config.name, config)
    for name, config in first.items():
        aliases = [each for each, other in names.empty.items() if other.name == name]
        _report_empty(config, aliases, node, diags)


# -- what can be wrong ------------------------------------------------------------------------


def _report_same_iteration(name: str, each: Expression, diags: Diagnostics) -> None:
    diags.warning(
        "Provider and its resources iterate alike",
        f"{name} and its provider have the same for_each. When an element goes, the provider "
        "instance goes with the objects that it is needed for to destroy them. Let the provider "
        "have a collection of its own, from which an element is taken one apply later.",
        each.range,
    )


def _report_no_configuration(reference: ProviderRef, names: _Names, diags: Diagnostics) -> None:
    known = [*names.configured, *names.empty, *names.wanted, *names.passed]
    diags.error(
        "Undeclared provider configuration",
        f"There is no provider configuration named {reference} in this module. Add a provider "
        f'"{reference.name}" block with alias = "{reference.alias}", or list {reference} in '
        "configuration_aliases and let the caller pass it."
        f"{did_you_mean(str(reference), known)}",
        reference.range,
    )


def _report_key_in_child(key: Expression, diags: Diagnostics) -> None:
    diags.error(
        "Key on the left of a provider mapping",
        "On the left is a name in the called module, which gets one configuration, or all "
        "instances of one. Only the right side can select an instance by key.",
        key.range,
    )


def _report_no_key(reference: ProviderRef, diags: Diagnostics) -> None:
    diags.error(
        "Provider instance without a key",
        f"{reference} has instances, so one of them must be named by its key: "
        f"{reference}[each.key], for one. All of them together can only be passed to a module, "
        "under a name with an alias that the module lists in configuration_aliases.",
        reference.range,
    )


def _report_needless_key(reference: ProviderRef, key: Expression, diags: Diagnostics) -> None:
    diags.error(
        "Key of a provider without instances",
        f"{reference.config} is a single configuration, which has no keys. Leave out the key, or "
        "give its provider block for_each.",
        key.range,
    )


def _report_no_instances(reference: ProviderRef, diags: Diagnostics) -> None:
    diags.error(
        "Undeclared provider instances",
        f'This module has no provider "{reference.name}" block with alias = "{reference.alias}" '
        "and for_each, so there is nothing to select by key.",
        reference.range,
    )


def _report_import_provider(reference: ProviderRef, resource: Resource, diags: Diagnostics) -> None:
    diags.error(
        "Import with another provider",
        f"{resource.addr} is declared, so its own provider imports it. Remove the argument here, "
        f"or write provider = {reference} in the resource, too.",
        reference.range,
    )


def _report_undeclared(reference: ProviderRef, node: ModuleNode, diags: Diagnostics) -> None:
    diags.warning(
        "Undeclared provider",
        f'The name "{reference.name}" is not declared in {place(node)}, so it is taken for the '
        f"provider {implied_provider(reference.name).display}. Add it to required_providers.",
        reference.range,
    )


def _report_not_inherited(
    name: str, node: ModuleNode, call: ModuleCall, diags: Diagnostics
) -> None:
    diags.warning(
        "Missing provider configuration",
        f'{place(node)} passes on a configuration of "{name}" that it expects from its caller, '
        f'and the caller does not give one. Add an entry for "{name}" to the providers of the '
        f'module "{call.name}" block.',
        call.range,
    )


def _report_barred(node: ModuleNode, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Module with provider configurations of its own",
        f"{place(node)} configures providers itself, so that it cannot be called with count, "
        "for_each, enabled or depends_on, nor can a module that calls it: its providers would go "
        "together with what they are needed for. Move the provider blocks to the root module and "
        "pass the configurations with the argument providers.",
        where,
    )


def _report_own_configuration(
    name: str, node: ModuleNode, passed: PassedProvider, diags: Diagnostics
) -> None:
    diags.error(
        "Provider configured already",
        f"{place(node)} has a configuration of its own for {name}, so it cannot take another one "
        "from its caller. Remove one of the two.",
        passed.in_child.range,
    )


def _report_not_passed(
    name: str, required: RequiredProvider, call: ModuleCall, diags: Diagnostics
) -> None:
    what = required.provider.display if required.provider else required.name
    diags.error(
        "Missing provider configuration",
        f"The called module needs a configuration of the provider {what} under the name {name}. "
        f"Add an entry for {name} to the argument providers of this module block.",
        call.range,
    )


def _report_unexpected(
    child: ProviderRef, provider: Provider, node: ModuleNode, diags: Diagnostics
) -> None:
    detail = (
        f"{place(node)} does not declare {child}. If the module is yours, add an entry to its "
        f'required_providers: {child.name} = {{ source = "{provider.display}" }}.'
    )
    if provider.is_default:
        diags.warning("Undeclared provider", detail, child.range)
    else:
        diags.error("Undeclared provider", detail, child.range)


def _report_mismatch(
    passed: PassedProvider,
    wanted: Provider,
    given: Provider,
    node: ModuleNode,
    diags: Diagnostics,
) -> None:
    others = [
        required.name
        for required in node.module.required_providers.values()
        if required.provider == given
    ]
    hint = f" The module knows {given.display} as {others[0]}: use that name." if others else ""
    diags.error(
        "Configuration of another provider",
        f"{passed.in_parent} is a configuration of {given.display}, and {passed.in_child} in "
        f"{place(node)} stands for {wanted.display}. Each provider has arguments of its own, so "
        f"one cannot be used for the other.{hint}",
        passed.in_child.range if others else passed.in_parent.range,
    )


def _report_empty(
    config: ProviderConfig, names: list[str], node: ModuleNode, diags: Diagnostics
) -> None:
    provider = node.module.provider(config.name)
    source = f'source = "{provider.display}"' if provider else "source = ..."
    aliases = [name for name in sorted(names) if "." in name]
    if aliases:
        source += f", configuration_aliases = [{', '.join(aliases)}]"
    diags.warning(
        "Empty provider block",
        f"In {place(node)} this block only says that a configuration is wanted, which is now said "
        f"in required_providers. Replace it there by {config.name} = {{ {source} }}.",
        config.range,
    )
