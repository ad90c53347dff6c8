"""Parser of addresses, from text or from traversals in the configuration.

Each function accepts either; for text, diagnostics point into that text. The result prints as it
was written. An invalid address returns `None` and a diagnostic at the wrong step. References inside
expressions are parsed by `nigari.lang.references`.
"""

from __future__ import annotations

from nigari.addrs.absolute import Abs, AbsResource, AbsResourceInstance
from nigari.addrs.address import Address
from nigari.addrs.address_steps import Given, Steps, steps_in_module, steps_of
from nigari.addrs.keys import key_from_value
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import (
    AbsProviderConfig,
    AbsProviderInstance,
    LocalProviderConfig,
    Provider,
    ProviderConfig,
    ProviderInstance,
    builtin_provider,
    legacy_provider,
    parse_provider,
)
from nigari.addrs.resource import (
    ACTION,
    DATA,
    EPHEMERAL,
    MANAGED,
    Resource,
    ResourceInstance,
    ResourceMode,
)
from nigari.addrs.targets import Target
from nigari.addrs.values import Check, InputVariable, LocalValue, NamedValue, OutputValue
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.quoting import quoted, with_article
from nigari.hcl.source import Source
from nigari.hcl.traversal import TraverseIndex
from nigari.record import replace

TYPE_CHECKING = False
# Few commands need the moved and removed blocks.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from nigari.addrs.moves import MoveEndpoint, RemoveEndpoint

    T = TypeVar("T")

_MODES = {"data": DATA, "ephemeral": EPHEMERAL}
_NAMED_VALUES: dict[str, type[NamedValue]] = {
    kind.root: kind for kind in (InputVariable, LocalValue, OutputValue, Check)
}


def _resource(steps: Steps) -> Resource | None:
    mode: ResourceMode = MANAGED
    prefix = steps.peek_name() or ""
    if prefix in _MODES:
        mode = _MODES[prefix]
        steps.at += 1
    type_name, name = steps.peek_name(), steps.peek_name(1)
    if type_name is None or name is None:
        wrong = 0 if type_name is None else 1
        at = steps.at + wrong
        step = steps.steps[at] if at < len(steps.steps) else None
        steps.error(
            "Invalid address",
            f"The address of {with_article(mode.noun)} consists of its type and its name, separated by a dot: "
            f"{mode.prefix}TYPE.NAME.",
            step,
        )
        return None
    steps.at += 2
    return Resource(mode, type_name, name)


def _resource_instance(steps: Steps) -> ResourceInstance | None:
    resource = _resource(steps)
    if resource is None:
        return None
    key, ok = steps.key("a resource instance")
    if not ok:
        return None
    if steps.left and key is None and resource.type == "resource":
        steps.error(
            "Invalid address",
            "The address of a managed resource begins with its type, without resource. in front.",
            steps.steps[steps.at - 2],
        )
        return None
    if not steps.ends("the address of a resource instance"):
        return None
    return ResourceInstance(resource, key)


def parse_given(
    parse: Callable[[str, Diagnostics], T | None], text: str, diags: Diagnostics
) -> T | None:
    """Parse an address from an option or argument, where there is no file to point into; None after
    an error.
    """
    problems = Diagnostics()
    address = parse(text, problems)
    for each in problems:
        detail = f'In the address "{text}": {each.detail}'
        diags.append(replace(each, detail=detail, subject=None, context=None))
    return None if problems.has_errors else address


def parse_module(given: Given, diags: Diagnostics) -> ModuleAddr | None:
    """Parse a module instance: `module.a["x"].module.b`."""
    return _only_module(steps_in_module(given, diags))


def parse_module_block(given: Given, diags: Diagnostics) -> ModuleAddr | None:
    """Parse a module as declared, without instance keys."""
    return _only_module(steps_in_module(given, diags, keyed=False))


