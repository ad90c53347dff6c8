"""States for Python programs: objects by address, and output values, as they were stored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from nigari.addrs.absolute import Abs
from nigari.addrs.keys import InstanceKey
from nigari.cty.values import Value
from nigari.diagnostics import JsonValue
from nigari.lazy import lazy_pattern
from nigari.record import ReadOnly, record
from nigari.state.model import ObjectStatus, OutputState, StateFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_SPACE: Final = lazy_pattern(r'("(?:[^"\\]|\\.)*")|\s+')


class Output:
    """The value of a root output."""

    __slots__ = ("is_sensitive", "name", "value")

    def __init__(self, name: str, stored: OutputState) -> None:
        self.name: str = name
        self.value: Value = stored.value
        self.is_sensitive: bool = stored.sensitive

    def to_python(self) -> object:
        """The value as plain Python data, including sensitive values."""
        return self.value.unmark_deep()[0].to_python()

    def __repr__(self) -> str:
        shown = "(sensitive)" if self.is_sensitive else repr(self.value)
        return f"<{self.name} = {shown}>"

    def _key(self) -> tuple[object, ...]:
        return self.name, self.value, self.is_sensitive

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Output) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())


@record
class StoredResource:
    """One object of a resource instance, as the state has it."""

    address: str
    mode: str
    """`resource` or `data`."""
    type: str
    name: str
    key: InstanceKey
    module: str
    """The address of the module instance; empty for the root module."""
    provider: str
    is_tainted: bool
    deposed: str
    """The key of an object that a replacement has left behind; empty for the usual one."""
    dependencies: tuple[str, ...]
    json: str
    """The attributes as JSON text without spaces, with all digits of numbers, secrets included."""

    @property
    def attributes(self) -> Mapping[str, JsonValue]:
        """The attributes as plain data, secrets included."""
        found: dict[str, JsonValue] = json.loads(self.json)
        return ReadOnly(found)

    def __repr__(self) -> str:
        note = " (tainted)" if self.is_tainted else ""
        return f"<{self.address}{f' deposed {self.deposed}' if self.deposed else ''}{note}>"


class StoredState:
    """A state as it was stored: nothing here changes it."""

    __slots__ = ("lineage", "outputs", "resources", "serial")

    def __init__(self, file: StateFile | None) -> None:
        self.serial: int = 0 if file is None else file.serial
        """The number of the snapshot; 0 where nothing was ever stored."""
        self.lineage: str = "" if file is None else file.lineage
        """The state's lineage; empty if nothing was ever stored."""
        self.resources: Mapping[str, StoredResource] = ReadOnly(
            {} if file is None else {each.address: each for each in _objects(file)}
        )
        """The current objects by address, in order; deposed ones have their key after the
        address.
        """
        stored: Mapping[str, OutputState] = {} if file is None else file.state.outputs
        self.outputs: Mapping[str, Output] = ReadOnly(
            {name: Output(name, each) for name, each in sorted(stored.items())}
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StoredState):
            return NotImplemented
        return self._key() == other._key() and self.outputs == other.outputs

    def __hash__(self) -> int:
        return hash(self._key()[:2])

    def _key(self) -> tuple[object, ...]:
        return self.lineage, self.serial, self.resources

    def __repr__(self) -> str:
        return f"<state with {len(self.resources)} resource instances, serial {self.serial}>"


def _objects(file: StateFile) -> Iterator[StoredResource]:
    for address, instance in file.state.instances():
        for deposed, each, provider in instance.objects():
            name = str(address)
            yield StoredResource(
                address=f"{name} ({deposed})" if deposed else name,
                mode=address.item.resource.mode.value,
                type=address.item.resource.type,
                name=address.item.resource.name,
                key=address.item.key,
                module=str(address.module),
                provider=str(Abs(provider.module.unkeyed, provider.item)),
                is_tainted=each.status is ObjectStatus.TAINTED,
                deposed=deposed,
                dependencies=tuple(str(other) for other in each.dependencies),
                json=_SPACE.sub(r"\1", each.attributes),
            )
