"""Rules about what nothing uses: outputs, data sources, providers and arguments of module calls.

Uses count over all modules that were evaluated. What callers outside of the tree use is not known,
so modules that have such callers are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.provider import Provider
from nigari.addrs.resource import DATA
from nigari.addrs.values import ProviderFunction
from nigari.eval.core.instances import Frame
from nigari.lint.model import LintedModule, LintedTree
from nigari.lint.rule import Hit, Rule
from nigari.workspace.explain.queries import ValueQueries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_UNUSED: Final = ("unused", "recommended")


def unused_outputs(tree: LintedTree) -> Iterator[Hit]:
    """Outputs of called modules that no caller reads."""
    by_path = {each.path: each for each in tree.all_modules}
    for module in tree.modules:
        if module.is_root or not tree.has_all_callers(module):
            continue
        used: set[str] = set()
        for calls in module.calls:
            one = calls[0]
            caller = by_path[one.instance.root.locate(one.caller.module.directory)]
            used.update(_outputs_read(caller, one.call.name, list(module.module.outputs)))
        for output in module.module.outputs.values():
            if output.name not in used:
                yield Hit(
                    f"No caller of the module reads the output {output.name}. Remove it, unless "
                    "callers outside of this repository need it.",
                    output.range,
                )


def _outputs_read(caller: LintedModule, call: str, names: list[str]) -> list[str]:
    """The outputs of a call that its module refers to."""
    uses = caller.written.used
    if f"module.{call}" in uses:
        # The whole object may be passed on, and a splat or an index may select anything.
        own = [each for each in uses[f"module.{call}"] if not each.is_in("moved", "removed")]
        if any(each.attribute.name != "depends_on" for each in own):
            return names
    return [name for name in names if f"module.{call}.{name}" in uses]


def unused_data(tree: LintedTree) -> Iterator[Hit]:
    """Find data sources that nothing refers to, and that check nothing. One with `depends_on` is read for
    what reading does, such as waiting until a cluster is healthy.
    """
    for module in tree.modules:
        for addr, resource in module.module.resources.items():
            lifecycle = resource.lifecycle
            checks = lifecycle.preconditions or lifecycle.postconditions or resource.in_check
            if addr.mode is not DATA or checks or resource.depends_on:
                continue
            if not _is_used(module, str(addr)):
                yield Hit(
                    f"Nothing refers to {addr}, but it is read with every plan. Remove it.",
                    resource.range,
                )


def _is_used(module: LintedModule, address: str) -> bool:
    """Return whether another block refers to a data source."""
    for each in module.written.used.get(address, ()):
        block = each.block
        if block is None or ".".join([block.type, *block.labels]) != address:
            return True
    return False


def unused_providers(tree: LintedTree) -> Iterator[Hit]:
    """Entries of `required_providers` that neither the module nor a module that it calls uses."""
    for module in tree.modules:
        if any(not _is_complete(each.root.queries, each.frame) for each in module.instances):
            continue
        own = _names_used(module)
        inherited = {
            provider
            for each in module.instances
            for provider in _used_below(each.root.queries, each.frame)
        }
        for name, required in module.module.required_providers.items():
            provider = module.module.provider(name)
            if name in own or required.configuration_aliases or provider is None:
                continue
            if provider not in inherited:
                yield Hit(
                    f"The provider {name} is required, and so it is installed, but nothing here or in a "
                    "called module uses it. Remove the entry, unless objects in the state still "
                    "need it.",
                    required.attribute.name_range,
                )


def _is_complete(queries: ValueQueries, frame: Frame) -> bool:
    """Return whether all modules below one were found. Of a call without instances nothing is known,
    and with other values it may have some.
    """
    for call in frame.calls.values():
        instances = queries.module_instances(call)
        if not instances or any(not _is_complete(queries, each) for each in instances.values()):
            return False
    return True


def _names_used(module: LintedModule) -> set[str]:
    """The local names of providers that are used in a module."""
    declared, written = module.module, module.written
    found = {each.provider_name for each in declared.resources.values()}
    found.update(each.name for each in declared.provider_configs)
    found.update(declared.provider_metas)
    for call in declared.calls.values():
        found.update(each.in_parent.name for each in call.providers)
    for reference, _ in written.references:
        if isinstance(reference.subject, ProviderFunction):
            found.add(reference.subject.provider)
    for each in written.expressions:
        if each.is_in("import", "removed"):
            found.add(each.expr.source.slice(each.expr.start, each.expr.end).split(".")[0])
    return found


def _used_below(queries: ValueQueries, frame: Frame) -> set[Provider]:
    """The providers that the resources of called modules use."""
    found: set[Provider] = set()
    pending = [frame]
    while pending:
        current = pending.pop()
        for call in current.calls.values():
            pending.extend(queries.module_instances(call).values())
        if current is not frame:
            module = current.module
            names = {each.provider_name for each in module.resources.values()}
            names.update(module.required_providers)
            found.update(
                provider for name in names if (provider := module.provider(name)) is not None
            )
    return found


def unused_configurations(tree: LintedTree) -> Iterator[Hit]:
    """Provider configurations with an alias that nothing selects."""
    for module in tree.modules:
        declared = module.module
        used = {
            each.provider.config
            for each in declared.resources.values()
            if each.provider is not None
        }
        used.update(
            each.in_parent.config for call in declared.calls.values() for each in call.providers
        )
        texts = {
            each.expr.source.slice(each.expr.start, each.expr.end).strip('"').split("[")[0]
            for each in module.written.expressions
            if each.is_in("import", "removed")
        }
        for reference, _ in module.written.references:
            subject = reference.subject
            if isinstance(subject, ProviderFunction) and subject.alias:
                texts.add(f"{subject.provider}.{subject.alias}")
        for addr, config in declared.provider_configs.items():
            if addr.alias and addr not in used and f"{addr.name}.{addr.alias}" not in texts:
                yield Hit(
                    f"Nothing selects the provider configuration {addr.name}.{addr.alias}. Remove "
                    "it, unless objects in the state still need it.",
                    config.range,
                )


def unused_arguments(tree: LintedTree) -> Iterator[Hit]:
    """Arguments for variables that a downloaded module declares and does not use."""
    own = {each.path for each in tree.modules}
    for module in tree.all_modules:
        if module.path in own:
            continue
        for calls in module.calls:
            call = calls[0]
            caller = call.instance.root.locate(call.caller.module.directory)
            for name, argument in call.arguments.items() if caller in own else ():
                if name in module.module.variables and f"var.{name}" not in module.written.used:
                    yield Hit(
                        f"The called module declares the variable {name} but never uses it, so this "
                        "argument has no effect. Remove it.",
                        argument.name_range,
                    )


UNUSED_RULES: Final = (
    Rule("nigari:unused-output", ("unused",), "Output that no caller reads", unused_outputs),
    Rule("nigari:unused-data", _UNUSED, "Data source not used", unused_data),
    Rule("nigari:unused-provider", _UNUSED, "Provider not used", unused_providers),
    Rule(
        "nigari:unused-provider-configuration",
        _UNUSED,
        "Provider configuration not used",
        unused_configurations,
    ),
    Rule("nigari:unused-argument", _UNUSED, "Argument without effect", unused_arguments),
)
