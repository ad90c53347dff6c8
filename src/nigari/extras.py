"""Advice about libraries that are not installed.

The distribution nigari-core has few dependencies, and `docs/decisions/distributions.md` says why.
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
"""For each module, the distribution that contains it and the extra that installs it."""


def missing_library(error: BaseException) -> str | None:
    """Advise what to install for a module that could not be imported; None if it isn't one of these."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    found = _EXTRAS.get(error.name.partition(".")[0])
    if found is None:
        return None
    library, extra = found
    return f"The library {library} is not installed. {install_advice(library, extra)}"


def install_advice(library: str, extra: str) -> str:
    """Name a command that works however Nigari itself was installed.

    The extra's name works only with the distribution and the place that Nigari came from, which
    this program does not know; the library's own name always works.
    """
    wanted = f'"{library}"' if "[" in library else library
    return (
        "Install it in the Python environment that runs Nigari, for example with: pip install "
        f"{wanted}. The extra {extra} installs it, too."
    )
