"""Functions that providers offer, where no provider is there to run them.

Their arguments are checked as far as the signature is known; the result is unknown, for the
reason that its provider has to run.
"""

from __future__ import annotations

from nigari.addrs.module import ROOT_MODULE
from nigari.addrs.values import ProviderFunction
from nigari.cty.function import Function, Parameter
from nigari.cty.types import DYNAMIC, Type
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import CauseKind, UnknownCause
from nigari.eval.core.instances import Frame
from nigari.hcl.suggestion import did_you_mean
from nigari.lang.references import Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.schema.provider import FunctionParameter, FunctionSignature


def deferred_function(function: ProviderFunction, signature: FunctionSignature | None) -> Function:
    """A function that gives no result before its provider runs."""
    cause = UnknownCause(CauseKind.PROVIDER_FUNCTION, ROOT_MODULE, f"{function}()")
    if signature is None:
        anything = Parameter("arguments", DYNAMIC, True, True, True, True)
        return Function((), anything, DYNAMIC, _Deferred(cause))
    return Function(
        tuple(provider_parameter(each) for each in signature.parameters),
        None if signature.variadic is None else provider_parameter(signature.variadic),
        signature.returns,
        _Deferred(cause),
    )


def report_no_provider(
    function: ProviderFunction, frame: Frame, reference: Reference, diags: Diagnostics
) -> None:
    """Report a function of a provider that the module does not ask for."""
    hint = did_you_mean(function.provider, frame.module.required_providers)
    diags.error(
        "Function of an undeclared provider",
        f'{function} is a function of the provider "{function.provider}", but {frame.place} does '
        f"not list that provider in required_providers.{hint}",
        reference.range,
    )


def provider_parameter(declared: FunctionParameter) -> Parameter:
    """A parameter as the language's own functions declare theirs."""
    return Parameter(
        declared.name,
        declared.type,
        allow_null=declared.allow_null,
        allow_unknown=declared.allow_unknown,
        allow_dynamic=declared.type is DYNAMIC,
    )


class _Deferred:
    """The implementation: nothing is known but the type."""

    __slots__ = ("_cause",)

    def __init__(self, cause: UnknownCause) -> None:
        self._cause = cause

    def __call__(self, args: list[Value], type_: Type) -> Value:
        return unknown(type_).with_causes((self._cause,))
