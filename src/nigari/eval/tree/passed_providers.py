"""Rules about the provider configurations that a call passes, and that the called module needs.

They look at declarations only: instances and keys are in `nigari.eval.nodes.provider_keys`.
"""

from __future__ import annotations

from nigari.addrs.provider import Provider, builtin_provider, default_provider, implied_provider
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.config.blocks.required_providers import RequiredProvider
from nigari.config.core.provider_ref import ProviderRef
from nigari.config.module import Module
from nigari.diagnostics import Cause, Diagnostic, Diagnostics, Severity
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.tree.placement_rules import place
from nigari.eval.tree.provider_scope import ProviderScope, provider_scope
from nigari.hcl.suggestion import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.blocks.module_call import ModuleCall, PassedProvider


def check_called(node: ModuleInstance, names: ProviderScope, diags: Diagnostics) -> None:
    """Report what is wrong between a module and its caller, and what it passes on itself."""
    _check_passing(node, names, diags)
    if node.call is not None and node.parent is not None:
        _check_configurations(node, node.call, names, diags)
        _check_passed(node, node.call, names, node.parent, diags)
        _check_empty(node, names, diags)


def _check_passing(node: ModuleInstance, names: ProviderScope, diags: Diagnostics) -> None:
    """Check that providers passed under plain names are declared and exist."""
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


def _check_configurations(
    node: ModuleInstance, call: ModuleCall, names: ProviderScope, diags: Diagnostics
) -> None:
    for name in names.configured:
        if name in names.passed:
            _report_own_configuration(name, node, names.passed[name], diags)
    for name, required in names.wanted.items():
        if name not in names.configured and name not in names.passed:
            _report_not_passed(name, required, call, diags)


def _check_passed(
    node: ModuleInstance,
    call: ModuleCall,
    names: ProviderScope,
    parent: ModuleInstance,
    diags: Diagnostics,
) -> None:
    """Check that the called module expects each passed provider, with the same source.

    If instances of the call have different modules, one of them must expect it.
    """
    module = node.module
    for passed in call.providers:
        child = passed.in_child
        if child.key is not None:
            continue
        provider = _meant(child, module)
        if not _is_expected(child, module, names):
            others = parent.children.get(call.name, {}).values()
            if any(_is_expected(child, each.module, provider_scope(each, None)) for each in others):
                continue
            if provider is not None:
                _report_unexpected(child, provider, node, diags)
        given = _meant(passed.in_parent, parent.module)
        if provider is None or given is None or provider == given:
            continue
        if _is_declared(passed.in_parent, parent.module):
            _report_mismatch(passed, provider, given, node, diags)


def _is_expected(child: ProviderRef, module: Module, names: ProviderScope) -> bool:
    """Return whether a module expects a configuration under this name."""
    is_declared = not child.alias and child.name in module.required_providers
    return is_declared or str(child) in names.wanted or str(child) in names.empty


def _meant(reference: ProviderRef, module: Module) -> Provider | None:
    """The provider that a name stands for where configurations are passed; None where its source
    has to be evaluated. Without a declaration the name means a provider of the default namespace
    here, even the name of the built-in provider.
    """
    if reference.name in module.required_providers:
        return module.provider(reference.name)
    return default_provider(reference.name)


def _is_declared(reference: ProviderRef, module: Module) -> bool:
    """Return whether a module declares the provider of a name, or relies on the default."""
    if not reference.alias or reference.name in module.required_providers:
        return True
    return reference.config in module.provider_configs


def _check_empty(node: ModuleInstance, names: ProviderScope, diags: Diagnostics) -> None:
    """Empty blocks are an old way to ask for a configuration; one word for each provider."""
    first: dict[str, ProviderConfig] = {}
    for config in names.empty.values():
        first.setdefault(config.name, config)
    for name, config in first.items():
        aliases = [each for each, other in names.empty.items() if other.name == name]
        _report_empty(config, aliases, node, diags)


def report_passed_otherwise(
    user: str, reference: ProviderRef, node: ModuleInstance, diags: Diagnostics
) -> None:
    """Report a call that passes one configuration where the called module selects by key, or all
    instances where it uses one: at the call whose module has the provider block.
    """
    causes = [Cause(f"{place(node)}.{user} uses {reference}", reference.range)]
    call, passed, owner = node.call, _passed_as(node, reference), node.parent
    assert call is not None
    assert passed is not None
    assert owner is not None
    while owner.call is not None and owner.parent is not None:
        above = _passed_as(owner, passed.in_parent)
        if above is None:
            break
        causes.append(Cause(f"{place(node)} is passed {passed.in_parent}", passed.in_parent.range))
        call, passed, node, owner = owner.call, above, owner, owner.parent
    name = passed.in_parent.config
    config = owner.module.provider_configs.get(name)
    what = f"the provider block {name}" if config is not None else str(name)
    if config is not None:
        causes.append(Cause(f"{name} is declared", config.range))
    where = f"the providers argument of module.{call.name} in {place(owner)}"
    if reference.key is None:
        detail = (
            f"In {where}, {passed.in_child} gets all instances of {what}, but the module uses it "
            f"as a single configuration. Select one of them here, as in {passed.in_child} = "
            f"{name}[each.key]."
        )
    else:
        detail = (
            f"In {where}, {passed.in_child} gets a single configuration, but the module selects an "
            f"instance of it by key. Pass a configuration with instances here: {what} has none, "
            "because it has no for_each."
        )
    diags.append(
        Diagnostic(
            Severity.ERROR,
            "Wrong kind of provider configuration passed",
            detail,
            passed.in_parent.range,
            call.range,
            causes=tuple(reversed(causes)),
        )
    )


