"""Extras: the libraries that not everybody needs, and what to install where one is missing.

Without extras, Nigari brings what reads and evaluates configurations; the extra `cli` brings
everything that the program uses. `docs/decisions/extras.md` says why.
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_EXTRAS: Final[Mapping[str, tuple[str, str]]] = {
    "asyncssh": ("asyncssh", "ssh"),
    "bcrypt": ("bcrypt", "encryption"),
    "certifi": ("certifi", "network"),
    "cryptography": ("cryptography", "encryption"),
    "distributed": ("distributed", "fleet"),
    "google": ("protobuf", "plugins"),
    "grpc": ("grpcio", "plugins"),
    "httpcore": ("httpcore", "network"),
    "isal": ("isal", "network"),
    "psycopg": ("psycopg[binary]", "pg"),
    "pysequoia": ("pysequoia", "network"),
}
"""The distribution that each module comes in, and the extra that brings it."""


def missing_library(error: BaseException) -> str | None:
    """What to do about a module that could not be imported, where an extra brings it; else None."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    found = _EXTRAS.get(error.name.partition(".")[0])
    if found is None:
        return None
    library, extra = found
    return f"The library {library} is not installed. {install_advice(library, extra)}"


def install_advice(library: str, extra: str) -> str:
    """How a library is installed, whichever way Nigari itself was.

    An extra can be asked for only where Nigari comes from an index or a directory, which this
    program does not know: the library's own name always works.
    """
    wanted = f'"{library}"' if "[" in library else library
    return (
        "Install it in the Python environment that runs Nigari, for example with: pip install "
        f"{wanted}. The extra {extra} of Nigari brings it, too."
    )