def _only_module(steps: Steps | None) -> ModuleAddr | None:
    if steps is None:
        return None
    if steps.left:
        steps.error(
            "Invalid module address",
            'Only a module can be named here. The address of a module consists of "module" and a '
            "name, once for each level.",
        )
        return None
    return steps.module


def parse_target(given: Given, diags: Diagnostics, deferred_allowed: bool = False) -> Target | None:
    """Parse a `-target` address: a module instance, a resource or a resource instance."""
    steps = steps_in_module(given, diags, deferred_allowed=deferred_allowed)
    if steps is None:
        return None
    if not steps.left:
        return Target(steps.module, steps.traversal.range)
    instance = _resource_instance(steps)
    if instance is None:
        return None
    if instance.key is None:
        return Target(Abs(steps.module, instance.resource), steps.traversal.range)
    return Target(Abs(steps.module, instance), steps.traversal.range)


def parse_resource_instance(
    given: Given, diags: Diagnostics, deferred_allowed: bool = False
) -> AbsResourceInstance | None:
    """Parse a resource instance in a module instance; `[*]` may stand for all unknown instances."""
    target = parse_target(given, diags, deferred_allowed)
    found = None if target is None else _not_a_module(target, diags)
    if found is None:
        return None
    item = found.item
    return Abs(found.module, item.instance() if isinstance(item, Resource) else item)


def parse_resource(given: Given, diags: Diagnostics) -> AbsResource | None:
    """Parse a whole resource in a module instance."""
    target = parse_target(given, diags)
    found = None if target is None else _not_a_module(target, diags)
    if target is None or found is None:
        return None
    if isinstance(found.item, ResourceInstance):
        _report_instance_for_resource(found.item, target.range, diags)
        return None
    return Abs(found.module, found.item)


def _not_a_module(target: Target, diags: Diagnostics) -> AbsResource | AbsResourceInstance | None:
    if isinstance(target.subject, ModuleAddr):
        _report_module_for_resource(target.subject, target.range, diags)
        return None
    return target.subject


def parse_resource_block(given: Given, diags: Diagnostics) -> AbsResource | None:
    """Parse a resource as declared, without any instance keys."""
    endpoint = _block_endpoint(given, diags)
    if endpoint is None:
        return None
    if isinstance(endpoint.subject, ModuleAddr):
        _report_module_for_resource(endpoint.subject, endpoint.range, diags)
        return None
    return endpoint.subject


def _block_endpoint(given: Given, diags: Diagnostics) -> RemoveEndpoint | None:
    from nigari.addrs.moves import RemoveEndpoint

    steps = steps_in_module(given, diags, keyed=False)
    if steps is None:
        return None
    where = steps.traversal.range
    if not steps.left:
        return RemoveEndpoint(steps.module, where)
    resource = _resource(steps)
    if resource is None:
        return None
    if steps.peek_key() is not None:
        steps.error(
            "Invalid address",
            f"A single instance cannot be named here. Name the whole resource, {resource}, "
            "without the key.",
        )
        return None
    if not steps.ends("the address of a resource"):
        return None
    return RemoveEndpoint(Abs(steps.module, resource), where)


def parse_move_endpoint(given: Given, diags: Diagnostics) -> MoveEndpoint | None:
    """Parse the `from` or `to` of a `moved` block."""
    from nigari.addrs.moves import MoveEndpoint

    steps = steps_in_module(given, diags)
    if steps is None:
        return None
    if not steps.left:
        return MoveEndpoint(steps.module, steps.traversal.range)
    instance = _resource_instance(steps)
    return (
        None
        if instance is None
        else MoveEndpoint(Abs(steps.module, instance), steps.traversal.range)
    )


def parse_remove_endpoint(given: Given, diags: Diagnostics) -> RemoveEndpoint | None:
    """Parse the `from` of a `removed` block."""
    endpoint = _block_endpoint(given, diags)
    if endpoint is None or isinstance(endpoint.subject, ModuleAddr):
        return endpoint
    mode = endpoint.subject.item.mode
    if mode is not MANAGED:
        _report_not_removable(mode, endpoint.range, diags)
        return None
    return endpoint


