"""Arguments that clouds are reached with: from the configuration, else from the environment.

Backends and key providers have them as JSON data, in which everything that is not set is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.clouds.failures import CloudFailure
from nigari.record import record

_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")


@record
class Arguments:
    """The arguments of a block, with the environment that fills in for them."""

    config: Mapping[str, object]
    environ: Mapping[str, str]

    def is_set(self, name: str) -> bool:
        """Whether the configuration has a value."""
        return self.config.get(name) is not None

    def text(self, name: str, *variables: str, default: str = "") -> str:
        """A text; an empty one of the configuration gives way to the environment, too."""
        given = self.config.get(name)
        if given is not None and given != "":
            return given if isinstance(given, str) else str(given)
        return self._variable(variables) or default

    def required(self, name: str, *variables: str) -> str:
        """A text that must not be empty."""
        found = self.text(name, *variables)
        if not found:
            also = f", nor the environment variable {variables[0]}" if variables else ""
            raise CloudFailure(f'The argument "{name}" is not set{also}.')
        return found

    def flag(self, name: str, *variables: str, default: bool = False) -> bool:
        """Yes or no, in the environment as Go reads it."""
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
        """A whole number."""
        given = self.config.get(name)
        text = self._variable(variables) if given is None else str(given)
        if not text:
            return default
        try:
            return int(text)
        except ValueError:
            raise CloudFailure(f'"{text}" is not a whole number, which {name} must be.') from None

    def texts(self, name: str) -> Sequence[str]:
        """A list or set of texts."""
        given = self.config.get(name)
        return [str(each) for each in given] if isinstance(given, list) else []

    def mapping(self, name: str) -> Mapping[str, str]:
        """A map of texts."""
        given = self.config.get(name)
        return {str(k): str(v) for k, v in given.items()} if isinstance(given, dict) else {}

    def block(self, name: str) -> Arguments | None:
        """The arguments of a nested block or object; None where it is not written."""
        given = self.config.get(name)
        if isinstance(given, list):
            given = given[0] if given else None
        return Arguments(given, self.environ) if isinstance(given, dict) else None

    def _variable(self, names: Sequence[str]) -> str:
        return next((self.environ[name] for name in names if self.environ.get(name)), "")
