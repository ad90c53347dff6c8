"""Rules about versions: what a configuration requires, and what it leaves open.

Nothing is looked up in a registry: only what follows from the constraints themselves is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import parse_qs

from nigari.addrs.module_source import RegistrySource, RemoteSource, parse_module_source
from nigari.addrs.provider import Provider
from nigari.cty.types import STRING
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.expressions import Expression
from nigari.lang.versions import (
    ModuleConstraints,
    ProviderConstraints,
    Version,
    parse_module_constraints,
    parse_provider_constraints,
)
from nigari.lazy import lazy_pattern
from nigari.lint.model import Instance, LintedTree
from nigari.lint.rule import Hit, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_PINNED = lazy_pattern(r"v?\d+(?:\.\d+)*(?:[-+.][0-9A-Za-z.+-]*)?|[0-9a-f]{7,64}")
_BRANCHES: Final = frozenset(("main", "master", "develop", "trunk", "HEAD", "head"))
_VERSIONED_NAME = lazy_pattern(r"\d")


def missing_versions(tree: LintedTree) -> Iterator[Hit]:
    """Modules that do not say which versions of the program they are for."""
    for module in tree.modules:
        if not module.module.required_versions and module.module.resources:
            yield Hit(
                "The module does not say which versions of OpenTofu it is written for. Add "
                "required_version to its terraform block.",
                module.module.range,
            )


def missing_requirements(tree: LintedTree) -> Iterator[Hit]:
    """Providers that are used without an entry in `required_providers`, or without a version."""
    for module in tree.modules:
        declared = module.module
        for name, required in declared.required_providers.items():
            provider = declared.provider(name)
            is_builtin = provider is not None and provider.is_builtin
            if required.version is None and not is_builtin:
                yield Hit(
                    f"Any version of the provider {name} may be installed where no lock file selects "
                    "one. Add the argument version.",
                    required.attribute.range,
                )
        seen: set[str] = set()
        for addr, resource in declared.resources.items():
            name = resource.provider_name
            provider = declared.provider(name)
            if name in declared.required_providers or name in seen:
                continue
            if provider is not None and not provider.is_builtin:
                seen.add(name)
                yield Hit(
                    f"{addr} needs the provider {name}, whose source and version are not declared. "
                    "Add it to required_providers.",
                    resource.range,
                )


def unpinned_modules(tree: LintedTree) -> Iterator[Hit]:
    """Modules that may be different ones tomorrow."""
    for module in tree.modules:
        for call in module.module.calls.values():
            source = _text(tree, module.instances, call.source)
            problem = _unpinned(source, call.version is not None) if source else ""
            if problem:
                yield Hit(problem, call.source.range)


def _text(tree: LintedTree, instances: Iterable[Instance], expr: Expression) -> str:
    for instance in instances:
        value = tree.value(instance, expr)
        if value.is_known and value.type is STRING and not value.is_null:
            return value.unmark()[0].as_string()
    return ""


def _unpinned(text: str, has_version: bool) -> str:
    source = (
        None if text.startswith(("./", "../", "/")) else parse_module_source(text, Diagnostics())
    )
    if isinstance(source, RegistrySource) and not has_version:
        return (
            "The newest version of the module is installed, whatever has changed in it. Add the "
            "argument version."
        )
    if not isinstance(source, RemoteSource) or source.getter not in ("git", "hg"):
        return ""
    query = parse_qs(source.package.partition("?")[2])
    (reference,) = query.get("ref") or query.get("rev") or [""]
    if not reference:
        return (
            "The default branch of the repository is installed, whatever has changed in it. Add "
            "?ref= with a tag or a commit to the source."
        )
    if reference in _BRANCHES or _is_branch(reference):
        return f"{reference} is a branch, which changes. Name a tag or a commit in ?ref= of the source."
    return ""


def _is_branch(reference: str) -> bool:
    """Return whether a reference is unlikely to be a tag: version tags have digits."""
    return _PINNED.fullmatch(reference) is None and _VERSIONED_NAME.search(reference) is None


# -- constraints ----------------------------------------------------------------------------------


def impossible_versions(tree: LintedTree) -> Iterator[Hit]:
    """Constraints that no version meets, of one module or of several together."""
    yield from _impossible_modules(tree)
    for root in tree.roots:
        wanted: dict[Provider, list[tuple[ProviderConstraints, Range]]] = {}
        for frame in root.frames:
            instance = Instance(root, frame)
            for name, required in frame.module.required_providers.items():
                provider, text = frame.module.provider(name), ""
                if required.version is not None:
                    text = _text(tree, (instance,), required.version)
                if provider is not None and text and required.version is not None:
                    found = parse_provider_constraints(text, Diagnostics(), None)
                    if found is not None:
                        where = required.version.range
                        wanted.setdefault(provider, []).append((found, where))
        for provider, each in wanted.items():
            yield from _conflict(provider, each)


def _conflict(provider: Provider, wanted: list[tuple[ProviderConstraints, Range]]) -> Iterator[Hit]:
    """The first requirement that rules out what those before it allow."""
    together = ProviderConstraints()
    for constraints, where in wanted:
        both = together & constraints
        if not _has_version(both, [item.version for item in both.items]):
            others = f" together with {together}, which other modules require" if together else ""
            yield Hit(
                f"No version of {provider.display} can meet {constraints}{others}, so init fails. "
                "Widen one of the constraints.",
                where,
            )
            return
        together = both


def _impossible_modules(tree: LintedTree) -> Iterator[Hit]:
    for module in tree.modules:
        for call in module.module.calls.values():
            text = "" if call.version is None else _text(tree, module.instances, call.version)
            found = parse_module_constraints(text, Diagnostics(), None) if text else None
            if found is not None and call.version is not None:
                if not _has_version(found, [item.version for item in found.items]):
                    yield Hit(f"No version can meet {text}.", call.version.range)


def _has_version(
    constraints: ModuleConstraints | ProviderConstraints, limits: Iterable[Version]
) -> bool:
    """Return whether any version meets the constraints.

    It is enough to try versions at and next to the limits.
    """
    candidates = [Version((0, 0, 0)), Version((10**9, 0, 0))]
    for limit in limits:
        numbers = limit.numbers
        candidates.append(limit)
        for position, number in enumerate(numbers):
            rest = (0,) * (len(numbers) - position - 1)
            candidates.append(Version((*numbers[:position], number + 1, *rest)))
            if number:
                high = (10**9,) * len(rest)
                candidates.append(Version((*numbers[:position], number - 1, *high)))
        candidates.append(Version((*numbers[:-1], numbers[-1] + 2)))
    return any(constraints.allows(each) for each in candidates)


VERSION_RULES: Final = (
    Rule(
        "nigari:missing-required-version",
        ("versions",),
        "No required version",
        missing_versions,
    ),
    Rule(
        "nigari:missing-provider-version",
        ("versions",),
        "No required provider version",
        missing_requirements,
    ),
    Rule(
        "nigari:unpinned-module",
        ("versions", "recommended"),
        "Module that is not pinned",
        unpinned_modules,
    ),
    Rule(
        "nigari:impossible-version",
        ("versions", "recommended"),
        "Version that does not exist",
        impossible_versions,
    ),
)
