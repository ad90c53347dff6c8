"""Signed requests to AWS services, and the diagnosis of their error responses."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final

from nigari.clouds.aws.signing import Credentials, signed_headers
from nigari.clouds.failures import CloudFailure
from nigari.net.client import Client, Policy
from nigari.net.response import Response
from nigari.record import record

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_THROTTLED: Final = frozenset(
    (
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    )
)
_XML_MEMBER: Final = r"<{0}>\s*([^<]*?)\s*</{0}>"


@record
class AwsService:
    """An AWS service at its endpoint."""

    name: str
    """The service name in signatures."""
    region: str
    url: str


@record
class Refusal:
    """The error code and message of a response."""

    code: str
    message: str


Identity = Callable[[], Awaitable[Credentials]]
"""Provides credentials that are currently valid."""


class AwsClient:
    """Signs and sends requests over the caller's connection."""

    def __init__(self, client: Client, identity: Identity, policy: Policy) -> None:
        self._client = client
        self._identity = identity
        self._policy = policy

    async def send(
        self,
        service: AwsService,
        method: str,
        url: str,
        body: bytes = b"",
        headers: Mapping[str, str] = _NONE,
    ) -> Response:
        """Send a request; throttled requests are retried. Responses of any status are returned."""
        import asyncio

        attempt = 0
        while True:
            credentials = await self._identity()
            scope = service.region, service.name
            signed = signed_headers(method, url, headers, body, credentials, scope, signing_time())
            has_body = method in ("PUT", "POST")
            response = await self._client.request(
                method, url, headers=signed, body=body if has_body else None, policy=self._policy
            )
            is_throttled = response.status == 400 and refusal_of(response).code in _THROTTLED
            if not is_throttled or attempt >= self._policy.retries:
                return response
            await asyncio.sleep(min(self._policy.pause * 2.0**attempt, self._policy.longest_pause))
            attempt += 1

    async def call(
        self, service: AwsService, target: str, arguments: object
    ) -> Mapping[str, object]:
        """Call an operation of a service with a JSON protocol."""
        import json

        version = "1.0" if service.name == "dynamodb" else "1.1"
        response = await self.send(
            service,
            "POST",
            f"{service.url}/",
            json.dumps(arguments).encode(),
            {"content-type": f"application/x-amz-json-{version}", "x-amz-target": target},
        )
        if response.status != 200:
            raise failure_of(service.name, response)
        found = response.json()
        return found if isinstance(found, dict) else {}


def signing_time() -> str:
    """Format the current time for a signature."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


def refusal_of(response: Response) -> Refusal:
    """Extract the error from a response in JSON or XML."""
    text = response.body[: 1 << 16].decode("utf-8", "replace")
    if text.lstrip().startswith("{"):
        import json

        try:
            document = json.loads(text)
        except ValueError:
            document = {}
        code = str(document.get("__type") or document.get("code") or "")
        message = document.get("message") or document.get("Message") or ""
        return Refusal(code.rpartition("#")[2], str(message))
    code, message = (
        found[1] if (found := re.search(_XML_MEMBER.format(name), text)) else ""
        for name in ("Code", "Message")
    )
    return Refusal(code, message)


_EXPIRED: Final = "The credentials have expired: log in again, or get new ones."
_WRONG_KEY: Final = "Check the access key, its secret and the profile that are used."
_CLOCK: Final = "Set the clock of this machine."
_ADVICE: Final[Mapping[str, str]] = {
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "InvalidAccessKeyId": _WRONG_KEY,
    "InvalidClientTokenId": _WRONG_KEY,
    "SignatureDoesNotMatch": _WRONG_KEY,
    "UnrecognizedClientException": _WRONG_KEY,
    "InvalidSignatureException": _WRONG_KEY,
    "RequestTimeTooSkewed": _CLOCK,
}
"""Advice for each error code."""


def failure_of(service: str, response: Response) -> CloudFailure:
    """Describe an unexpected response as a failure."""
    refusal = refusal_of(response)
    name = {"dynamodb": "DynamoDB", "kms": "KMS"}.get(service, service.upper())
    what = f"{name} answered with status {response.status}"
    if refusal.code:
        what = f"{name} refuses: {refusal.code}"
    if refusal.message:
        what = f"{what}, {refusal.message.rstrip('.')}"
    advice = _ADVICE.get(refusal.code, "")
    region = response.headers.get("x-amz-bucket-region")
    if response.status in (301, 307, 400) and region:
        advice = f"The bucket is in the region {region}: set region to that."
    return CloudFailure(f"{what}. {advice}".rstrip(), refusal.code)
