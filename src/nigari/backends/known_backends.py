"""The backends that configurations may name: ours, and those that installed packages bring.

A new backend of ours is a module below `nigari.backends.stores` with a `SPEC`, and its name in `OURS`.
Nothing else knows backends by their names.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.lazy import module_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.backends.backend_spec import BackendSpec, Environment
    from nigari.cty.values import Value
    from nigari.schema.block import Block

OURS: Final = (
    "azurerm",
    "cloud",
    "consul",
    "cos",
    "gcs",
    "http",
    "inmem",
    "kubernetes",
    "local",
    "oss",
    "pg",
    "remote",
    "s3",
)


def our_backend(name: str) -> BackendSpec | None:
    """The backend of this name; None if it is not one of ours."""
    if name not in OURS:
        return None
    spec: BackendSpec = module_named(f"nigari.backends.stores.{name}").SPEC
    return spec


def backend_names() -> Iterator[str]:
    """All names, ours first."""
    from nigari.backends.installed import installed_names

    yield from OURS
    yield from (name for name in installed_names() if name not in OURS)


def backend_block(name: str) -> Block | None:
    """The block that a backend takes; None if there is no such backend.

    A `BackendFailure` says why the one that a package brings cannot be used.
    """
    spec = our_backend(name)
    if spec is not None:
        return spec.block
    from nigari.backends.installed import installed_backend

    found = installed_backend(name)
    return None if found is None else found.block


def argument_problems(name: str, value: Value, environ: Environment) -> list[tuple[str, str]]:
    """The arguments of the block that the backend cannot be configured with, each with the reason."""
    from nigari.backends.backend_spec import argument_text

    found: list[tuple[str, str]] = []
    spec = our_backend(name)
    if spec is not None:
        for one, other in spec.exclusive:
            if not value.attribute(one).is_null and not value.attribute(other).is_null:
                found.append((one, f"Only one of {one} and {other} can be set."))
        for argument in spec.without_slashes:
            text = argument_text(value, argument)
            if text.startswith("/") or text.endswith("/"):
                found.append((argument, f"The {argument} must not begin or end with a slash."))
    for argument, given in value.mapping().items():
        if isinstance(given.data, str) and "\0" in given.data:
            found.append((argument, f"The {argument} contains a null character."))
    if spec is not None:
        found += spec.rules(value, environ)
    return found
