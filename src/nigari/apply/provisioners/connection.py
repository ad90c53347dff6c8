"""`connection` blocks: where a provisioner logs in, and how it proves who it is.

Only the meaning of the arguments is here; `nigari.apply.provisioners.ssh` connects.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.apply.provisioners.provisioner import Arguments, ProvisionerFailure, text_of
from nigari.cty.function import FunctionError
from nigari.cty.stdlib.timestamps import parse_duration
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_USER: Final = "root"
_PORT: Final = 22
_HIGHEST_PORT: Final = 65535
# Five minutes as in OpenTofu (DefaultTimeout): new machines need time to start.
_TIMEOUT: Final = 300.0
UNIX: Final = "unix"
WINDOWS: Final = "windows"
# DefaultUnixScriptPath and DefaultWindowsScriptPath of OpenTofu: directories that every user can
# write to. /tmp may be mounted noexec, hence the argument.
_SCRIPTS: Final = {
    UNIX: "/tmp/terraform_%RAND%.sh",
    WINDOWS: "C:/windows/temp/terraform_%RAND%.cmd",
}


@record
class Login:
    """A host, and what is shown to get in."""

    host: str
    port: int
    user: str
    password: str
    private_key: str
    """PEM text, or empty."""
    certificate: str
    """For the private key, in the form of a line of a key file, or empty."""
    host_key: str
    """The host's key, or the authority that signed it; empty accepts any."""


@record
class Proxy:
    """A web proxy that connects to hosts."""

    scheme: str
    host: str
    port: int
    user: str
    password: str


@record
class HostConnection:
    """A way to a host."""

    target: Login
    bastion: Login | None
    """A host through which the other is reached."""
    proxy: Proxy | None
    agent_socket: str
    """The path of an agent's socket; empty for none."""
    agent_identity: str
    timeout: float
    """For how many seconds it is tried to connect."""
    script_path: str
    """The path of uploaded scripts on the host; `%RAND%` stands for a random number."""
    platform: str


def connection_from(arguments: Arguments, environ: Mapping[str, str]) -> HostConnection:
    """Read a `connection` block and fill in the defaults."""
    kind = text_of(arguments["type"]) or "ssh"
    if kind == "winrm":
        raise ProvisionerFailure(
            "Connections of type winrm are not supported. Windows hosts can be reached over ssh: "
            'set up the OpenSSH server, and use type = "ssh" and target_platform = "windows".'
        )
    if kind != "ssh":
        raise ProvisionerFailure(f'There is no connection type "{kind}". Use ssh.')
    platform = text_of(arguments["target_platform"]) or UNIX
    if platform not in _SCRIPTS:
        raise ProvisionerFailure(f'The target_platform must be unix or windows, not "{platform}".')
    target = _target(arguments)
    return HostConnection(
        target=target,
        bastion=_bastion(arguments, target),
        proxy=_proxy(arguments),
        agent_socket=_agent(arguments, environ),
        agent_identity=text_of(arguments["agent_identity"]),
        timeout=_timeout(text_of(arguments["timeout"])),
        script_path=text_of(arguments["script_path"]) or _SCRIPTS[platform],
        platform=platform,
    )


def _target(arguments: Arguments) -> Login:
    host = text_of(arguments["host"])
    if not host:
        raise ProvisionerFailure("The host of the connection is empty.")
    return Login(
        host=_bare(host),
        port=_port(arguments, "port") or _PORT,
        user=text_of(arguments["user"]) or _USER,
        password=text_of(arguments["password"]),
        private_key=text_of(arguments["private_key"]),
        certificate=text_of(arguments["certificate"]),
        host_key=text_of(arguments["host_key"]),
    )


def _bastion(arguments: Arguments, target: Login) -> Login | None:
    """The host in between; what is not said of it is as for the target."""
    host = text_of(arguments["bastion_host"])
    if not host:
        return None
    return Login(
        host=_bare(host),
        # parseConnectionInfo: the bastion inherits all settings of the target except the
        # host and its key, which would be wrong for another machine.
        port=_port(arguments, "bastion_port") or target.port,
        user=text_of(arguments["bastion_user"]) or target.user,
        password=text_of(arguments["bastion_password"]) or target.password,
        private_key=text_of(arguments["bastion_private_key"]) or target.private_key,
        certificate=text_of(arguments["bastion_certificate"]) or target.certificate,
        host_key=text_of(arguments["bastion_host_key"]),
    )


def _proxy(arguments: Arguments) -> Proxy | None:
    host = text_of(arguments["proxy_host"])
    if not host:
        return None
    scheme = text_of(arguments["proxy_scheme"]) or "http"
    if scheme not in ("http", "https"):
        raise ProvisionerFailure(f'The proxy_scheme must be http or https, not "{scheme}".')
    return Proxy(
        scheme,
        _bare(host),
        _port(arguments, "proxy_port") or (443 if scheme == "https" else 80),
        text_of(arguments["proxy_user_name"]),
        text_of(arguments["proxy_user_password"]),
    )


def _agent(arguments: Arguments, environ: Mapping[str, str]) -> str:
    wanted = arguments["agent"].data
    socket = environ.get("SSH_AUTH_SOCK", "")
    if wanted is True and not socket:
        raise ProvisionerFailure(
            "The connection uses an ssh agent, but there is none: SSH_AUTH_SOCK is not set."
        )
    # The agent is used by default, but demanded only by agent = true.
    return "" if wanted is False else socket


def _port(arguments: Arguments, name: str) -> int:
    number = arguments[name].data
    if number is None:
        return 0
    if not isinstance(number, int) or not 0 <= number <= _HIGHEST_PORT:
        raise ProvisionerFailure(f"The {name} of the connection is not a port number.")
    return number


def _timeout(text: str) -> float:
    if not text:
        return _TIMEOUT
    try:
        return parse_duration(text) / 1e9
    except FunctionError:
        raise ProvisionerFailure(
            f'The timeout of the connection must be a duration such as 5m or 30s, not "{text}".'
        ) from None


def _bare(host: str) -> str:
    """The host without the brackets that may be around an address with colons."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host
