"""Provider-defined functions, called during evaluation.

An expression cannot wait. A call without a result evaluates to an unknown value and becomes a
dependency of the expression; once the provider has responded, the expression is evaluated again.
Functions are pure, so one result serves all calls with the same arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.provider import Provider
from nigari.addrs.values import ProviderFunction
from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.types import DYNAMIC, Type
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import FAILED, Frame
from nigari.eval.core.worklist import DONE, Need
from nigari.eval.nodes.provider_config import provider_of
from nigari.hcl.suggestion import did_you_mean
from nigari.lang.references import Reference
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.running.deferrals import Deferral
from nigari.running.provider_instances import ProviderInstances
from nigari.running.provider_node import ProviderNode
from nigari.running.provider_pool import ProviderPool
from nigari.running.requests import ProviderRequest
from nigari.schema.provider import FunctionSignature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST_UNREAD: Final = 1000
"""Maximum of unread results. Results are read as soon as they exist; if many are not, the arguments
change with each evaluation.
"""

Callee = Provider | ProviderNode
"""The called provider: one without configuration, or a configured instance."""


class FunctionCalls:
    """The calls of one run, and their results."""

    def __init__(
        self, pool: ProviderPool, providers: ProviderInstances | None, diags: Diagnostics
    ) -> None:
        self.pool = pool
        self.diags = diags
        self.answers: dict[PendingCall, api.CallResponse] = {}
        self.failed: set[PendingCall] = set()
        """Calls of unavailable providers, which have been reported."""
        self.unread: set[PendingCall] = set()
        """Calls whose results have not been read."""
        self.functions: dict[ProviderNode, Mapping[str, FunctionSignature]] = {}
        """Functions of configured instances, if they had to be listed."""
        self._providers = providers
        """Provider instances; None if no provider is configured."""
        self._loading: dict[Provider, LoadSchema] = {}

    def function(
        self,
        frame: Frame,
        function: ProviderFunction,
        reference: Reference,
        needs: list[Need],
        diags: Diagnostics,
    ) -> Function:
        """Look up a function by name, and report mistakes in the call."""
        from nigari.eval.nodes.provider_functions import (
            deferred_function,
            provider_parameter,
            report_no_provider,
        )

        unknown_function = deferred_function(function, None)
        if function.provider not in frame.module.required_providers:
            report_no_provider(function, frame, reference, diags)
            return unknown_function
        callee = self._callee(frame, function, reference, needs, diags)
        signature = None
        if isinstance(callee, ProviderNode) and callee.deferral is not None:
            return _left_for_later(callee.deferral)
        if callee is not None:
            signature = self._signature(callee, function.function, needs)
        if callee is None or signature is None:
            if callee is not None and not needs:
                self._report_unknown(callee, function, reference)
            return unknown_function
        variadic = signature.variadic
        return Function(
            tuple(provider_parameter(each) for each in signature.parameters),
            None if variadic is None else provider_parameter(variadic),
            signature.returns,
            _Calling(self, callee, function.function, needs),
        )

    def _callee(
        self,
        frame: Frame,
        function: ProviderFunction,
        reference: Reference,
        needs: list[Need],
        diags: Diagnostics,
    ) -> Callee | None:
        """Find the provider to call, once it is determined and its schema is known."""
        provider = provider_of(frame.module, function.provider)
        if not self.pool.is_loaded(provider):
            loading = self._loading.setdefault(provider, LoadSchema(self, provider))
            needs.append(loading)
            return None
        if self._providers is None:
            return provider
        found = self._providers.find(frame, function.provider, function.alias)
        if found.config is None:
            return provider
        if found.config.is_expanded and found.key is None:
            diags.error(
                "Function of a provider with several instances",
                f"{found.config.addr} has several instances, and a call to {function} cannot "
                "select one of them. Use a provider configuration with a single instance.",
                reference.range,
            )
            return None
        node = self._providers.for_function(found)
        if isinstance(node, list):
            needs.extend(node)
            return None
        if node is not None and node.state != DONE:
            needs.append(node)
            return None
        return node

    def _report_unknown(
        self, callee: Callee, function: ProviderFunction, reference: Reference
    ) -> None:
        provider = _provider_of(callee)
        offered = self.pool.of(provider)
        if offered is None:
            # The reason for the missing schema has been reported.
            return
        known = {**offered.functions}
        if isinstance(callee, ProviderNode):
            known.update(self.functions.get(callee, {}))
        hint = did_you_mean(function.function, known)
        self.diags.error(
            "Unknown provider function",
            f'{provider.display} has no function named "{function.function}".{hint}',
            reference.range,
        )

    def _signature(self, callee: Callee, name: str, needs: list[Need]) -> FunctionSignature | None:
        offered = self.pool.of(_provider_of(callee))
        if offered is None:
            return None
        signature = offered.functions.get(name)
        if signature is not None or not isinstance(callee, ProviderNode):
            return signature
        if callee not in self.functions:
            needs.append(ListFunctions(self, callee))
            return None
        return self.functions[callee].get(name)

    async def running(self, callee: Callee) -> api.Provider | None:
        """Return the provider process to call."""
        if isinstance(callee, ProviderNode):
            return callee.provider
        return await self.pool.unconfigured(callee, self.diags)


def _left_for_later(deferral: Deferral) -> Function:
    """Build a function of a provider whose configuration is deferred."""

    def call(args: list[Value], type_: Type) -> Value:
        return deferral.value(type_)

    anything = Parameter(
        "argument", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True
    )
    return Function((), anything, DYNAMIC, call)


def _provider_of(callee: Callee) -> Provider:
    return callee.address.item.provider if isinstance(callee, ProviderNode) else callee


class LoadSchema(ProviderRequest):
    """Loads the functions of a provider."""

    __slots__ = ("_calls", "_provider")

    def __init__(self, calls: FunctionCalls, provider: Provider) -> None:
        self._calls = calls
        self._provider = provider

    @property
    def label(self) -> str:
        return f"the provider {self._provider.display}"

    async def perform(self) -> None:
        await self._calls.pool.load((self._provider,), self._calls.diags)


class ListFunctions(ProviderRequest):
    """Lists the functions of a configured instance, which may exceed those in its schema."""

    __slots__ = ("_calls", "_node")

    def __init__(self, calls: FunctionCalls, node: ProviderNode) -> None:
        self._calls = calls
        self._node = node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListFunctions) and other._node is self._node

    def __hash__(self) -> int:
        return hash(self._node)

    @property
    def label(self) -> str:
        return self._node.label

    async def perform(self) -> None:
        calls, running = self._calls, self._node.provider
        calls.functions[self._node] = {}
        if running is not None:
            answer = await running.functions()
            calls.diags.extend(located(answer.diagnostics))
            calls.functions[self._node] = answer.functions


class PendingCall(ProviderRequest):
    """A call without a result."""

    __slots__ = ("_calls", "_key")

    def __init__(
        self, calls: FunctionCalls, callee: Callee, name: str, arguments: Sequence[Value]
    ) -> None:
        self._calls = calls
        self._key = callee, name, tuple(arguments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PendingCall) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def label(self) -> str:
        return f"the function {self._key[1]} of {_provider_of(self._key[0]).display}"

    async def perform(self) -> None:
        callee, name, arguments = self._key
        running = await self._calls.running(callee)
        if running is None:
            self._calls.failed.add(self)
        else:
            self._calls.answers[self] = await running.call_function(name, arguments)
            self._calls.unread.add(self)


class _Calling:
    """Implementation of a function, in one evaluation of one expression."""

    __slots__ = ("_callee", "_calls", "_name", "_needs")

    def __init__(self, calls: FunctionCalls, callee: Callee, name: str, needs: list[Need]) -> None:
        self._calls = calls
        self._callee = callee
        self._name = name
        self._needs = needs

    def __call__(self, args: list[Value], type_: Type) -> Value:
        call = PendingCall(self._calls, self._callee, self._name, args)
        if call in self._calls.failed:
            return unknown(type_).with_causes(FAILED.causes)
        answer = self._calls.answers.get(call)
        if answer is None:
            if len(self._calls.unread) > _MOST_UNREAD:
                raise FunctionError(
                    "its arguments differ each time they are evaluated, like those that come "
                    "from uuid(); store them in a resource first"
                )
            self._needs.append(call)
            return unknown(type_)
        self._calls.unread.discard(call)
        if answer.failure is not None:
            raise FunctionError(answer.failure.text, answer.failure.argument)
        return answer.result
