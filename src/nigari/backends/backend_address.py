"""Identities of states: which of two descriptions of a stored state mean the same one.

The configuration that writes a state and one that reads it describe it in words of their own: with
other credentials, with or without settings for locks, with paths that begin elsewhere. Only the
arguments that say where a state is count here, with what the environment fills in for them. A location that
is not known is no identity: two of them are never equal. Nothing is connected to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from nigari.backends.harmless import NOT_SHOWN, is_harmless, without_credentials
from nigari.backends.known_backends import our_backend
from nigari.backends.protocol import DEFAULT_WORKSPACE, Around
from nigari.clouds.arguments import Arguments
from nigari.diagnostics.secret_urls import hidden_url
from nigari.lazy import lazy_pattern
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.backends.backend_spec import AddressArgument


_PASSWORD: Final = lazy_pattern(r"\bpassword\s*=\s*(?:'(?:[^'\\]|\\.)*'|\S*)")
"""The password in the settings of a PostgreSQL connection that is not a URL."""
_URLS: Final = ("address", "endpoint", "storage_custom_endpoint")
"""Arguments in which a slash at the end means nothing."""
_CREDENTIALS: Final = frozenset(
    (
        "access_key",
        "access_token",
        "client_ca_certificate_pem",
        "client_certificate",
        "client_certificate_password",
        "client_certificate_pem",
        "client_key",
        "client_private_key_pem",
        "client_secret",
        "credentials",
        "customer_provided_key",
        "encryption_key",
        "oidc_request_token",
        "oidc_token",
        "password",
        "sas_token",
        "secret_id",
        "secret_key",
        "security_token",
        "sse_customer_key",
        "token",
        "username",
        "web_identity_token",
    )
)
"""The arguments by which a store knows its user. They change without the states being elsewhere."""


@record
class StateIdentity:
    """One stored state. Two that are equal are the same state."""

    backend: str
    address: tuple[tuple[str, str], ...]
    """The address of a location as names and values; secrets in it are not shown."""
    workspace: str

    def __str__(self) -> str:
        shown = ", ".join(
            f"{name} = {_shown(self.backend, name, value)}" for name, value in self.address if value
        )
        within = "" if self.workspace == DEFAULT_WORKSPACE else f", workspace {self.workspace}"
        return f"{self.backend} backend, {shown}{within}" if shown else f"{self.backend} backend"


def state_identity(
    type_: str,
    config: Mapping[str, object],
    workspace: str,
    around: Around,
    *,
    is_complete: bool = True,
) -> StateIdentity | None:
    """The state that arguments mean, which are JSON data as init remembers them; None where that is
    not known. Arguments are not complete as long as init may still be given more of them.
    """
    spec = our_backend(type_)
    if spec is not None and spec.identify is not None:
        found = spec.identify(config, workspace, around)
        return None if found is None else StateIdentity(*found, DEFAULT_WORKSPACE)
    arguments = Arguments(config, around.environ)
    known = () if spec is None else spec.address
    if not is_complete and not all(
        arguments.text(each.name, *each.variables) for each in known if each.is_required
    ):
        return None
    address = tuple((each.name, _address_text(each, arguments)) for each in known)
    return StateIdentity(type_, address, workspace)


def _address_text(address: AddressArgument, arguments: Arguments) -> str:
    """An argument of an address, written the one way where there are several."""
    text = arguments.text(address.name, *address.variables, default=address.default)
    if address.override is not None and isinstance(arguments.config.get(address.override[0]), dict):
        text = arguments.mapping(address.override[0]).get(address.override[1], "")
    if address.name == "prefix":
        return text.strip("/")
    return text.rstrip("/") if address.name in _URLS else text


def location_arguments(config: Mapping[str, object]) -> Mapping[str, object]:
    """The arguments that lead to the states of a backend: those that are set, without credentials.

    Two that are equal are the same location. Unlike an identity, they retain what may matter in a
    way that only the store knows, such as a profile.
    """
    return {
        name: _without_secrets(name, value)
        for name, value in config.items()
        if value is not None and name not in _CREDENTIALS
    }


def location_text(type_: str, config: Mapping[str, object]) -> str:
    """A backend and the arguments that say where its states are, for people."""
    arguments = location_arguments(config)
    # A directory without a backend block needs no specification, which takes time to import.
    spec = our_backend(type_) if arguments else None
    found = ", ".join(
        f"{each.name} = {_shown(type_, each.name, arguments[each.name])}"
        for each in (() if spec is None else spec.address)
        if each.name in arguments
    )
    return f'backend "{type_}"{": " if found else ""}{found}'


def _without_secrets(name: str, value: object) -> object:
    if isinstance(value, dict):
        return location_arguments(value)
    if isinstance(value, list):
        return [_without_secrets(name, each) for each in value]
    if not isinstance(value, str):
        return value
    if "://" in value:
        return hidden_url(value)
    return _PASSWORD.sub("", value) if name == "conn_str" else value


def _shown(backend: str, name: str, value: object) -> str:
    if not is_harmless(backend, name):
        return NOT_SHOWN
    return json.dumps(without_credentials(value), ensure_ascii=False)
