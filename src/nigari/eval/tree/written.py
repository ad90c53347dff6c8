"""The tree of modules where it is written out: found by reading, without evaluating anything.

The static phase finds the tree of any configuration. Most configurations say literally where their
modules come from and what they require, and then that phase has nothing to report. Whoever only
asks for the tree, as to see whether the providers are installed, need not import what evaluates.
Where anything static depends on a name or a function, the tree is left to `nigari.eval.static`.
"""

from __future__ import annotations

from nigari.addrs.keys import DEFERRED
from nigari.addrs.module import ROOT_MODULE
from nigari.config.core.literals import is_written_out, written_value
from nigari.cty.types import BOOL, STRING
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import InstallModule, ModuleInstance, Modules
from nigari.hcl.static import expr_as_keyword
from nigari.lang.versions import parse_module_constraints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.blocks.module_call import ModuleCall
    from nigari.config.blocks.provider_config import ProviderConfig
    from nigari.config.blocks.provisioner import Provisioner
    from nigari.config.blocks.resource import Resource
    from nigari.config.module import Module
    from nigari.eval.core.compile import CompiledModule
    from nigari.hcl.expressions import Expression


def read_tree(
    root: CompiledModule, modules: Modules, diags: Diagnostics
) -> list[ModuleInstance] | None:
    """All module instances, in the order in which the static phase opens them; None where only that
    phase can find them, because something has to be evaluated or because something is wrong.
    """
    found = [ModuleInstance(ROOT_MODULE, root)]
    level: list[ModuleInstance] | None = list(found)
    while level:
        if not all(_is_settled(each.module) for each in level):
            return None
        level = _called(level, modules, diags)
        if level is None or diags.has_errors:
            return None
        found += level
    return found


def _called(
    callers: list[ModuleInstance], modules: Modules, diags: Diagnostics
) -> list[ModuleInstance] | None:
    """The modules that some modules call; None where one is missing, or is called by itself."""
    wanted = [
        _asked(caller, call, diags)
        # A list of work is done from its end.
        for caller in reversed(callers)
        for call in caller.module.calls.values()
    ]
    opened: list[ModuleInstance] = []
    for (effect, caller), module in zip(wanted, modules.load_all(wanted, diags), strict=True):
        if module is None or _is_within(module, caller):
            return None
        addr = effect.addr
        instance = ModuleInstance(addr, module, caller, caller.module.calls[addr.name])
        caller.children[addr.name] = {addr.key: instance}
        opened.append(instance)
    return opened


def _asked(
    caller: ModuleInstance, call: ModuleCall, diags: Diagnostics
) -> tuple[InstallModule, ModuleInstance]:
    """What a call asks for; one instance stands for all of a call that is repeated."""
    version: str | None = None
    if call.version is not None:
        version = written_text(call.version)
        parse_module_constraints(version, diags, call.version.range)
    call.body.just_attributes(diags)
    key = None if call.repetition.has_one_value else DEFERRED
    addr = caller.addr.child(call.name, key)
    return InstallModule(addr, written_text(call.source), version), caller


def _is_within(module: CompiledModule, caller: ModuleInstance) -> bool:
    """Whether a module is called by itself, directly or through others."""
    instance: ModuleInstance | None = caller
    while instance is not None:
        if instance.compiled.is_same_as(module):
            return True
        instance = instance.parent
    return False


# -- what is settled --------------------------------------------------------------------------


def written_text(expr: Expression) -> str:
    """The text that is written out; empty where there is none, or where it has to be evaluated."""
    value = written_value(expr, STRING, "", Diagnostics())
    return "" if value is None else value.as_string()


def _is_settled(module: Module) -> bool:
    """Whether the static phase has nothing to work out in a module, beside what it calls.

    This says of every place that `StaticRun` looks at whether it may be left out.
    """
    addresses = [each for moved in module.moved for each in (moved.source, moved.target)]
    addresses += [each.source for each in module.removed]
    return (
        all(
            not each.const and (each.default is None or is_written_out(each.default))
            for each in module.variables.values()
        )
        and all(_is_settled_resource(each) for each in module.resources.values())
        and all(
            _is_truth(each.destroy) and _are_settled(each.provisioners) for each in module.removed
        )
        and not any(each.keys for each in addresses)
        and all(_is_settled_config(each) for each in module.provider_configs.values())
        and all(
            each.provider is not None and _is_text(each.source) and _is_text(each.version)
            for each in module.required_providers.values()
        )
        and all(not each.counts or is_written_out(each.expr) for each in module.required_versions)
        and all(_is_text(each.source) and _is_text(each.version) for each in module.calls.values())
        and module.encryption is None
    )


def _is_settled_resource(resource: Resource) -> bool:
    lifecycle = resource.lifecycle
    return (
        _is_truth(lifecycle.create_before_destroy)
        and _is_truth(lifecycle.destroy)
        and (lifecycle.ignore_changes is None or isinstance(lifecycle.ignore_changes, tuple))
        and _are_settled(resource.provisioners)
    )


def _is_settled_config(config: ProviderConfig) -> bool:
    return config.count is None and config.for_each is None and _is_text(config.version)


def _are_settled(provisioners: tuple[Provisioner, ...]) -> bool:
    """Whether it is written out when provisioners run, and whether their failure matters."""
    words = [expr for each in provisioners for expr in (each.when, each.on_failure)]
    return all(expr is None or expr_as_keyword(expr) is not None for expr in words)


def _is_truth(expr: Expression | None) -> bool:
    return expr is None or written_value(expr, BOOL, "", Diagnostics()) is not None


def _is_text(expr: Expression | None) -> bool:
    return expr is None or bool(written_text(expr))
