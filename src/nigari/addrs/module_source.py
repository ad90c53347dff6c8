"""Module sources: the values of the `source` argument of `module` blocks.

A source is a path within the calling module's own package, an address in a module registry, or a
remote package. The form of the text alone decides which; nothing is downloaded or read. Either of
the last two may select a directory inside the package with `//`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from posixpath import join, normpath

from nigari.addrs.address import Address
from nigari.addrs.detection import SourceError, detect_package, parse_forced_getter
from nigari.addrs.hostname import normalize_hostname
from nigari.addrs.provider import DEFAULT_REGISTRY_HOST
from nigari.diagnostics import Diagnostics, Range
from nigari.diagnostics.secret_urls import hidden_url
from nigari.hcl.quoting import quoted
from nigari.hcl.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


_LOCAL_PREFIXES = ("./", "../", ".\\", "..\\")
_REGISTRY_NAME = r"[0-9A-Za-z](?:[0-9A-Za-z_-]{0,62}[0-9A-Za-z])?"
_TARGET_SYSTEM = r"[0-9a-z]{1,64}"
_VERSION_CONTROL_HOSTS = ("github.com", "bitbucket.org")


class LocalSource(Address):
    """A directory in the calling module's own package: `./modules/network`, `../shared`."""

    __slots__ = ()

    def __init__(self, path: str) -> None:
        self.text = path

    @property
    def path(self) -> str:
        """The path from the calling module's directory; it always begins with a dot."""
        return self.text

    @property
    def display(self) -> str:
        """The source in its usual spelling."""
        return self.text


class RegistrySource(Address):
    """A module in a registry: `hashicorp/consul/aws//modules/server`."""

    __slots__ = ("hostname", "name", "namespace", "subdir", "target_system")

    hostname: str
    namespace: str
    name: str
    target_system: str
    subdir: str

    def __init__(
        self, hostname: str, namespace: str, name: str, target_system: str, subdir: str = ""
    ) -> None:
        self.hostname = hostname
        self.namespace = namespace
        self.name = name
        self.target_system = target_system
        self.subdir = subdir
        self.text: str = f"{hostname}/{self.package_path}" + (f"//{subdir}" if subdir else "")

    @property
    def package_path(self) -> str:
        """The package in the registry protocol, without the host."""
        return f"{self.namespace}/{self.name}/{self.target_system}"

    @property
    def package(self) -> str:
        """The package without the directory inside it."""
        return f"{self.hostname}/{self.package_path}"

    @property
    def display(self) -> str:
        """The source in its usual spelling, without the default registry's hostname."""
        if self.hostname == DEFAULT_REGISTRY_HOST:
            return self.text.removeprefix(f"{DEFAULT_REGISTRY_HOST}/")
        return self.text


class RemoteSource(Address):
    """A remote package: `git::https://example.com/net.git//vpc?ref=v1`."""

    __slots__ = ("package", "subdir")

    package: str
    """Package address, with its query string and without the directory inside it."""
    subdir: str

    def __init__(self, package: str, subdir: str = "") -> None:
        self.package = package
        self.subdir = subdir
        self.text: str = package
        if subdir:
            base, question, query = package.partition("?")
            self.text = f"{base}//{subdir}{question}{query}"

    @property
    def getter(self) -> str:
        """The getter that downloads the package: the prefix before `::`, or else the URL scheme."""
        forced, url = parse_forced_getter(self.package)
        return forced or url.partition(":")[0].lower()

    @property
    def url(self) -> str:
        """The package URL without the prefix that names its getter."""
        return parse_forced_getter(self.package)[1]

    @property
    def display(self) -> str:
        """The source with the secrets in its URL redacted."""
        return hidden_url(self.text)


ModuleSource: TypeAlias = LocalSource | RegistrySource | RemoteSource


def parse_module_source(
    text: str, diags: Diagnostics, subject: Range | None = None
) -> ModuleSource | None:
    """Parse the value of a `source` argument.

    `subject` is its range in the configuration; without it, diagnostics point into the text.
    """
    if text.startswith(_LOCAL_PREFIXES):
        return _local_source(text)
    registry_error: SourceError
    try:
        return _registry_source(text)
    except SourceError as error:
        registry_error = error
    try:
        return _remote_source(text)
    except SourceError as error:
        chosen = error
        if error.is_guess and registry_error.is_likely:
            chosen = registry_error
        _report_source(text, chosen, diags, subject)
        return None


