"""Downloads of provider packages, and the wording of their failures."""

from __future__ import annotations

from pathlib import Path

from nigari.diagnostics.secret_urls import hidden_url
from nigari.net.failures import NetFailure, StatusRefused, WrongContent
from nigari.net.urls import user_of
from nigari.packages.hosts.network import Network
from nigari.packages.providers.provider_sources import Progress, ProviderSourceError
from nigari.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.packages.hosts.host_credentials import HostCredentials

UNREACHABLE: Final = "Cannot query a provider source"
_FAILED: Final = "Cannot download a provider"
INVALID: Final = "Invalid provider package"
_RETRIES: Final = 2
_LARGEST: Final = 1 << 32


async def download(
    network: Network,
    url: str,
    path: Path,
    what: str,
    retries: int | None,
    size: int | None,
    progress: Progress,
) -> str:
    """Download an archive to a file; return its SHA-256, hexadecimal."""
    from nigari.net.client import DOWNLOAD, Expected

    hosts = await network.hosts()
    policy = replace(DOWNLOAD, retries=_retries(network, retries), limit=_LARGEST)
    try:
        async with network.downloading():
            done = await hosts.client.download(
                url, path, policy=policy, expected=Expected(size), progress=progress
            )
    except WrongContent as failure:
        raise ProviderSourceError(
            f"{what} was not installed. {text(failure)}", INVALID
        ) from failure
    except NetFailure as failure:
        raise ProviderSourceError(
            f"{what} cannot be downloaded. {text(failure)}{_without_credentials(failure)}", _FAILED
        ) from failure
    except OSError as error:
        raise ProviderSourceError(
            f"{what} cannot be written to {path.parent}: {error.strerror or error}",
            "Cannot install a provider",
        ) from error
    if done.headers.get("content-type", "").startswith("text/html"):
        raise ProviderSourceError(
            f"{what} cannot be downloaded: {failure_url(url)} returned a web page instead of an "
            "archive. If this network asks you to log in on a web page first, do that and try "
            "again",
            _FAILED,
        )
    return done.digests["sha256"]


def _without_credentials(failure: NetFailure) -> str:
    """Explain that archives are requested without credentials, if the server demands them."""
    is_refused = isinstance(failure, StatusRefused) and failure.status in (401, 403)
    if not is_refused or user_of(failure.url) is not None:
        return ""
    return (
        ". Archives are requested without credentials; those of a host are for its lists and "
        "descriptions of packages. The server must serve the archive without authentication"
    )


def _retries(network: Network, configured: int | None) -> int:
    given = network.environment.get("TF_PROVIDER_DOWNLOAD_RETRY", "")
    if configured is not None:
        return configured
    return int(given) if given.isascii() and given.isdigit() else _RETRIES


def failed(what: str, failure: NetFailure) -> ProviderSourceError:
    """Describe a failed request."""
    return ProviderSourceError(f"{what}. {text(failure)}", UNREACHABLE)


def refused(
    failure: StatusRefused, who: str, credentials: HostCredentials, host: str
) -> ProviderSourceError:
    """Describe a request that the server refused, with the places searched for credentials if they
    may be the reason.
    """
    if failure.status not in (401, 403):
        return failed(f"{who} cannot be queried", failure)
    return ProviderSourceError(
        f"{who} denied access. {failure.what} {credentials.looked_in(host)}".rstrip("."),
        "Access to a provider source denied",
    )


def text(failure: NetFailure) -> str:
    """Return the failure's text without its full stop."""
    return failure.text.rstrip(".")


def failure_url(url: str) -> str:
    return hidden_url(url)


def text_of(data: bytes) -> str:
    """Decode bytes that should be ASCII."""
    return data.decode("ascii", "replace")
