"""Stored objects as data for the page: what a state says of each instance, without secrets."""

from __future__ import annotations

from typing import Final

from nigari.addrs.keys import key_text
from nigari.cty.values import Value
from nigari.explore.differences import PartTable
from nigari.explore.secrets import Secrets
from nigari.explore.sensitive import Schemas
from nigari.plan.differences.datum import datum
from nigari.plan.differences.object_comparison import compare_block
from nigari.plan.nodes.prior_values import prior_values
from nigari.schema.provider import ProviderSchema, Schema
from nigari.state.model import ResourceState, State

Data = dict[str, object]
_MOST_OBJECTS: Final = 2000
"""The most objects that are shown: a page must open at once."""


class StoredData:
    """Puts the objects of a state together, and notes what is secret in them."""

    def __init__(self, state: State, schemas: Schemas, secrets: Secrets) -> None:
        self._secrets = secrets
        self._parts = PartTable()
        self._objects: list[Data] = []
        for resource in state.resources.values():
            schema = _schema(resource, schemas)
            if schema is not None:
                self._add(resource, schema)

    def data(self) -> Data:
        """The objects, once everything that is secret has been seen."""
        parts = self._secrets.scrubbed_all(self._parts.texts())
        return {"objects": self._objects, "parts": parts}

    def _add(self, resource: ResourceState, schema: Schema) -> None:
        for key, value in prior_values(resource, schema).items():
            current = resource.instances[key].current
            if current is None or current.schema_version != schema.version or not value.is_known:
                continue
            self._secrets.note(value)
            if len(self._objects) < _MOST_OBJECTS:
                entries = self._entries(value, schema)
                block = str(resource.address)
                found: Data = {"resource": block, "key": key_text(key), "values": entries}
                if current.status.value:
                    found["status"] = current.status.value
                self._objects.append(found)

    def _entries(self, value: Value, schema: Schema) -> list[int]:
        shown = datum(value)
        return self._parts.entries(compare_block(shown, shown, schema.block))


def _schema(resource: ResourceState, schemas: Schemas) -> Schema | None:
    """The schema of a resource's type, where its provider is installed."""
    item = resource.address.item
    offered: ProviderSchema | None = schemas.get(str(resource.provider.item.provider))
    if offered is None:
        return None
    types = offered.data_sources if item.mode.value == "data" else offered.resources
    return types.get(item.type)
