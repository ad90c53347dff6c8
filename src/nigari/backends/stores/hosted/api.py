"""Requests to the API: where it is, who asks, and JSON:API documents both ways.

What is asked for, and what the answers mean, is not known here.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from types import MappingProxyType
from urllib.parse import urlencode, urlsplit

from nigari.addrs.hostname import normalize_hostname
from nigari.backends.store import BackendFailure
from nigari.backends.stores.http_store import STATE_LIMIT
from nigari.diagnostics import Diagnostics
from nigari.net.client import Policy
from nigari.record import record
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.net.client import Client
    from nigari.net.response import Response
    from nigari.packages.hosts.network import Network

_JSON_API: Final = "application/vnd.api+json"
_POLICY: Final = Policy(retries=4, timeout=300.0, limit=STATE_LIMIT)
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@record
class HostedService:
    """Which service is asked, and as whom."""

    hostname: str
    token: str
    """Empty for the one of the CLI configuration."""
    id: str
    """The name under which the host offers it."""
    headers: Mapping[str, str] = _NOTHING


@record
class ApiResource:
    """One resource of a document."""

    id: str
    attributes: Mapping[str, object]

    def text(self, name: str) -> str:
        """A text among the attributes; empty if there is none."""
        found = self.attributes.get(name)
        return found if isinstance(found, str) else ""


class HostedApi:
    """A connection to the API. What was found out about the host is kept when it is closed."""

    def __init__(self, service: HostedService, environ: Mapping[str, str]) -> None:
        name = normalize_hostname(service.hostname)
        if name is None:
            raise BackendFailure(f'"{service.hostname}" is not a valid host name.')
        self.host = name
        self._service = service
        self._environ = environ
        self._network: Network | None = None
        self._url = ""
        self._token = service.token

    def open(self) -> None:
        """Be ready for requests; nothing is connected before the first one."""
        from nigari.packages.hosts.cli_config_files import load_cli_config
        from nigari.packages.hosts.network import Network

        problems = Diagnostics()
        config = load_cli_config(self._environ, problems)
        if problems.has_errors:
            # A token may be in what cannot be read.
            raise BackendFailure(problems.in_order()[0].detail)
        self._network = Network(config, self._environ)

    async def close(self) -> None:
        if self._network is not None:
            network, self._network = self._network, None
            await network.close()

    async def resource(self, path: str, query: Mapping[str, str] = _NOTHING) -> ApiResource | None:
        """A resource; None if there is none, or none that may be seen."""
        response = await self.request("GET", path, query=query)
        if response.status == 404:
            return None
        return one(response.require(200))

    async def resources(
        self, path: str, query: Mapping[str, str] = _NOTHING
    ) -> AsyncIterator[ApiResource]:
        """All resources of a list, page by page."""
        page: object = 0
        while True:
            asked = {**query, "page[number]": str(page)} if page else query
            document = _document(await self.request("GET", path, query=asked))
            items = document.get("data")
            for each in items if isinstance(items, list) else ():
                yield _resource(each)
            meta = document.get("meta")
            pages = meta.get("pagination") if isinstance(meta, dict) else None
            page = pages.get("next-page") if isinstance(pages, dict) else None
            if not page:
                return

    async def request(
        self,
        method: str,
        path: str,
        document: Mapping[str, object] | None = None,
        query: Mapping[str, str] = _NOTHING,
    ) -> Response:
        """The answer of any status but those that concern all requests."""
        client = await self._connected()
        url = f"{self._url}{path}{'?' if query else ''}{urlencode(query)}"
        headers = {"accept": _JSON_API, "x-terraform-version": OPENTOFU_VERSION}
        body = None
        if document is not None:
            headers["content-type"] = _JSON_API
            body = json.dumps(document).encode()
        response = await client.request(
            method,
            url,
            headers={**headers, **self._service.headers},
            credentials=self._credentials,
            body=body,
            policy=_POLICY,
        )
        if response.status == 401:
            raise BackendFailure(
                f'{self.host} refuses the token. Run "nigari login {self.host}" for a new one.'
            )
        return response

    async def download(self, url: str) -> bytes:
        """The content behind a URL that the API gave."""
        client = await self._connected()
        secrets = self._credentials if _origin(url) == _origin(self._url) else _NOTHING
        response = await client.get(
            url, headers={"accept": "application/json"}, credentials=secrets, policy=_POLICY
        )
        return response.require(200).body

    async def upload(self, url: str, data: bytes) -> None:
        """Put a content where the API wants it; anyone who knows the URL may do so."""
        client = await self._connected()
        (await client.request("PUT", url, body=data, policy=_POLICY)).require()

    @property
    def _credentials(self) -> Mapping[str, str]:
        return {"authorization": f"Bearer {self._token}"}

    async def _connected(self) -> Client:
        """The client, once it is known where the API is and who we are."""
        from nigari.packages.hosts.host_credentials import CredentialsError, variable_name
        from nigari.packages.hosts.hosts import HostError

        assert self._network is not None, "the store is not open"
        hosts = await self._network.hosts()
        try:
            if not self._url:
                found = await hosts.host(self.host)
                url = f"{found.url(self._service.id).rstrip('/')}/"
                reason = found.withholds(url)
                if reason:
                    raise BackendFailure(f"{reason}, so no token is sent there.")
                self._url = url
            if not self._token:
                self._token = await hosts.credentials.token(self.host) or ""
        except (HostError, CredentialsError) as error:
            raise BackendFailure(str(error)) from None
        if not self._token:
            raise BackendFailure(
                f'There is no token for {self.host}. Run "nigari login {self.host}", or set the '
                f"environment variable {variable_name(self.host)}."
            )
        return hosts.client


def document(
    type_: str, attributes: Mapping[str, object], **relations: object
) -> dict[str, object]:
    """A document with one resource."""
    data: dict[str, object] = {"type": type_, "attributes": attributes}
    if relations:
        data["relationships"] = {name: {"data": value} for name, value in relations.items()}
    return {"data": data}


def one(response: Response) -> ApiResource:
    """The resource of an answer."""
    return _resource(_document(response).get("data"))


def _document(response: Response) -> Mapping[str, object]:
    found = response.require().json()
    if not isinstance(found, dict):
        raise BackendFailure("The service answered with something that is not a JSON:API document.")
    return found


def _resource(data: object) -> ApiResource:
    if isinstance(data, dict) and isinstance(data.get("id"), str):
        attributes = data.get("attributes")
        return ApiResource(data["id"], attributes if isinstance(attributes, dict) else {})
    raise BackendFailure("The service answered with something that is not a JSON:API resource.")


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
