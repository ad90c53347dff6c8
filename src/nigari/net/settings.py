"""Network settings from environment variables: proxies, certificates, and the user agent.

The variables and their meanings are those of Go programs. The caller passes the environment; the
process's own is never read.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit

from nigari.diagnostics.secret_urls import hidden_url
from nigari.net.failures import InvalidSettings
from nigari.net.urls import Origin
from nigari.record import record
from nigari.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from typing import Final

_BUNDLES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
_DIRECTORIES: Final = ("/etc/ssl/certs", "/etc/pki/tls/certs")
_BEGIN: Final = b"-----BEGIN CERTIFICATE-----"
_END: Final = b"-----END CERTIFICATE-----"
_PROXY_SCHEMES: Final = ("http", "https", "socks5", "socks5h")


@record
class Identity:
    """A client certificate with its key, in PEM."""

    certificate: str
    key: str


@record
class Settings:
    """Network settings from an environment."""

    user_agent: str = f"Nigari/{VERSION}"
    http_proxy: str = ""
    https_proxy: str = ""
    no_proxy: str = ""
    certificate_file: str = ""
    certificate_directories: tuple[str, ...] = ()
    certificates: str = ""
    """Trusted certificates in PEM, which replace all others."""
    identity: Identity | None = None
    checks_certificates: bool = True


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings from an environment."""
    more = environment.get("TF_APPEND_USER_AGENT", "").strip()
    # A CGI server sets HTTP_PROXY from a request header, so it is not trusted, as in Go.
    is_cgi = bool(environment.get("REQUEST_METHOD"))
    directories = environment.get("SSL_CERT_DIR", "")
    return Settings(
        user_agent=f"Nigari/{VERSION} {more}".rstrip(),
        http_proxy="" if is_cgi else _either(environment, "HTTP_PROXY"),
        https_proxy=_either(environment, "HTTPS_PROXY"),
        no_proxy=_either(environment, "NO_PROXY"),
        certificate_file=environment.get("SSL_CERT_FILE", ""),
        certificate_directories=tuple(each for each in directories.split(os.pathsep) if each),
    )


def proxy_for(origin: Origin, settings: Settings) -> str:
    """Return the URL of the proxy for an origin; empty for none."""
    text = settings.https_proxy if origin.scheme == "https" else settings.http_proxy
    if not text or not _is_proxied(origin, settings.no_proxy):
        return ""
    url = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in _PROXY_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise InvalidSettings(
            url,
            f"The environment names {hidden_url(url)} as a proxy, which is not the URL of one.",
            "Set HTTPS_PROXY and HTTP_PROXY to a URL such as http://proxy.example.com:3128.",
        )
    return url


def trust(settings: Settings) -> ssl.SSLContext:
    """Create a TLS context that trusts the configured certificates, by default those of the system."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if settings.identity is not None:
        _prove(context, settings.identity)
    if not settings.checks_certificates:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    if settings.certificates:
        return _with_only(context, settings.certificates)
    file = settings.certificate_file
    directories = settings.certificate_directories
    if not file and not directories and sys.platform in ("darwin", "win32"):
        return _with_system_store(context)
    if not file:
        file = next((path for path in _BUNDLES if os.path.isfile(path)), "")
    try:
        if file:
            context.load_verify_locations(cafile=file)
    except (OSError, ssl.SSLError) as error:
        is_other = isinstance(error, ssl.SSLError)
        reason = "it contains no valid PEM certificate" if is_other else error.strerror or error
        raise InvalidSettings(
            "",
            f"The file of certificates {file} cannot be used: {reason}.",
            "Set SSL_CERT_FILE to a file of PEM certificates, or unset it.",
        ) from error
    for directory in directories:
        _trust_all_in(context, directory)
    for directory in () if directories else _DIRECTORIES:
        if os.path.isdir(directory):
            context.load_verify_locations(capath=directory)
    if not file and not directories and not any(map(os.path.isdir, _DIRECTORIES)):
        return _with_system_store(context)
    return context


def _trust_all_in(context: ssl.SSLContext, directory: str) -> None:
    """Trust the certificates in a directory, regardless of their file names.

    OpenSSL would find only those named by the hash of their subject.
    """
    import ssl

    # Most certificates have several names there, and are part of a bundle as well.
    found: dict[bytes, None] = {}
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
        path = os.path.join(directory, name)
        with contextlib.suppress(OSError):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found.update(dict.fromkeys(_certificates(file.read())))
    for certificate in found:
        # A file may look like a certificate without being one.
        with contextlib.suppress(ssl.SSLError, ValueError):
            context.load_verify_locations(cadata=certificate.decode("ascii"))


def _certificates(text: bytes) -> list[bytes]:
    """Split a text into its PEM certificates."""
    parts = text.split(_BEGIN)[1:]
    return [_BEGIN + part.partition(_END)[0] + _END + b"\n" for part in parts if _END in part]


def _with_only(context: ssl.SSLContext, certificates: str) -> ssl.SSLContext:
    import ssl

    try:
        context.load_verify_locations(cadata=certificates)
    except (ssl.SSLError, ValueError) as error:
        raise InvalidSettings(
            "",
            f"The certificates to be trusted cannot be read: {error}.",
            "Give certificates in PEM.",
        ) from error
    return context


def _prove(context: ssl.SSLContext, identity: Identity) -> None:
    """Use a client certificate. The ssl module only reads it from a file."""
    import ssl
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "identity.pem")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{identity.key}\n{identity.certificate}\n")
        try:
            context.load_cert_chain(path)
        except (OSError, ssl.SSLError, ValueError) as error:
            raise InvalidSettings(
                "",
                f"The client certificate and its key cannot be used: {error}.",
                "Give a certificate and the private key that belongs to it, both in PEM.",
            ) from error


def _with_system_store(context: ssl.SSLContext) -> ssl.SSLContext:
    context.load_default_certs()
    if not context.cert_store_stats()["x509_ca"]:
        import certifi

        context.load_verify_locations(cafile=certifi.where())
    return context


def _either(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name) or environment.get(name.lower(), "")


def _is_proxied(origin: Origin, exceptions: str) -> bool:
    from ipaddress import ip_address, ip_network

    host = origin.host.rstrip(".")
    if host == "localhost":
        return False
    try:
        address = ip_address(host)
    except ValueError:
        address = None
    if address is not None and address.is_loopback:
        return False
    for entry in (each.strip().lower() for each in exceptions.split(",")):
        if entry == "*":
            return False
        if address is not None and "/" in entry:
            try:
                if address in ip_network(entry, strict=False):
                    return False
            except ValueError:
                continue
        name, _, port = entry.rpartition(":") if entry.count(":") == 1 else (entry, "", "")
        if not name or (port and port != str(origin.port)):
            continue
        suffix = name.removeprefix("*")
        if host == suffix.removeprefix(".") and not suffix.startswith("."):
            return False
        if address is None and host.endswith(suffix if suffix[0] == "." else f".{suffix}"):
            return False
    return True
