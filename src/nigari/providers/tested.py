"""Results in provider tests: plain data, plans, objects, and failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nigari import cty
from nigari.providers import api
from nigari.providers.python.markers import UNKNOWN
from nigari.schema.block import Block
from nigari.schema.coerce import coerce

# Plain data has any type, for which `Any` stands.


class Failed(AssertionError):
    """The provider has reported errors."""

    def __init__(self, what: str, diagnostics: api.ProviderDiagnostics) -> None:
        super().__init__("\n".join([f"{what} failed:", *map(_diagnostic_text, diagnostics)]))
        self.diagnostics = diagnostics


class Broken(AssertionError):
    """The provider breaks a rule of OpenTofu, which would reject its response."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults: tuple[str, ...] = tuple(faults)


@dataclass(frozen=True, slots=True)
class Object:
    """An object of a resource type or data source, with its attributes."""

    type_name: str
    value: cty.Value
    config: cty.Value
    private: bytes = b""
    identity: cty.Value | None = None
    warnings: api.ProviderDiagnostics = ()

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        """Return an attribute as plain data."""
        return plain(self.value.attribute(name))

    @property
    def data(self) -> dict[str, Any]:
        """All attributes as plain data."""
        return {name: plain(part) for name, part in self.value.mapping().items()}


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned change. Values that are known after apply are `UNKNOWN`."""

    type_name: str
    action: Literal["create", "update", "replace", "no-op"]
    prior: Object | None
    value: cty.Value
    config: cty.Value
    replaces: tuple[str, ...]
    """Attributes whose change replaces the object."""
    private: bytes
    identity: cty.Value | None
    warnings: api.ProviderDiagnostics

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        """Return a planned attribute as plain data."""
        return plain(self.value.attribute(name))


def configured(block: Block, arguments: Mapping[str, object]) -> cty.Value:
    """Build the value of a block with these arguments."""
    return coerce(block, cty.Value.of(value_of(dict(arguments))))


def value_of(data: object) -> object:
    """Replace `UNKNOWN` in data by unknown values, so that `cty` can convert it."""
    if data is UNKNOWN:
        return cty.unknown(cty.DYNAMIC)
    if isinstance(data, Mapping):
        return {key: value_of(each) for key, each in data.items()}
    if isinstance(data, list | tuple):
        return [value_of(each) for each in data]
    return data


def plain(value: cty.Value) -> Any:  # noqa: ANN401
    """Convert a value to plain data, with `UNKNOWN` for unknown parts."""
    if not value.is_known:
        return UNKNOWN
    if value.is_wholly_known:
        return value.to_python()
    if isinstance(value.data, dict):
        return {key: plain(each) for key, each in value.mapping().items()}
    return [plain(each) for each in value.elements()]


def _diagnostic_text(reported: api.ProviderDiagnostic) -> str:
    where = "" if reported.path is None else f" ({cty.path_text(reported.path).removeprefix('.')})"
    return f"{reported.severity.value}: {reported.summary}{where}: {reported.detail}".removesuffix(
        ": "
    )