def parse_registry_source(
    text: str, diags: Diagnostics, subject: Range | None = None
) -> RegistrySource | None:
    """Parse a source that must be a module registry address."""
    try:
        if text.startswith(_LOCAL_PREFIXES):
            raise SourceError("A local directory is not a module registry address.")
        return _registry_source(text)
    except SourceError as error:
        _report_source(text, error, diags, subject)
        return None


def _local_source(text: str) -> LocalSource:
    return LocalSource(_with_local_prefix(normpath(text.replace("\\", "/"))))


def _with_local_prefix(path: str) -> str:
    return path if path.startswith("../") else f"./{path}"


def split_subdir(text: str) -> tuple[str, str]:
    """Split off the directory inside the package after `//`; a query stays with the package."""
    address, question, query = text.partition("?")
    scheme = address.find("://")
    start = 0 if scheme < 0 else scheme + 3
    cut = address.find("//", start)
    if cut < 0:
        return text, ""
    package = address[:cut] + question + query
    subdir = address[cut:].strip("/")
    if not subdir:
        return package, ""
    clean = normpath(subdir)
    if clean == ".." or clean.startswith("../"):
        raise SourceError(
            f"The directory {quoted(subdir)} after // is outside the package.",
            start=cut + 2,
            end=len(address),
        )
    return package, clean


@lru_cache(maxsize=1024)
def _registry_source(text: str) -> RegistrySource:
    """Parse a module registry address; the result is cached, as calls often share one."""
    package, subdir = split_subdir(text)
    parts = package.split("/")
    if len(parts) not in (3, 4):
        raise SourceError(
            "A module registry address has three parts, NAMESPACE/NAME/SYSTEM, preceded by the "
            "hostname if it is not the default registry."
        )
    hostname = DEFAULT_REGISTRY_HOST
    offset = 0
    if len(parts) == 4:
        offset = len(parts[0]) + 1
        hostname = _registry_hostname(parts.pop(0))
    namespace, name, system = parts
    if re.fullmatch(_REGISTRY_NAME, namespace) is None:
        if "." in namespace:
            raise SourceError(
                f"The hostname {quoted(namespace)} must be followed by three parts: "
                "NAMESPACE/NAME/SYSTEM. For a git repository, write "
                f"git::https://{package}.git.",
                is_likely=True,
            )
        raise _bad_registry_name("namespace", namespace, offset)
    offset += len(namespace) + 1
    if re.fullmatch(_REGISTRY_NAME, name) is None:
        raise _bad_registry_name("module name", name, offset)
    offset += len(name) + 1
    if re.fullmatch(_TARGET_SYSTEM, system) is None:
        raise _bad_target_system(system, offset)
    return RegistrySource(hostname, namespace, name, system, subdir)


def _registry_hostname(given: str) -> str:
    hostname = normalize_hostname(given)
    if hostname is None or "." not in hostname:
        raise SourceError(
            f"{quoted(given)} is not the hostname of a module registry. It must contain a dot, "
            "and an international name must be written in its own letters, not in punycode.",
            end=len(given),
            is_likely=True,
        )
    if hostname in _VERSION_CONTROL_HOSTS:
        raise SourceError(
            f"{hostname} is not a module registry: such an address refers to a repository.",
            end=len(given),
        )
    return hostname


def _bad_registry_name(what: str, given: str, start: int) -> SourceError:
    return SourceError(
        f"{quoted(given)} is not a valid {what} in a registry address: it must have 1 to 64 "
        "letters, digits, dashes and underscores, and begin and end with a letter or digit.",
        start=start,
        end=start + len(given),
        is_likely=True,
    )


def _bad_target_system(given: str, start: int) -> SourceError:
    system, question, query = given.partition("?")
    if question:
        return SourceError(
            f'A registry address cannot have a query ("?{query}"). Select a version with the '
            "version argument of the module block.",
            start=start + len(system),
            end=start + len(given),
            is_likely=True,
        )
    return SourceError(
        f"{quoted(given)} is not a valid target system in a registry address: it must have 1 to "
        "64 lower-case letters and digits.",
        start=start,
        end=start + len(given),
        is_likely=True,
    )


def _remote_source(text: str) -> RemoteSource:
    package, subdir = split_subdir(text)
    detected, inner = split_subdir(detect_package(package))
    return RemoteSource(detected, join(inner, subdir) if subdir else inner)


def _report_source(
    text: str, error: SourceError, diags: Diagnostics, subject: Range | None
) -> None:
    if subject is None:
        end = len(text) if error.end is None else error.end
        subject = Source("", text).range(error.start, end)
    diags.error(
        "Invalid module source",
        f"{quoted(hidden_url(text))} is not a valid module source. {error.reason}",
        subject,
    )