def _passed_as(node: ModuleInstance, reference: ProviderRef) -> PassedProvider | None:
    """The configuration that the caller of a module passes under a name."""
    passed = node.call.providers if node.call is not None else ()
    return next((each for each in passed if each.in_child.config == reference.config), None)


# -- what can be wrong ------------------------------------------------------------------------


def _report_undeclared(reference: ProviderRef, node: ModuleInstance, diags: Diagnostics) -> None:
    diags.warning(
        "Undeclared provider",
        f'The provider "{reference.name}" is not declared in {place(node)}, so it is assumed to '
        f"be {default_provider(reference.name).display}. Add it to required_providers.",
        reference.range,
    )


def _report_not_inherited(
    name: str, node: ModuleInstance, call: ModuleCall, diags: Diagnostics
) -> None:
    diags.warning(
        "Missing provider configuration",
        f'{place(node)} passes on a configuration of "{name}" that it expects from its caller, '
        f'but the caller does not pass one. Add an entry for "{name}" to the providers argument '
        f'of the module "{call.name}" block.',
        call.range,
    )


def _report_own_configuration(
    name: str, node: ModuleInstance, passed: PassedProvider, diags: Diagnostics
) -> None:
    diags.error(
        "Provider already configured",
        f"{place(node)} has its own configuration for {name}, so its caller cannot pass another "
        "one. Remove one of the two.",
        passed.in_child.range,
    )


def _report_not_passed(
    name: str, required: RequiredProvider, call: ModuleCall, diags: Diagnostics
) -> None:
    what = required.provider.display if required.provider else required.name
    diags.error(
        "Missing provider configuration",
        f"The called module requires a configuration of the provider {what} named {name}. Add an "
        f"entry for {name} to the providers argument of this module block.",
        call.range,
    )


def _report_unexpected(
    child: ProviderRef, provider: Provider, node: ModuleInstance, diags: Diagnostics
) -> None:
    required = node.module.required_providers.get(child.name)
    hint = ""
    if child.alias and required is not None:
        hint = did_you_mean(str(child), [str(each) for each in required.configuration_aliases])
        add = f"{child} to the configuration_aliases of {child.name} in its required_providers."
    else:
        source = implied_provider(child.name) if provider.is_default else provider
        aliases = f", configuration_aliases = [{child}]" if child.alias else ""
        add = (
            "an entry to its required_providers: "
            f'{child.name} = {{ source = "{source.display}"{aliases} }}.'
        )
    detail = f"{place(node)} does not declare {child}. If the module is yours, add {add}{hint}"
    if provider.is_default:
        diags.warning("Undeclared provider", detail, child.range)
    else:
        diags.error("Undeclared provider", detail, child.range)


def _report_mismatch(
    passed: PassedProvider,
    wanted: Provider,
    given: Provider,
    node: ModuleInstance,
    diags: Diagnostics,
) -> None:
    others = [
        required.name
        for required in node.module.required_providers.values()
        if required.provider == given
    ]
    hint = f" The module calls {given.display} {others[0]}: use that name." if others else ""
    if builtin_provider() in (wanted, given):
        hint = (
            f" Declare the built-in provider in the required_providers of both modules, with "
            f'source = "{builtin_provider()}".'
        )
    diags.error(
        "Configuration of the wrong provider",
        f"{passed.in_parent} is a configuration of {given.display}, but {passed.in_child} in "
        f"{place(node)} refers to {wanted.display}. A configuration of one provider cannot be "
        f"used for another.{hint}",
        passed.in_child.range if others else passed.in_parent.range,
    )


def _report_empty(
    config: ProviderConfig, names: list[str], node: ModuleInstance, diags: Diagnostics
) -> None:
    provider = node.module.provider(config.name)
    source = f'source = "{provider.display}"' if provider else "source = ..."
    aliases = [name for name in sorted(names) if "." in name]
    if aliases:
        source += f", configuration_aliases = [{', '.join(aliases)}]"
    diags.warning(
        "Empty provider block",
        f"In {place(node)} this block only declares that a configuration is expected, which is "
        f"now done in required_providers. Replace it with this entry there: {config.name} = {{ "
        f"{source} }}.",
        config.range,
    )