def parse_output(given: Given, diags: Diagnostics) -> Abs[OutputValue] | None:
    """Parse an output value of a module instance: `module.a.output.b`."""
    steps = steps_in_module(given, diags)
    if steps is None:
        return None
    name = _value_name(steps, OutputValue)
    return None if name is None else Abs(steps.module, OutputValue(name))


def _value_name(steps: Steps, kind: type[NamedValue]) -> str | None:
    name = steps.peek_name(1)
    if steps.peek_name() != kind.root or name is None:
        _report_no_value(steps, kind)
        return None
    steps.at += 2
    return name if steps.ends(f"{kind.root}.{name}") else None


def parse_action(given: Given, diags: Diagnostics) -> Target | None:
    """Parse an action, or an instance of one: `module.a.action.aws_lambda_invoke.b["x"]`."""
    steps = steps_in_module(given, diags)
    if steps is None:
        return None
    if not _is_action(steps):
        steps.error(
            "Invalid action address",
            "The address of an action consists of the word action, its type and its name, separated "
            "by dots: action.TYPE.NAME.",
        )
        return None
    instance = _action_instance(steps)
    if instance is None:
        return None
    if instance.key is None:
        return Target(Abs(steps.module, instance.resource), steps.traversal.range)
    return Target(Abs(steps.module, instance), steps.traversal.range)


def _is_action(steps: Steps) -> bool:
    # A managed resource may have the type "action", but no third name.
    return steps.peek_name() == ACTION.value and steps.peek_name(2) is not None


def _action_instance(steps: Steps) -> ResourceInstance | None:
    type_name, name = steps.peek_name(1), steps.peek_name(2)
    assert type_name is not None
    assert name is not None
    steps.at += 3
    key, ok = steps.key("an instance of an action")
    if not ok or not steps.ends("the address of an action"):
        return None
    return ResourceInstance(Resource(ACTION, type_name, name), key)


def parse_address(given: Given, diags: Diagnostics) -> ModuleAddr | Abs[Address] | None:
    """Parse any absolute address.

    That is a module instance, a resource instance, an input variable, local, output value, check,
    or provider configuration. `[*]` stands for unknown instances.
    """
    steps = steps_in_module(given, diags, deferred_allowed=True)
    if steps is None:
        return None
    if not steps.left:
        return steps.module
    item: Address | None
    kind = _NAMED_VALUES.get(steps.peek_name() or "")
    if kind is not None:
        name = _value_name(steps, kind)
        item = None if name is None else kind(name)
    elif steps.peek_name() == "provider":
        item = _provider_instance(steps)
    elif _is_action(steps):
        item = _action_instance(steps)
    else:
        item = _resource_instance(steps)
    return None if item is None else Abs(steps.module, item)


def parse_provider_config(given: Given, diags: Diagnostics) -> AbsProviderConfig | None:
    """Parse a provider configuration, without an instance key."""
    instance = parse_provider_instance(given, diags)
    if instance is None:
        return None
    if instance.item.key is not None:
        diags.error(
            "Invalid provider configuration address",
            "Only a whole provider configuration can be named here. Leave out the instance key.",
            Source("", given).range(0, len(given)) if isinstance(given, str) else given.range,
        )
        return None
    return Abs(instance.module, instance.item.config)


def parse_provider_instance(given: Given, diags: Diagnostics) -> AbsProviderInstance | None:
    """Parse an instance of a provider configuration, as states refer to it.

    `module.m.provider["registry.opentofu.org/hashicorp/aws"].by_region["eu"]`: the module path is
    the declared one, without keys.
    """
    steps = steps_in_module(given, diags, keyed=False)
    if steps is None:
        return None
    instance = _provider_instance(steps)
    return None if instance is None else Abs(steps.module, instance)


