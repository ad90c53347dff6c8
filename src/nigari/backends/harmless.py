"""Backend arguments that may be shown: those that are known to hold no secret.

All others are named without their values, since a person may have typed a secret there. So are all
arguments of backends that packages bring. URLs are shown without their credentials.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from nigari.diagnostics.secret_urls import carries_secret, hidden_urls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.cty.values import Value

NOT_SHOWN: Final = "(not shown)"


@cache
def _harmless(backend: str) -> frozenset[str]:
    from nigari.backends.known_backends import our_backend

    spec = our_backend(backend)
    return frozenset(() if spec is None else spec.shown.split())


def is_harmless(backend: str, argument: str) -> bool:
    """Return whether values of an argument, or of arguments in a block with this name, may be
    shown.
    """
    return argument in _harmless(backend)


def is_harmless_anywhere(argument: str) -> bool:
    """Return whether an argument may be shown if its backend is unknown."""
    from nigari.backends.known_backends import OURS

    return any(argument in _harmless(backend) for backend in OURS)


def shown_argument(backend: str, argument: str, text: str) -> str:
    """The text of a value, as far as it may be shown."""
    return hidden_urls(text) if is_harmless(backend, argument) else NOT_SHOWN


def marked(backend: str, name: str, value: Value) -> Value:
    """The value of an argument, sensitive where it may not be shown."""
    from nigari.lang.marks import SENSITIVE
    from nigari.lang.render import value_display

    is_secret = not is_harmless(backend, name) or carries_secret(value_display(value))
    return value.mark(SENSITIVE) if is_secret else value


def without_credentials(data: object) -> object:
    """JSON data, without the secrets of the URLs in it."""
    if isinstance(data, str):
        return hidden_urls(data)
    if isinstance(data, Mapping):
        return {name: without_credentials(each) for name, each in data.items()}
    return [*map(without_credentials, data)] if isinstance(data, list | tuple) else data
