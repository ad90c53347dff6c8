"""Settings of `terraform_remote_state` as plans and states show them in text.

They are the arguments of a backend, so the same ones are shown as of a backend block: those that are
known to hold no secret. Only what is shown changes. The stored values, references to them and JSON
documents are as in OpenTofu.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from nigari.addrs.resource import DATA, Resource
from nigari.backends.harmless import is_harmless, marked
from nigari.cty.values import Value, object_value
from nigari.diagnostics.secret_urls import carries_secret
from nigari.record import replace
from nigari.state.model import InstanceState, ResourceState, State, StoredObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_TYPE: Final = "terraform_remote_state"
_SETTINGS: Final = "config"


def shown_object(resource: Resource, value: Value) -> Value:
    """An object of a plan, with sensitive marks on settings that may hold a secret."""
    if not _has_settings(resource) or not isinstance(value.data, dict):
        return value
    backend, settings = (value.attribute(name) for name in ("backend", _SETTINGS))
    if not isinstance(settings.data, dict):
        return value
    name = backend.data if isinstance(backend.data, str) else ""
    inside = {key: marked(name, key, each) for key, each in settings.data.items()}
    shown = object_value(inside).with_marks(settings.marks)
    return object_value({**value.data, _SETTINGS: shown}).with_marks(value.marks)


def shown_state(state: State) -> State:
    """A state, with sensitive marks on settings that may hold a secret."""
    hidden = {
        address: _shown_resource(resource)
        for address, resource in state.resources.items()
        if _has_settings(address.item)
    }
    return replace(state, resources={**state.resources, **hidden}) if hidden else state


def _has_settings(resource: Resource) -> bool:
    return resource.mode is DATA and resource.type == _TYPE


def _shown_resource(resource: ResourceState) -> ResourceState:
    instances = {key: _shown_instance(each) for key, each in resource.instances.items()}
    return replace(resource, instances=instances)


def _shown_instance(instance: InstanceState) -> InstanceState:
    if instance.current is None:
        return instance
    return replace(instance, current=_shown_stored(instance.current))


def _shown_stored(stored: StoredObject) -> StoredObject:
    paths = [*json.loads(stored.sensitive_attributes), *_secret_paths(stored)]
    shown = stored.with_status(stored.status)
    shown.sensitive_attributes = json.dumps(paths)
    return shown


def _secret_paths(stored: StoredObject) -> Iterator[list[dict[str, str]]]:
    """Paths of the settings that are not shown, in the form of a state file."""
    attributes = json.loads(stored.attributes)
    settings = attributes.get(_SETTINGS)
    value = settings.get("value") if isinstance(settings, dict) else None
    first = {"type": "get_attr", "value": _SETTINGS}
    for name, each in value.items() if isinstance(value, dict) else ():
        text = json.dumps(each)
        if not is_harmless(str(attributes.get("backend")), name) or carries_secret(text):
            yield [first, {"type": "get_attr", "value": name}]
