"""Rules about providers that hold over the whole tree of modules: what each may refer to.

What calls pass on has a module of its own. Nothing is evaluated: where the source of a provider has
to be, rules about what it is are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.module import ModuleAddr
from nigari.config.blocks.resource import Resource
from nigari.config.core.provider_ref import ProviderRef, report_value
from nigari.config.module import Module
from nigari.config.provider_names import check_provider_names
from nigari.diagnostics import Diagnostics
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.tree.passed_providers import check_called, report_passed_otherwise
from nigari.eval.tree.placement_rules import each_module
from nigari.eval.tree.provider_scope import ProviderScope, provider_scope
from nigari.hcl.expressions import Expression
from nigari.hcl.suggestion import did_you_mean


def check_providers(root: ModuleInstance, diags: Diagnostics) -> None:
    """Report whatever is wrong with providers in a tree of modules."""
    known: dict[ModuleAddr, ProviderScope] = {}
    referring: dict[CompiledModule, list[Resource]] = {}
    for node in each_module(root):
        parent = None if node.parent is None else known.get(node.parent.variant)
        names = known[node.variant] = provider_scope(node, parent)
        module, compiled = node.module, node.compiled
        if compiled not in referring:
            resources = module.resources.values()
            referring[compiled] = [each for each in resources if each.provider is not None]
            check_provider_names(module, diags)
            _check_imports(module, diags)
        _check_references(node, names, referring[compiled], diags)
        check_called(node, names, diags)


def check_aliases(root: ModuleInstance, diags: Diagnostics) -> None:
    """Report references to configurations with an alias that no module has declared.

    A tree with such references can be built and inspected, but not planned.
    """
    for node in each_module(root):
        names = provider_scope(node, None)
        for reference in _aliased(node.module):
            if not names.has(str(reference)):
                _report_no_configuration(reference, names, diags)


def check_caller(root: ModuleInstance, diags: Diagnostics) -> None:
    """Report references in the root module to configurations that a caller would have to pass.

    A module that is written to be called can be validated on its own, and not planned.
    """
    names = provider_scope(root, None)
    for reference in _aliased(root.module):
        name = str(reference)
        if name in names.wanted and name not in names.configured and name not in names.empty:
            _report_no_caller(reference, diags)


def _aliased(module: Module) -> Iterator[ProviderRef]:
    """The references of a module to single configurations with an alias."""
    references = [each.provider for each in module.resources.values()]
    references += [each.provider for each in module.imports]
    for call in module.calls.values():
        references += [passed.in_parent for passed in call.providers]
    for reference in references:
        if reference is not None and reference.alias and reference.key is None:
            yield reference


# -- references -------------------------------------------------------------------------------


def _check_references(
    node: ModuleInstance, names: ProviderScope, referring: list[Resource], diags: Diagnostics
) -> None:
    """Report references of resources and calls to provider configurations or keys that do not
    exist.
    """
    module = node.module
    for resource in referring:
        reference = resource.provider
        if reference is not None:
            _check_reference(str(resource.addr), reference, names, node, False, diags)
    for call in module.calls.values():
        for passed in call.providers:
            child, reference = passed.in_child, passed.in_parent
            if child.key is not None:
                _report_key_in_child(child.key, diags)
            _check_reference(
                f"module.{call.name}", reference, names, node, bool(child.alias), diags
            )


def _check_reference(
    user: str,
    reference: ProviderRef,
    names: ProviderScope,
    node: ModuleInstance,
    takes_all: bool,
    diags: Diagnostics,
) -> None:
    """`takes_all` says that all instances may be meant, as where a call passes them on."""
    name, module = str(reference.config), node.module
    is_fine = (reference.key is not None or takes_all) is (name in names.expanded)
    if not takes_all and not is_fine and name in names.passed:
        # The module is written for any caller: the one that passes something else is wrong.
        report_passed_otherwise(user, reference, node, diags)
        return
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


# -- what can be wrong ------------------------------------------------------------------------


def _report_no_configuration(
    reference: ProviderRef, names: ProviderScope, diags: Diagnostics
) -> None:
    known = [*names.configured, *names.empty, *names.wanted, *names.passed]
    diags.error(
        "Undeclared provider configuration",
        f"There is no provider configuration named {reference} in this module. Add a provider "
        f'"{reference.name}" block with alias = "{reference.alias}", or list {reference} in '
        "configuration_aliases and let the caller pass it."
        f"{did_you_mean(str(reference), known)}",
        reference.range,
    )


def _report_no_caller(reference: ProviderRef, diags: Diagnostics) -> None:
    diags.error(
        "Provider configuration not passed",
        f"{reference} is listed in configuration_aliases, so the caller of this module passes it, "
        "and the root module has no caller. Run the command in a module that calls this one, or "
        f'add a provider "{reference.name}" block with alias = "{reference.alias}" here.',
        reference.range,
    )


def _report_key_in_child(key: Expression, diags: Diagnostics) -> None:
    diags.error(
        "Key on the left of a provider mapping",
        "The left side is a name in the called module, which receives one configuration, or all "
        "instances of one. Only the right side can select an instance by key.",
        key.range,
    )


def _report_no_key(reference: ProviderRef, diags: Diagnostics) -> None:
    diags.error(
        "Provider instance without a key",
        f"{reference} has instances, so select one of them by its key, as in {reference}"
        "[each.key]. All of them together can only be passed to a module, under a name with an "
        "alias that the module lists in configuration_aliases.",
        reference.range,
    )


def _report_needless_key(reference: ProviderRef, key: Expression, diags: Diagnostics) -> None:
    diags.error(
        "Key for a provider without instances",
        f"{reference.config} is a single configuration without keys. Leave out the key, or add "
        "for_each to its provider block.",
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
        "Import with a different provider",
        f"{resource.addr} is declared, so it is imported with its own provider. Remove the "
        f"argument here, or write provider = {reference} in the resource, too.",
        reference.range,
    )
