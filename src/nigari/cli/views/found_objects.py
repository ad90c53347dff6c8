"""Objects that a query has found: their identity as a text, and as members of events.

Terraform's events have the same members. Sensitive values are null, which Terraform shows.
"""

from __future__ import annotations

from nigari.cty.json import value_to_json
from nigari.cty.paths import Path, transform
from nigari.cty.values import Value, null
from nigari.events import FoundObject
from nigari.hcl.quoting import visible
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.plan.show.plan_json import value_to_data

Members = dict[str, object]


def identity_text(identity: Value) -> str:
    """Write an identity as `name=value,name=value`."""
    parts = sorted(identity.mapping().items())
    return visible(",".join(f"{name}={_text(part)}" for name, part in parts))


def _text(value: Value) -> str:
    if value.is_null:
        return "<null>"
    return value.as_string() if isinstance(value.data, str) else value_to_json(value)


def started_members(config: Value) -> Members:
    """Describe the configuration of a query. Terraform leaves it out if there is none."""
    if config.is_null or all(each.is_null for each in config.mapping().values()):
        return {}
    return {"input_config": _members(config)}


def found_members(found: FoundObject) -> Members:
    """Describe an object that was found."""
    members: Members = {
        "display_name": found.display_name,
        "identity": _members(found.identity),
        "identity_version": found.identity_version,
    }
    if not found.state.is_null:
        members["resource_object"] = _members(found.state)
    if found.config:
        members["config"] = found.config
        members["import_config"] = found.import_config
    return members


def _members(value: Value) -> object:
    return value_to_data(transform(value, _shown))


def _shown(_path: Path, value: Value) -> Value:
    is_secret = SENSITIVE in value.marks or EPHEMERAL in value.marks
    return null(value.type) if is_secret else value
