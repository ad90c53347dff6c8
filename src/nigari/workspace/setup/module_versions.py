"""Choosing versions of registry modules for the calls that ask for them."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.module_source import RemoteSource
from nigari.diagnostics import Diagnostics, Range
from nigari.lang.versions import ModuleConstraints, Version, parse_module_constraints
from nigari.packages.content.module_fetch import FetchError
from nigari.packages.hosts.cooldown import cooling_text
from nigari.packages.modules.module_download import ModuleDownloads
from nigari.packages.modules.module_registry import AvailableVersions, ModuleRegistries
from nigari.workspace.configuration.modules import PackageRequest
from nigari.workspace.setup.module_sources import ModuleSources
from nigari.workspace.setup.requested_packages import made_from, package_text

_AT_A_TIME = 16


def ask_versions(
    sources: ModuleSources, wanted: Sequence[PackageRequest], diags: Diagnostics
) -> list[Version | None]:
    """The version for each call; None if there is none, which is reported."""
    modules: dict[str, list[PackageRequest]] = {}
    for each in wanted:
        modules.setdefault(each.source.package, []).append(each)
    first = [callers[0] for callers in modules.values()]
    answers = sources.run(_ask_all(sources.registries(), sources.downloads(), first))
    found = dict(zip(modules, answers, strict=True))
    for package, callers in modules.items():
        answer = found[package]
        if isinstance(answer, str):
            _report_refusal(callers, answer, diags)
        elif answer.unreadable:
            _warn_of_versions(callers[0], answer.unreadable, diags)
    chosen: dict[tuple[str, str | None], Version | None] = {}
    for each in wanted:
        key = each.source.package, each.version
        if key not in chosen:
            chosen[key] = _choose(each, found[each.source.package], diags)
    return [chosen[each.source.package, each.version] for each in wanted]


async def _ask_all(
    registries: ModuleRegistries, downloads: ModuleDownloads, wanted: Sequence[PackageRequest]
) -> list[AvailableVersions | str]:
    import asyncio

    limit = asyncio.Semaphore(_AT_A_TIME)

    async def ask(each: PackageRequest) -> AvailableVersions | str:
        async with limit:
            try:
                if isinstance(each.source, RemoteSource):
                    return AvailableVersions(tuple(await downloads.tag_versions(each.source)))
                return await registries.versions(each.source)
            except FetchError as error:
                return str(error)

    return await asyncio.gather(*map(ask, wanted))


def _choose(
    wanted: PackageRequest, answer: AvailableVersions | str, diags: Diagnostics
) -> Version | None:
    if isinstance(answer, str):
        return None
    constraints: ModuleConstraints | None = None
    if wanted.version is not None:
        constraints = parse_module_constraints(wanted.version, diags, _constraint_at(wanted))
        if constraints is None:
            return None
    found = answer.newest(constraints)
    if found is None:
        _report_no_version(wanted, answer, diags)
    return found


def _report_refusal(callers: Sequence[PackageRequest], reason: str, diags: Diagnostics) -> None:
    first = callers[0]
    more = f" and {len(callers) - 1} more" if len(callers) > 1 else ""
    diags.error(
        "Cannot install a module",
        f"Cannot list the versions of {package_text(first.source)} for {first.addr}{more}. "
        f"{reason}",
        first.where,
        causes=made_from(first),
    )


def _report_no_version(
    wanted: PackageRequest, answer: AvailableVersions, diags: Diagnostics
) -> None:
    name, where = package_text(wanted.source), wanted.where
    newest = answer.newest_release or max(answer.versions, default=None)
    if newest is None:
        is_tagged = isinstance(wanted.source, RemoteSource)
        missing = (
            "The repository has no tags that are versions"
            if is_tagged
            else "The registry has no versions"
        )
        what = f"{missing} of {name}, which {wanted.addr} uses."
    elif wanted.version is None:
        what = (
            f"All versions of {name}, which {wanted.addr} uses, are pre-releases. The newest is "
            f"{newest}; to use it, set the version argument to exactly that."
        )
    else:
        what = (
            f'No version of {name} meets the constraint "{wanted.version}" of {wanted.addr}. The '
            f"newest is {newest}{', a pre-release' if newest.prerelease else ''}."
        )
        where = _constraint_at(wanted)
    allowed = wanted.version and parse_module_constraints(wanted.version, Diagnostics(), where)
    cooling = [each for each in answer.cooling if not allowed or allowed.newest((each,))]
    if cooling:
        latest = max(cooling, key=Version.precedence)
        what += f" Version {cooling_text(latest, answer.cooling[latest])}."
    diags.error("No suitable module version", what, where, causes=made_from(wanted))


def _constraint_at(wanted: PackageRequest) -> Range:
    return wanted.version_range or wanted.where


def _warn_of_versions(
    wanted: PackageRequest, unreadable: Sequence[str], diags: Diagnostics
) -> None:
    listed = ", ".join(f'"{text}"' for text in unreadable[:5])
    diags.warning(
        "Invalid version in a module registry",
        f"The registry lists versions of {package_text(wanted.source)} that are not valid version "
        f"numbers: {listed}. They are ignored.",
        wanted.where,
    )
