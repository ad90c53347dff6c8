"""The base of the backends `cos` and `oss`: states as objects of a bucket, over signed requests.

The only conditional write of their services is one that replaces nothing. Before a replacement,
the object is therefore compared with the one that was read.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import quote, urlencode

from nigari.backends.protocol import DEFAULT_WORKSPACE
from nigari.backends.store import ABSENT, BackendFailure, Content, ContentChanged
from nigari.backends.stores.http_store import STATE_LIMIT, HttpStore
from nigari.net.client import Policy
from nigari.net.response import Response
from nigari.net.settings import Settings
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_POLICY: Final = Policy(retries=4, timeout=300.0, limit=STATE_LIMIT)
_KEY: Final = re.compile(r"<Key>([^<]*)</Key>")
_CODE: Final = re.compile(r"<Code>([^<]*)</Code>")
_MESSAGE: Final = re.compile(r"<Message>([^<]*)</Message>")
_NEXT: Final = re.compile(r"<NextMarker>([^<]+)</NextMarker>")
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@record
class BucketLayout:
    """The location of the states."""

    url: str
    """That of the bucket, without a slash at the end."""
    bucket: str
    prefix: str
    key: str

    def object_of(self, workspace: str) -> str:
        """The key of the object with the state of a workspace."""
        name = "" if workspace == DEFAULT_WORKSPACE else workspace
        return "/".join(filter(None, (self.prefix.strip("/"), name, self.key)))

    def workspace_of(self, key: str) -> str | None:
        """The workspace whose state an object is; None if it is something else."""
        prefix = f"{self.prefix.strip('/')}/" if self.prefix.strip("/") else ""
        name, slash, rest = key.removeprefix(prefix).partition("/")
        is_state = key.startswith(prefix) and slash and rest == self.key
        return name if is_state and name else None


class BucketStore(HttpStore):
    """States in a bucket."""

    has_workspaces: Final = True

    def __init__(
        self, settings: Settings, layout: BucketLayout, headers: Mapping[str, str]
    ) -> None:
        """`headers` are those of everything that is stored."""
        super().__init__(settings)
        self.layout: BucketLayout = layout
        self._headers = headers

    def location(self, workspace: str) -> str:
        return f"{self.layout.bucket}/{self.layout.object_of(workspace)}"

    @abstractmethod
    async def sign(
        self, method: str, url: str, key: str, headers: Mapping[str, str]
    ) -> Mapping[str, str]:
        """The headers of a request with its signature; no key is the bucket itself."""

    @property
    @abstractmethod
    def keeps_others(self) -> Mapping[str, str]:
        """The headers by which nothing is replaced."""

    # -- contents -------------------------------------------------------------------------------

    async def names(self) -> Sequence[str]:
        from html import unescape

        found, marker = [], ""
        while True:
            query = {"max-keys": "1000", "prefix": self.layout.prefix.strip("/")}
            query |= {"marker": marker} if marker else {}
            response = self.required(await self.ask("GET", "", query=query), 200)
            text = response.body.decode("utf-8", "replace")
            for each in _KEY.findall(text):
                name = self.layout.workspace_of(unescape(each))
                if name is not None:
                    found.append(name)
            following = _NEXT.search(text)
            if following is None:
                return found
            marker = unescape(following[1])

    async def read(self, workspace: str) -> Content | None:
        response = await self.get(self.layout.object_of(workspace))
        if response is None or not response.body:
            return None
        return Content(response.body, response.headers.get("etag"))

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        key = self.layout.object_of(workspace)
        if expected:
            head = await self.ask("HEAD", key)
            if head.status != 404 and self.required(head, 200).headers.get("etag") == expected:
                return (await self.put(key, data)).headers.get("etag")
            return await self._settle(key, data)
        more = self.keeps_others if expected == ABSENT else _NOTHING
        response = await self._put(key, data, more)
        if response.status == 409 and expected == ABSENT:
            return await self._settle(key, data)
        return self.required(response, 200).headers.get("etag")

    async def _settle(self, key: str, data: bytes) -> str | None:
        """A write was refused. It may be ours, made by an attempt whose answer was lost."""
        found = await self.get(key)
        if found is None or found.body != data:
            raise ContentChanged(
                "Another run has changed the state since it was read, so it was not replaced."
            )
        return found.headers.get("etag")

    async def delete(self, workspace: str) -> None:
        await self.remove(self.layout.object_of(workspace))

    # -- objects --------------------------------------------------------------------------------

    async def get(self, key: str) -> Response | None:
        """An object, if there is one."""
        response = await self.ask("GET", key)
        if response.status == 404 and _code(response) != "NoSuchBucket":
            return None
        return self.required(response, 200)

    async def put(self, key: str, data: bytes) -> Response:
        """Store an object, whatever was there."""
        return self.required(await self._put(key, data, _NOTHING), 200)

    async def _put(self, key: str, data: bytes, more: Mapping[str, str]) -> Response:
        return await self.ask("PUT", key, data, {**self._headers, **self.described(data), **more})

    def described(self, data: bytes) -> Mapping[str, str]:
        """The headers that depend on what is stored."""
        return _NOTHING

    async def remove(self, key: str) -> None:
        """Delete an object, if there is one."""
        response = await self.ask("DELETE", key)
        if response.status != 404:
            self.required(response, 200, 204)

    async def ask(
        self,
        method: str,
        key: str,
        body: bytes | None = None,
        headers: Mapping[str, str] = _NOTHING,
        query: Mapping[str, str] = _NOTHING,
    ) -> Response:
        """The answer to a signed request, whatever its status."""
        url = f"{self.layout.url}/{quote(key, safe='/-_.~')}"
        url += f"?{urlencode(sorted(query.items()))}" if query else ""
        signed = await self.sign(method, url, key, headers)
        return await self.client.request(method, url, headers=signed, body=body, policy=_POLICY)

    def required(self, response: Response, *statuses: int) -> Response:
        """The answer, if its status is one of these."""
        if response.status in statuses:
            return response
        code = _code(response)
        if code == "NoSuchBucket":
            raise BackendFailure(f'There is no bucket "{self.layout.bucket}". Create it first.')
        message = _MESSAGE.search(response.body.decode("utf-8", "replace"))
        if code:
            said = f": {message[1]}" if message else "."
            raise BackendFailure(f"The service refuses with {code}{said}")
        raise response.refusal()


def _code(response: Response) -> str:
    found = _CODE.search(response.body.decode("utf-8", "replace"))
    return found[1] if found else ""
