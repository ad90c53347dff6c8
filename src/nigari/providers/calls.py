"""Plugin calls over the connection, and the diagnosis of their failures.

A failed call raises an exception with diagnostics, so that `client` can handle it in one place per
operation. A missing method is distinguished from a failure.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from google.protobuf.message import DecodeError, Message

from nigari.diagnostics import Severity
from nigari.providers.api import ProviderDiagnostic, ProviderDiagnostics
from nigari.providers.launch import Plugin
from nigari.providers.wire.protocol import MAX_MESSAGE, method_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    import grpc
    import grpc.aio

    _M = TypeVar("_M", bound=Message)


# The codes of gRPC for a connection that broke, as opposed to an answer of the plugin.
_LOST_CONNECTION: Final = ("UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED")


class CallFailed(Exception):
    """A call without a response; the diagnostics have the reason."""

    def __init__(self, diagnostics: ProviderDiagnostics) -> None:
        super().__init__(diagnostics[0].summary)
        self.diagnostics = diagnostics


class NotOffered(CallFailed):
    """A method that the plugin does not have."""


class Calls:
    """The methods of one plugin."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._methods: dict[str, grpc.aio.UnaryUnaryMultiCallable[Message, bytes]] = {}

    async def call(
        self,
        method: str,
        request: Message,
        response: type[_M],
        within: float | None = None,
        largest: int = MAX_MESSAGE,
    ) -> _M:
        """Send a request and wait for the response."""
        import grpc.aio

        multi = self._methods.get(method)
        if multi is None:
            multi = self._plugin.channel.unary_unary(
                method_path(self._plugin.protocol, method),
                request_serializer=type(request).SerializeToString,
                response_deserializer=None,
            )
            self._methods[method] = multi
        try:
            data = await multi(request, timeout=within)
            if len(data) > largest:
                raise CallFailed((_too_large(self._plugin.name, method, largest),))
            # Parsed here, because gRPC hides why a response is invalid.
            return response.FromString(data)
        except grpc.aio.AioRpcError as error:
            raise await self._failed(method, error) from None
        except grpc.aio.UsageError as error:
            raise CallFailed((_unusable(self._plugin.name, str(error)),)) from None
        except DecodeError:
            raise CallFailed((_unreadable(self._plugin.name, method),)) from None

    async def stream(self, method: str, request: Message, response: type[_M]) -> AsyncIterator[_M]:
        """Send a request and yield the messages of the response as they arrive.

        A caller that stops early cancels the call.
        """
        import grpc.aio

        multi = self._plugin.channel.unary_stream(
            method_path(self._plugin.protocol, method),
            request_serializer=type(request).SerializeToString,
            response_deserializer=None,
        )
        try:
            call = multi(request)
            try:
                async for data in call:
                    yield response.FromString(data)
            finally:
                # Protocol: the caller ends a stream by cancelling it, for example
                # at the limit of a list.
                call.cancel()
        except grpc.aio.AioRpcError as error:
            raise await self._failed(method, error) from None
        except grpc.aio.UsageError as error:
            raise CallFailed((_unusable(self._plugin.name, str(error)),)) from None
        except DecodeError:
            raise CallFailed((_unreadable(self._plugin.name, method),)) from None

    async def _failed(self, method: str, error: grpc.aio.AioRpcError) -> CallFailed:
        code = error.code().name
        # gRPC: an unknown method. Protocols grow by methods, which older plugins lack.
        if code == "UNIMPLEMENTED":
            return NotOffered((_not_offered(self._plugin.name, method),))
        if code in _LOST_CONNECTION:
            reason = error.details() or code.lower()
            return CallFailed((await self._plugin.failure(reason),))
        if code == "RESOURCE_EXHAUSTED" and "larger than max" in (error.details() or ""):
            return CallFailed((_too_large(self._plugin.name, method, MAX_MESSAGE),))
        return CallFailed((_refused(self._plugin.name, method, code, error.details() or ""),))


def _not_offered(name: str, method: str) -> ProviderDiagnostic:
    return ProviderDiagnostic(
        Severity.ERROR,
        "Operation not supported by the provider",
        f"The plugin {name} does not support the operation {method}. A newer version of the "
        "provider may support it.",
    )


def _refused(name: str, method: str, code: str, details: str) -> ProviderDiagnostic:
    return ProviderDiagnostic(
        Severity.ERROR,
        "Provider plugin error",
        f"The plugin {name} failed in {method} with {code}: {details}",
    )


def _unusable(name: str, reason: str) -> ProviderDiagnostic:
    return ProviderDiagnostic(
        Severity.ERROR,
        "Provider plugin not available",
        f"The plugin {name} has already been closed: {reason}.",
        about_provider=True,
    )


def _unreadable(name: str, method: str) -> ProviderDiagnostic:
    return ProviderDiagnostic(
        Severity.ERROR,
        "Unreadable response from the provider",
        f"The response of the plugin {name} to {method} is not a valid message of the plugin protocol."
        " This is a bug in the provider.",
    )


def _too_large(name: str, method: str, largest: int) -> ProviderDiagnostic:
    return ProviderDiagnostic(
        Severity.ERROR,
        "Provider response too large",
        f"The response of the plugin {name} to {method} has more than the {largest} bytes that are"
        " accepted. This is a bug in the provider.",
    )
