"""Advice for people who work with a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nigari.diagnostics.advice import Advice, LibraryAdvice
from nigari.fleet.units.unit import FILE_NAME

_FLAGS: Final = frozenset(("-upgrade", "-reconfigure"))
"""The flags of `init` that `fleet init` has, too."""


class FleetAdvice(Advice):
    """Advice about a unit."""

    def init(self, *options: str, variables: Sequence[str] = ()) -> str:
        if _FLAGS.issuperset(options) and not variables:
            return f'"{" ".join(("nigari fleet init", *options))}"'
        own = super().init(*options, variables=variables)
        return f"{own} in the directory of the unit"

    def set_variable(self, name: str = "") -> str:
        if not name:
            return f"in the variables of its unit in {FILE_NAME}, in a .tfvars file or in the environment"
        return (
            f"in {FILE_NAME} (variables = {{ {name} = ... }} of its unit), in a .tfvars file, or as "
            f"TF_VAR_{name} in the environment"
        )

    def set_again(self, *names: str) -> str:
        return f"in the variables of its unit in {FILE_NAME}"

    def store_state(self, path: str) -> str:
        return 'run "nigari fleet apply", which stores it before it goes on'

    def unsaved_state(self, path: str) -> str:
        # The workers of a fleet are Python programs.
        return LibraryAdvice.unsaved_state(self, path)


FLEET_ADVICE: Final = FleetAdvice()
