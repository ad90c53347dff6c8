"""The programs that a plain configuration can be written for, and which of them can do what."""

from __future__ import annotations

from nigari.record import record
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

OPENTOFU: Final = "opentofu"
TERRAFORM: Final = "terraform"
_Version = tuple[int, int]

_FEATURES: Final[dict[str, dict[str, _Version]]] = {
    # Variables and locals in sources, versions, backends and encryption.
    "static sources": {OPENTOFU: (1, 8)},
    "provider for_each": {OPENTOFU: (1, 9)},
    "dynamic prevent_destroy": {OPENTOFU: (1, 12)},
    "lifecycle.enabled": {OPENTOFU: (1, 11)},
    "lifecycle.destroy": {OPENTOFU: (1, 12)},
    "encryption": {OPENTOFU: (1, 7)},
    "ephemeral": {OPENTOFU: (1, 11), TERRAFORM: (1, 10)},
    "action": {TERRAFORM: (1, 14)},
    "const": {OPENTOFU: (1, 12), TERRAFORM: (1, 15)},
    "deprecated": {OPENTOFU: (1, 10), TERRAFORM: (1, 15)},
    "check": {OPENTOFU: (1, 6), TERRAFORM: (1, 5)},
    "import": {OPENTOFU: (1, 6), TERRAFORM: (1, 5)},
    "import.for_each": {OPENTOFU: (1, 7), TERRAFORM: (1, 7)},
    "removed": {OPENTOFU: (1, 7), TERRAFORM: (1, 7)},
    "moved": {OPENTOFU: (1, 6), TERRAFORM: (1, 1)},
    "tofu files": {OPENTOFU: (1, 8)},
    "symbols": {OPENTOFU: (1, 13)},
    "store": {TERRAFORM: (1, 16)},
    "provider functions": {OPENTOFU: (1, 7), TERRAFORM: (1, 8)},
}
"""The first version of each program that has a feature; a program that is not listed lacks it."""

_FUNCTIONS: Final[dict[str, dict[str, _Version]]] = {
    "base64gunzip": {OPENTOFU: (1, 7)},
    "cidrcontains": {OPENTOFU: (1, 7)},
    "urldecode": {OPENTOFU: (1, 7)},
    "issensitive": {OPENTOFU: (1, 7), TERRAFORM: (1, 8)},
    "templatestring": {OPENTOFU: (1, 7), TERRAFORM: (1, 9)},
    "ephemeralasnull": {OPENTOFU: (1, 11), TERRAFORM: (1, 10)},
    "convert": {OPENTOFU: (1, 13), TERRAFORM: (1, 15)},
    # All of the functions whose names begin so.
    "assume": {OPENTOFU: (1, 13)},
}
"""Functions that not every version has."""


@record
class Target:
    """A program, in one version."""

    program: str
    version: _Version

    def has(self, feature: str) -> bool:
        """Check whether the program has a feature."""
        return self._is_since(_FEATURES[feature])

    def has_function(self, name: str) -> bool:
        """Check whether the program has a function."""
        name = "assume" if name.startswith("assume") else name
        since = _FUNCTIONS.get(name)
        return since is None or self._is_since(since)

    def _is_since(self, first: dict[str, _Version]) -> bool:
        return self.program in first and self.version >= first[self.program]

    @property
    def title(self) -> str:
        """Name and version, for messages."""
        name = "OpenTofu" if self.program == OPENTOFU else "Terraform"
        return f"{name} {self.version[0]}.{self.version[1]}"


def _numbers(text: str) -> _Version | None:
    parts = text.split(".")
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        return None
    return int(parts[0]), int(parts[1])


_NEWEST: Final = {OPENTOFU: _numbers(OPENTOFU_VERSION) or (1, 12), TERRAFORM: (1, 14)}
_OLDEST: Final = {OPENTOFU: (1, 6), TERRAFORM: (1, 3)}
DEFAULT_TARGET: Final = Target(OPENTOFU, _NEWEST[OPENTOFU])


def parse_target(text: str) -> Target | None:
    """Read `opentofu`, `terraform`, or one of them with a version, such as `opentofu-1.8`; None for
    anything else, and for versions that are too old.
    """
    name, dash, rest = text.partition("-")
    program = {"tofu": OPENTOFU}.get(name, name)
    if program not in _NEWEST:
        return None
    version = _numbers(rest) if dash else _NEWEST[program]
    if version is None or version < _OLDEST[program]:
        return None
    return Target(program, version)
