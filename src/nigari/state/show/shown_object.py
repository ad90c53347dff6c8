"""The objects of a state as values that can be shown.

What cannot be read by its provider's schema is reported under its address.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.schema.provider import Schema
from nigari.state.model import ResourceState, StoredObject
from nigari.state.objects import UnreadableObject, decode_for_display


def shown_object(
    resource: ResourceState,
    address: AbsResourceInstance,
    stored: StoredObject,
    schema: Schema | None,
    diags: Diagnostics,
) -> Value | None:
    """The object as its provider describes it; None after reporting why it cannot be shown."""
    provider, item = resource.provider.item.provider, resource.address.item
    try:
        if schema is None:
            raise UnreadableObject(f"the provider {provider.display} has no schema for {item.type}")
        return decode_for_display(stored, schema)
    except UnreadableObject as problem:
        diags.error(
            "Object cannot be shown",
            f"The object of {address} cannot be shown: {problem}.",
            address=address.text,
        )
        return None
