"""Schemas of the built-in provisioners, and of `connection` blocks."""

from __future__ import annotations

from nigari.cty.types import BOOL, NUMBER, STRING, ListType, MapType, Type
from nigari.schema.block import Attribute, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def _optional(type_: Type) -> Attribute:
    return Attribute(type_, optional=True)


PROVISIONERS: Final = {
    "local-exec": Block(
        {
            "command": Attribute(STRING, required=True),
            "interpreter": _optional(ListType(STRING)),
            "working_dir": _optional(STRING),
            "environment": _optional(MapType(STRING)),
            "quiet": _optional(BOOL),
        }
    ),
    "remote-exec": Block(
        {
            "inline": _optional(ListType(STRING)),
            "script": _optional(STRING),
            "scripts": _optional(ListType(STRING)),
        }
    ),
    "file": Block(
        {
            "source": _optional(STRING),
            "content": _optional(STRING),
            "destination": Attribute(STRING, required=True),
        }
    ),
}

EXCLUSIVE: Final[dict[str, tuple[str, ...]]] = {
    "remote-exec": ("inline", "script", "scripts"),
    "file": ("source", "content"),
}
"""Arguments of which a provisioner requires exactly one."""

NOT_EMPTY: Final = {"local-exec": ("command",), "file": ("destination",)}
"""Arguments that must not be an empty string."""

_CONNECTION_TEXTS: Final = (
    "type",
    "user",
    "password",
    "timeout",
    "script_path",
    "target_platform",
    "private_key",
    "certificate",
    "host_key",
    "agent_identity",
    "proxy_scheme",
    "proxy_host",
    "proxy_user_name",
    "proxy_user_password",
    "bastion_host",
    "bastion_host_key",
    "bastion_user",
    "bastion_password",
    "bastion_private_key",
    "bastion_certificate",
    "cacert",
)
_CONNECTION_PORTS: Final = ("port", "proxy_port", "bastion_port")
_CONNECTION_SWITCHES: Final = ("agent", "https", "insecure", "use_ntlm")

CONNECTION: Final = Block(
    {
        "host": Attribute(STRING, required=True),
        **{name: _optional(STRING) for name in _CONNECTION_TEXTS},
        **{name: _optional(NUMBER) for name in _CONNECTION_PORTS},
        **{name: _optional(BOOL) for name in _CONNECTION_SWITCHES},
    }
)
"""The arguments of all connection types together; each type reads its own."""