def _provider_instance(steps: Steps) -> ProviderInstance | None:
    if steps.peek_name() != "provider":
        steps.error(
            _BAD_PROVIDER, 'The address of a provider configuration begins with "provider".'
        )
        return None
    steps.at += 1
    provider = _provider_in_brackets(steps)
    if provider is None:
        return None
    alias = steps.peek_name() or ""
    if alias:
        steps.at += 1
    elif steps.left:
        steps.error(
            _BAD_PROVIDER, "The provider in brackets can be followed by a dot and an alias."
        )
        return None
    key, ok = steps.key("a provider instance")
    if not ok or not steps.ends("the address of a provider configuration"):
        return None
    return ProviderInstance(ProviderConfig(provider, alias), key)


_BAD_PROVIDER = "Invalid provider configuration address"


def _provider_in_brackets(steps: Steps) -> Provider | None:
    step = steps.peek_key()
    key = key_from_value(step.key) if isinstance(step, TraverseIndex) else None
    if step is None or not isinstance(key, str):
        steps.error(
            _BAD_PROVIDER,
            '"provider" must be followed by the provider\'s full address in brackets and '
            'quotes: provider["registry.opentofu.org/hashicorp/aws"].',
            step,
        )
        return None
    steps.at += 1
    return parse_provider(key, steps.diags, steps.traversal.step_range(step))


def parse_legacy_provider_config(given: Given, diags: Diagnostics) -> AbsProviderConfig | None:
    """Parse a provider configuration in the form of old states: `module.m.provider.aws.west`."""
    steps = steps_in_module(given, diags, keyed=False)
    if steps is None:
        return None
    type_name = steps.peek_name(1)
    if steps.peek_name() != "provider" or type_name is None:
        steps.error(_BAD_PROVIDER, "Write a provider configuration here as provider.TYPE.ALIAS.")
        return None
    alias = steps.peek_name(2) or ""
    steps.at += 3 if alias else 2
    if not steps.ends("the address of a provider configuration"):
        return None
    builtin = type_name == "terraform"
    provider = builtin_provider(type_name) if builtin else legacy_provider(type_name)
    return Abs(steps.module, ProviderConfig(provider, alias))


def parse_local_provider_config(given: Given, diags: Diagnostics) -> LocalProviderConfig | None:
    """Parse a provider configuration as its module refers to it: `aws`, `aws.west`."""
    steps = steps_of(given, diags)
    if steps is None:
        return None
    name, alias = steps.peek_name(), steps.peek_name(1)
    if name == "provider" and alias is not None:
        steps.error(
            "Invalid provider reference",
            'A reference to a provider configuration has no "provider." in front: write its '
            f"local name, {alias}, and its alias if it has one.",
        )
        return None
    steps.at = 1 if alias is None else 2
    if name is None or not steps.ends("a provider's local name and alias"):
        return None
    return LocalProviderConfig(name, alias or "")


def _report_module_for_resource(
    module: ModuleAddr, subject: Range | None, diags: Diagnostics
) -> None:
    diags.error(
        "Invalid address",
        f"{module} is a module, and a resource is required here. Add the type and name of a "
        "resource in it.",
        subject,
    )


def _report_instance_for_resource(
    instance: ResourceInstance, subject: Range | None, diags: Diagnostics
) -> None:
    diags.error(
        "Invalid address",
        f"{instance} is a single instance, and a whole resource is required here. Leave out the "
        f"key: {instance.resource}.",
        subject,
    )


def _report_not_removable(mode: ResourceMode, subject: Range | None, diags: Diagnostics) -> None:
    what = "Data sources" if mode is DATA else "Ephemeral resources"
    diags.error(
        "Invalid address",
        f"{what} are never destroyed, so a removed block has nothing to do. Delete this block; "
        f"deleting the {mode.value} block itself is enough.",
        subject,
    )


def _report_no_value(steps: Steps, kind: type[NamedValue]) -> None:
    steps.error(
        "Invalid address",
        f"{quoted(str(steps.traversal))} is not complete. The module path must be followed by "
        f"{kind.root} and a name: module.a.{kind.root}.b.",
    )
