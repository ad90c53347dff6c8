"""An environment that is declared beside a configuration, as data."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.record import ReadOnly, record


@record
class Setting:
    """A value that an environment gives, and where it is written."""

    value: Value
    range: Range


@record
class Environment:
    """An environment that is declared."""

    name: str
    range: Range | None = None
    """The header of its block; None where it is not declared any more."""
    workspace: str = ""
    """The workspace of the environment; empty for the selected one."""
    var_files: tuple[str, ...] = ()
    """Files of variables, in their order, seen from the directory of the configuration."""
    variables: Mapping[str, Setting] = ReadOnly({})
    """Values of variables, stronger than those of the files."""
    backend: Mapping[str, Setting] = ReadOnly({})
    """Arguments of the backend, in place of those in the configuration."""
    sources: Mapping[str, bytes] = ReadOnly({})
    """The file that declares it, for showing diagnostics."""

    @property
    def title(self) -> str:
        """The name in messages."""
        return f'the environment "{self.name}"'
