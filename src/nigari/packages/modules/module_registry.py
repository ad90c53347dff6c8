"""Module registry protocol: versions of modules and their locations.

Each request is made once per run. A version's location is an ordinary package address or, since
OpenTofu 1.12, a package that the registry hosts itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

from nigari.addrs.module_source import RegistrySource, RemoteSource, parse_module_source
from nigari.addrs.provider import DEFAULT_REGISTRY_HOST
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.secret_urls import hidden_url
from nigari.lang.versions import ModuleConstraints, Version, newest, parse_version
from nigari.net.failures import NetFailure, StatusRefused
from nigari.net.urls import origin_of
from nigari.packages.content.module_fetch import FetchError, Progress
from nigari.packages.content.unpacking import form_of_content
from nigari.packages.hosts.cooldown import cooling_until
from nigari.packages.hosts.host_credentials import CredentialsError
from nigari.packages.hosts.hosts import HostError, Hosts
from nigari.packages.modules.fetching import unpack_package
from nigari.packages.modules.http_source import ARCHIVES
from nigari.packages.modules.module_download import DirectPackage
from nigari.record import ReadOnly, record
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from datetime import datetime
    from typing import Final

    from nigari.net.response import Response
    from nigari.packages.hosts.cli_config import ModuleMethod

_SERVICE: Final = "modules.v1"
_VERSION_HEADER: Final = {"x-terraform-version": OPENTOFU_VERSION}
# OpenTofu 1.12 sends these with requests for packages.
_PACKAGE_HEADERS: Final = {
    **_VERSION_HEADER,
    "accept": "application/zip, application/x-tar; *;q=0.1",
    "accept-encoding": "identity, gzip, *;q=0.1",
}


@record
class AvailableVersions:
    """Versions of a module."""

    versions: tuple[Version, ...]
    unreadable: tuple[str, ...] = ()
    """Invalid version numbers from the registry."""
    cooling: Mapping[Version, datetime] = ReadOnly({})
    """Further versions, which are too new until a certain time."""

    @property
    def newest_release(self) -> Version | None:
        """Newest version that is not a pre-release."""
        return newest(each for each in self.versions if not each.prerelease)

    def newest(self, constraints: ModuleConstraints | None) -> Version | None:
        """Return the newest allowed version. A pre-release must be requested exactly."""
        if constraints is None:
            return self.newest_release
        items = constraints.items
        # OpenTofu: only a constraint for exactly this version selects a pre-release of a module.
        exact = len(items) == 1 and items[0].operator == "="
        return constraints.newest(each for each in self.versions if exact or not each.prerelease)


class ModuleRegistries:
    """All module registries of a run."""

    def __init__(self, hosts: Hosts, methods: Sequence[ModuleMethod] = ()) -> None:
        self._hosts = hosts
        self._methods = methods
        self._versions: dict[str, asyncio.Task[AvailableVersions]] = {}

    def real_host(self, source: RegistrySource) -> str:
        """Return the host to query for a module."""
        return self._hosts.real_name(source.hostname)

    async def versions(self, source: RegistrySource) -> AvailableVersions:
        """List the available versions, or raise `FetchError`."""
        import asyncio

        work = self._versions.get(source.package)
        if work is None:
            work = asyncio.ensure_future(self._ask_versions(source))
            self._versions[source.package] = work
        return await asyncio.shield(work)

    async def _ask_versions(self, source: RegistrySource) -> AvailableVersions:
        answer = await self._ask(source, f"{source.package_path}/versions")
        if answer.status == 404:
            raise FetchError(_not_found(source))
        try:
            document = answer.require(200).json()
        except NetFailure as failure:
            raise FetchError(self._refusal(source, failure)) from failure
        try:
            # Module registry protocol: the first element is the module itself; others were its
            # dependencies.
            (first, *_) = document["modules"]  # type: ignore[index]
            listed = {str(each["version"]): each for each in first.get("versions") or ()}
            cooldown = max(
                (each.cooldown for each in self._methods if each.is_for(source)), default=0
            )
            cooling = {
                text: until
                for text, each in listed.items()
                if (until := cooling_until(each.get("discovered"), cooldown)) is not None
            }
        except (KeyError, TypeError, ValueError, AttributeError):
            raise FetchError(
                f"The version list of {source.hostname} for the module does not have "
                "the expected form. Contact the operator of the registry."
            ) from None
        parsed = {text: parse_version(text) for text in listed}
        known = {text: version for text, version in parsed.items() if version is not None}
        return AvailableVersions(
            tuple(version for text, version in known.items() if text not in cooling),
            tuple(text for text, version in parsed.items() if version is None),
            {version: cooling[text] for text, version in known.items() if text in cooling},
        )

    async def location(self, source: RegistrySource, version: str) -> RemoteSource | DirectPackage:
        """Locate a version, or raise `FetchError`."""
        path = f"{source.package_path}/{quote(version, safe='+')}/download"
        answer = await self._ask(source, path)
        if answer.status == 404:
            raise FetchError(f"{source.hostname} does not have version {version} of the module.")
        try:
            # Module registry protocol: 204 with the location in a header, or 200 with it in the
            # body.
            answer.require(200, 204)
            document = answer.json() if answer.status == 200 else {}
        except NetFailure as failure:
            raise FetchError(self._refusal(source, failure)) from failure
        if not isinstance(document, Mapping):
            document = {}
        text = document.get("location") or ""
        # OpenTofu 1.12: with this member, the registry itself serves the package.
        if "use_registry_credentials" in document:
            return _direct(source, answer.url, str(text), document["use_registry_credentials"])
        return _indirect(source, answer.url, str(text) or answer.headers.get("x-terraform-get", ""))

    async def fetch(self, package: DirectPackage, directory: Path, progress: Progress) -> str:
        """Download a package that the registry hosts itself."""
        hosts = self._hosts
        credentials = (
            await self._credentials(package.hostname, package.url) if package.hostname else {}
        )
        with tempfile.TemporaryDirectory(prefix=".archive-", dir=directory.parent) as temporary:
            archive = Path(temporary, "archive")
            try:
                done = await hosts.client.download(
                    package.url,
                    archive,
                    headers=_PACKAGE_HEADERS,
                    credentials=credentials,
                    policy=ARCHIVES,
                    progress=progress,
                )
            except NetFailure as failure:
                raise FetchError(failure.text) from failure
            form = form_of_content(archive)
            if not form:
                raise FetchError(
                    f"{hidden_url(package.url)} is neither a zip archive nor a compressed tar archive."
                )
            await unpack_package(archive, form, directory)
        return f"sha256:{done.digests['sha256']}"

    async def _ask(self, source: RegistrySource, path: str) -> Response:
        hosts = self._hosts
        try:
            base = await hosts.service_url(source.hostname, _SERVICE)
        except HostError as error:
            raise FetchError(str(error)) from error
        parts = urlsplit(base)
        # OpenTofu appends a slash, so that the last part of the path is not replaced.
        base = parts._replace(path=parts.path.rstrip("/") + "/").geturl()
        try:
            return await hosts.client.get(
                urljoin(base, path),
                headers=_VERSION_HEADER,
                credentials=await self._credentials(source.hostname, base),
                policy=hosts.policy,
            )
        except NetFailure as failure:
            raise FetchError(self._refusal(source, failure)) from failure

    async def _credentials(self, hostname: str, url: str) -> Mapping[str, str]:
        try:
            return await self._hosts.headers(hostname, url)
        except (CredentialsError, HostError):
            # A public module needs no credentials; otherwise the registry reports it.
            return {}

    def _refusal(self, source: RegistrySource, failure: NetFailure) -> str:
        if isinstance(failure, StatusRefused) and failure.status in (401, 403):
            return f"{failure.text} {self._hosts.credentials.looked_in(source.hostname)}"
        return failure.text


def _indirect(source: RegistrySource, asked: str, text: str) -> RemoteSource:
    if not text:
        raise FetchError(
            f"{source.hostname} returned no location for the module. Contact the operator of the registry."
        )
    # Module registry protocol: only these beginnings make a location relative; all else is a
    # package address.
    if text.startswith(("/", "./", "../")):
        text = urljoin(asked, text)
    found = parse_module_source(text, Diagnostics())
    if not isinstance(found, RemoteSource):
        raise FetchError(
            f"{source.hostname} names a location of the module that is not the complete address of "
            "a package. Contact the operator of the registry."
        )
    return found


def _direct(
    source: RegistrySource, asked: str, text: str, use_credentials: object
) -> DirectPackage:
    url = urljoin(asked, text) if text else ""
    try:
        origin_of(url)
        is_valid = isinstance(use_credentials, bool) and "#" not in url
    except ValueError:
        is_valid = False
    if not is_valid:
        raise FetchError(
            f"{source.hostname} names a location of the module that cannot be used: it must be an "
            "http or https URL without a fragment, and use_registry_credentials true or false. "
            "Contact the operator of the registry."
        )
    return DirectPackage(url, source.hostname if use_credentials else "")


def _not_found(source: RegistrySource) -> str:
    what = f"The module registry {source.hostname} has no module {source.package_path}."
    if source.hostname == DEFAULT_REGISTRY_HOST:
        return (
            f"{what} Check its name. A module that should be there can be reported at "
            "https://github.com/opentofu/registry/issues."
        )
    return f"{what} Check its name, and whether you need credentials to see it."
