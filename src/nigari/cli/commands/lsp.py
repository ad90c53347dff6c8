"""`nigari lsp`: the language server for editors."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.lsp.start import serve, serve_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_LOOPBACK: Final = "127.0.0.1"
_HIGHEST_PORT: Final = 65_535


def run(invocation: Invocation) -> int:
    """Serve one editor until it leaves."""
    terminal = invocation.terminal
    environ = dict(terminal.environ)
    port = invocation.text("port")
    if port:
        if not port.isdigit() or int(port) > _HIGHEST_PORT:
            raise UsageError(f'"{port}" is not a port. Give a number from 0 to 65535.')

        def listening(host: str, number: int) -> None:
            terminal.err(f"Listening on {host}:{number}.")
            terminal.stderr.flush()

        try:
            return serve_socket(_LOOPBACK, int(port), environ, listening)
        except OSError as error:
            raise UsageError(f"Cannot listen on port {port}: {error.strerror}.") from None
    reader = getattr(terminal.stdin, "buffer", None)
    writer = getattr(terminal.stdout, "buffer", None)
    if reader is None or writer is None:
        raise UsageError("The server needs standard input and output, or -port.")
    return serve(reader, writer, environ)


COMMAND = Command(
    "lsp",
    "Serves an editor: diagnostics while you type, values in place, completion, renaming. Editors "
    "start it themselves and talk to it over standard input and output, in the Language Server "
    "Protocol. No request waits for the network or for a provider.",
    run,
    flags=(
        Flag("stdio", FLAG_SWITCH, "Use standard input and output, which is the default"),
        Flag("port", FLAG_TEXT, "Listen on a port of this machine for one client", "PORT"),
    ),
    examples=(
        Example("nigari lsp", "what an editor runs"),
        Example("nigari lsp -port=7000", "for a client that connects to a port"),
    ),
)
