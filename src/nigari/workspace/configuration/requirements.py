"""Requirements: the providers that modules ask for, and in which versions.

Sources and versions in `required_providers` are static places. What a module uses without asking
for it is asked for in any version; so is whatever the stored state still has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from nigari.addrs.provider import Provider, implied_provider
from nigari.config.core.literals import is_written_out
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.tree.provider_rules import check_aliases, check_caller
from nigari.lang.versions import ProviderConstraints, parse_provider_constraints
from nigari.packages.providers.requirement import Requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.module import Module
    from nigari.eval.core.instances import Frame
    from nigari.eval.core.module_tree import ModuleInstance
    from nigari.eval.core.static_position import StaticPosition
    from nigari.eval.static.run import StaticRun
    from nigari.hcl.expressions import Expression
    from nigari.workspace.plugins.providers import InstalledProviders

    FindText = Callable[[Expression, str], str | None]


def providers_fit(run: StaticRun, installed: InstalledProviders, diags: Diagnostics) -> bool:
    """Return whether the providers are declared and installed in the required versions, and report
    it otherwise.
    """
    root = run.root.instance
    check_aliases(root, diags)
    check_caller(root, diags)
    if diags.has_errors:
        return False
    requirements, found = run.noting(partial(find_requirements, run))
    diags.extend(found)
    if installed.versions_fit(requirements, diags) and not diags.has_errors:
        return True
    diags.extend(installed.problems)
    return False


def find_requirements(run: StaticRun) -> list[Requirement]:
    """The requirements of all modules, callers first; problems with evaluating them are reported."""
    finding = _Finding(run.diags)
    for frame in run.frames():
        finding.look_at(frame.instance, partial(_text, run, frame))
    return list(dict.fromkeys(finding.found))


def _text(run: StaticRun, frame: Frame, expr: Expression, what: str) -> str | None:
    """The text of a static place; None where that has been reported."""
    from nigari.cty.convert import convert
    from nigari.cty.errors import CtyError
    from nigari.cty.types import STRING
    from nigari.eval.core.static_position import StaticPosition
    from nigari.eval.static.run import slot_value

    slot = StaticPosition(frame.label(what), frame, expr, run.request)
    value = slot_value(run, slot)
    if value is None:
        return None
    try:
        value = convert(value, STRING)
    except CtyError:
        _report_no_string(slot, run.diags)
        return None
    if value.is_null:
        _report_no_string(slot, run.diags)
        return None
    return value.as_string()


class _Finding:
    """Collection of requirements. Identical modules are visited once."""

    def __init__(self, diags: Diagnostics) -> None:
        self.found: list[Requirement] = []
        self._diags = diags
        self._used: dict[int, tuple[object, dict[str, Range]]] = {}
        self._written: dict[Expression, ProviderConstraints | None] = {}

    def look_at(self, instance: ModuleInstance, text: FindText) -> None:
        """Collect what one module instance asks for; `text` evaluates what it is given."""
        module = instance.module
        where = str(instance.shown_variant)
        providers: dict[str, Provider] = {}
        for name, required in module.required_providers.items():
            provider = required.provider
            if provider is None:
                # Its source has been evaluated before, and whatever is wrong with it reported.
                continue
            providers[name] = provider
            has_source = required.source is not None
            constraints, at = ProviderConstraints(), None
            if required.version is not None:
                what = f"version of the required provider {name}"
                given = self._constraints(instance, required.version, what, text)
                if given is None:
                    continue
                constraints, at = given, required.version.range
            self.found.append(
                Requirement(provider, constraints, where, required.range, at, has_source)
            )
        for name, subject in self._used_names(module).items():
            provider = providers.get(name) or implied_provider(name)
            if name not in module.required_providers:
                self.found.append(Requirement(provider, module=where, subject=subject))
        for config in module.provider_configs.values():
            if config.version is None:
                continue
            # Old configurations have constraints here.
            what = f"version of the provider {config.name}"
            old = self._constraints(instance, config.version, what, text)
            provider = providers.get(config.name) or implied_provider(config.name)
            if old is not None:
                at = config.version.range
                self.found.append(Requirement(provider, old, where, config.range, at))

    def _constraints(
        self, instance: ModuleInstance, expr: Expression, what: str, find: FindText
    ) -> ProviderConstraints | None:
        if expr in self._written:
            return self._written[expr]
        text = find(expr, what)
        constraints = (
            None if text is None else parse_provider_constraints(text, self._diags, expr.range)
        )
        compiled = instance.compiled
        if compiled.is_written_out(expr) or not compiled.expression(expr).references:
            self._written[expr] = constraints
        return constraints

    def _used_names(self, module: Module) -> Mapping[str, Range]:
        """The local names of providers that a module uses, and where it first does."""
        # The mapping of resources is the same object for all instances of one directory. It is kept
        # beside its names, so that no other can come to have its identity.
        key = id(module.resources)
        known = self._used.get(key)
        if known is not None:
            return known[1]
        names: dict[str, Range] = {}
        self._used[key] = module.resources, names
        for config in module.provider_configs.values():
            names.setdefault(config.name, config.range)
        for resource in module.resources.values():
            names.setdefault(resource.provider_name, resource.range)
        for each in module.imports:
            target = each.shape.item.resource
            if each.provider is not None:
                names.setdefault(each.provider.name, each.range)
            elif each.shape.module.is_root and target not in module.resources:
                # Its configuration may still have to be written, with what the provider says.
                names.setdefault(target.implied_provider, each.range)
        return names


def stored_requirements(
    providers: Iterable[str], named: Iterable[Requirement], environ: Mapping[str, str]
) -> list[Requirement]:
    """The requirements of a stored state, from the provider addresses in it; those that
    configurations name are never replaced.
    """
    from nigari.addrs.parse import parse_provider_instance
    from nigari.state.predecessors import are_replaced, successor

    kept = {each.provider for each in named}
    replaces = are_replaced(environ)
    found: dict[Provider, Requirement] = {}
    for text in providers:
        config = parse_provider_instance(text, Diagnostics())
        if config is not None:
            stored = config.item.provider
            provider = successor(stored, kept) if replaces else stored
            found[provider] = Requirement(provider, module="the state")
    return list(found.values())


def check_sources(run: StaticRun, stored: Iterable[Requirement], diags: Diagnostics) -> None:
    """Warn of a source that is evaluated and now names another provider than the state has."""
    for name, required in run.root.module.required_providers.items():
        source, provider = required.source, required.provider
        if source is None or provider is None or is_written_out(source):
            continue
        others = [each.provider for each in stored if each.provider.type == provider.type]
        if others and provider not in others:
            _report_other_provider(name, provider, others[0], source.range, diags)


def _report_other_provider(
    name: str, provider: Provider, stored: Provider, where: Range, diags: Diagnostics
) -> None:
    diags.warning(
        "State belongs to another provider",
        f"The source of the required provider {name} is now {provider.display}, but the state "
        f"has objects of {stored.display}. Planning needs both until the objects have been "
        'transferred: if the two are the same provider from different sources, run "nigari state '
        f'replace-provider {stored.display} {provider.display}".',
        where,
    )


def _report_no_string(slot: StaticPosition, diags: Diagnostics) -> None:
    diags.error("String required", f"The {slot.what} must be a string.", slot.expr.range)
