"""Arguments for cloud access, from the configuration or otherwise from environment variables.

Backends and key providers pass them as JSON data, in which unset arguments are null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.clouds.failures import CloudFailure
from nigari.record import record

_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")


@record
class Arguments:
    """The arguments of a block, and the environment that supplements them."""

    config: Mapping[str, object]
    environ: Mapping[str, str]

    def is_set(self, name: str) -> bool:
        """Check that the configuration sets an argument."""
        return self.config.get(name) is not None

    def text(self, name: str, *variables: str, default: str = "") -> str:
        """Return a string; the environment also supplements an empty one in the configuration."""
        given = self.config.get(name)
        if given is not None and given != "":
            return given if isinstance(given, str) else str(given)
        return self._variable(variables) or default

    def required(self, name: str, *variables: str) -> str:
        """Return a string that must not be empty."""
        found = self.text(name, *variables)
        if not found:
            also = f", nor the environment variable {variables[0]}" if variables else ""
            raise CloudFailure(f'The argument "{name}" is not set{also}.')
        return found

    def flag(self, name: str, *variables: str, default: bool = False) -> bool:
        """Return a bool, parsed as in Go if it comes from the environment."""
        given = self.config.get(name)
        if given is not None:
            return given is True
        text = self._variable(variables)
        if not text:
            return default
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        raise CloudFailure(
            f'The environment variable {variables[0]} is "{text}", but must be true or false.'
        )

    def number(self, name: str, *variables: str, default: int) -> int:
        """Return a whole number."""
        given = self.config.get(name)
        text = self._variable(variables) if given is None else str(given)
        if not text:
            return default
        try:
            return int(text)
        except ValueError:
            raise CloudFailure(f'"{text}" is not a whole number, which {name} must be.') from None

    def texts(self, name: str) -> Sequence[str]:
        """Return a list or set of strings."""
        given = self.config.get(name)
        return [str(each) for each in given] if isinstance(given, list) else []

    def mapping(self, name: str) -> Mapping[str, str]:
        """Return a map of strings."""
        given = self.config.get(name)
        return {str(k): str(v) for k, v in given.items()} if isinstance(given, dict) else {}

    def block(self, name: str) -> Arguments | None:
        """Return the arguments of a nested block or object; None if it is absent."""
        given = self.config.get(name)
        if isinstance(given, list):
            given = given[0] if given else None
        return Arguments(given, self.environ) if isinstance(given, dict) else None

    def _variable(self, names: Sequence[str]) -> str:
        return next((self.environ[name] for name in names if self.environ.get(name)), "")
