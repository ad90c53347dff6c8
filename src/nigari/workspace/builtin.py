"""The built-in provider as the evaluator meets it: without a process, and without waiting."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence

from nigari.addrs.provider import Provider
from nigari.addrs.resource import DATA, EPHEMERAL, MANAGED
from nigari.eval.resource import ValidateConfig
from nigari.eval.validate import Opinion
from nigari.providers.api import ProviderDiagnostic, Response
from nigari.schema.provider import ProviderSchema


class BuiltinSchemas:
    """The schemas that are known without any provider process."""

    def __init__(self) -> None:
        self._known: dict[Provider, ProviderSchema] = {}

    def of(self, provider: Provider) -> ProviderSchema | None:
        """What a built-in provider offers."""
        if not provider.is_builtin:
            return None
        if provider not in self._known:
            from nigari.providers.builtin.terraform import SCHEMA

            self._known[provider] = SCHEMA
        return self._known[provider]


def ask_builtin(effect: Opinion) -> Sequence[ProviderDiagnostic]:
    """What a built-in provider says of a configuration."""
    if not isinstance(effect, ValidateConfig):
        return ()
    from nigari.providers.builtin.terraform import TerraformProvider

    provider = TerraformProvider()
    ask = {
        MANAGED: provider.validate_resource,
        DATA: provider.validate_data,
        EPHEMERAL: provider.validate_ephemeral,
    }[effect.mode]
    return _without_waiting(ask(effect.type_name, effect.config)).diagnostics


def _without_waiting(answer: Coroutine[object, object, Response]) -> Response:
    """The result of a coroutine that never waits, as those of built-in providers.

    An event loop would cost more time to import than a small configuration takes to check.
    """
    try:
        answer.send(None)
    except StopIteration as done:
        response = done.value
        assert isinstance(response, Response)
        return response
    raise RuntimeError("a built-in provider waited for something")
