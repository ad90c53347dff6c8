"""Upgrade of state formats 1 to 3 to format 4.

Attributes in those formats are flat text, which only the provider can convert to values, so they
stay flat here. Dependencies are dropped, because their syntax differs; the next apply records them
again.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping

from nigari import cty
from nigari.hcl.quoting import quoted
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_IDENTIFIER: Final = lazy_pattern(r"[^\W\d][\w-]*")
_OCTAL: Final = lazy_pattern(r"[-+]?0[0-7]+", re.ASCII)
_ALIAS: Final = lazy_pattern(r"([^\W\d][\w-]*)(?:\.([^\W\d][\w-]*))?")

Members = Mapping[str, object]


class UpgradeFailure(Exception):
    """Reason why an old file cannot be upgraded."""


def upgrade_to_v4(members: Members, version: int) -> dict[str, object]:
    """Convert the members of a file of version 1, 2 or 3 to version 4."""
    serial = members.get("serial") or 0
    if not isinstance(serial, int) or serial < 0:
        raise UpgradeFailure("its serial is not a valid number")
    resources: list[dict[str, object]] = []
    outputs: dict[str, object] = {}
    for module in _list(members, "modules"):
        # upgradeToV2: in version 1 the root module may have no path. Later versions
        # require "root" at the start of each.
        path = _list(module, "path") or (["root"] if version == 1 else [])
        if not path or path[0] != "root":
            raise UpgradeFailure(f"it has a module with the path {path!r}")
        address = _module_address(path[1:])
        resources += _module_resources(module, address, version)
        # upgradeStateV3ToV4: format 4 has outputs of the root module only.
        if len(path) == 1:
            for name, output in _object(module, "outputs").items():
                outputs[name] = _output(output, version)
    return {
        "version": 4,
        # Very old programs did not record a version; 0.0.0 stands for them, as in
        # OpenTofu.
        "terraform_version": members.get("terraform_version") or "0.0.0",
        "serial": serial,
        "lineage": members.get("lineage") or "",
        "outputs": outputs,
        "resources": resources,
    }


def _module_address(names: list[object]) -> str:
    for name in names:
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            raise UpgradeFailure(f"it has a module named {name!r}, which is not an identifier")
    return ".".join(f"module.{name}" for name in names)


def _module_resources(module: object, address: str, version: int) -> list[dict[str, object]]:
    resources: dict[tuple[str, str, str], dict[str, object]] = {}
    for old_address, old in _object(module, "resources").items():
        mode, type_name, name, key = _resource_address(old_address)
        known = resources.setdefault(
            (mode, type_name, name),
            {
                "module": address,
                "mode": mode,
                "type": type_name,
                "name": name,
                "provider": _provider(_text(old, "provider"), type_name, address),
                "instances": [],
            },
        )
        instances = known["instances"]
        assert isinstance(instances, list)
        primary = _member(old, "primary")
        if primary is not None:
            instances.append(_instance(primary, key, "", version))
        for index, deposed in enumerate(_list(old, "deposed")):
            # Old formats had no deposed keys; OpenTofu makes them up from the
            # position.
            instances.append(_instance(deposed, key, f"{index + 1:08x}", version))
    return list(resources.values())


def _resource_address(text: str) -> tuple[str, str, str, int | None]:
    """Split `data.TYPE.NAME.INDEX`; the first and the last part are optional."""
    parts = text.split(".")
    mode = "managed"
    if len(parts) > 2 and parts[0] == "data":
        mode = "data"
        parts = parts[1:]
    if len(parts) not in (2, 3):
        raise UpgradeFailure(f"it has a resource {quoted(text)}, which is not an address")
    if len(parts) == 2:
        return mode, parts[0], parts[1], None
    # strconv.ParseInt with base 0: a leading zero means octal.
    base = 8 if _OCTAL.fullmatch(parts[2]) else 0
    try:
        return mode, parts[0], parts[1], int(parts[2], base)
    except ValueError:
        raise UpgradeFailure(
            f"it has a resource {quoted(text)}, whose index is not a number"
        ) from None


def _provider(old: str, type_name: str, module: str) -> str:
    """Convert a provider to its form before namespaces, which the parser accepts."""
    # upgradeStateV3ToV4: names of provider blocks with "provider." are whole addresses. Older
    # ones are a local name with an alias, in the module of the resource.
    if "provider." in old:
        return old
    local = _ALIAS.fullmatch(old) if old else None
    if old and local is None:
        raise UpgradeFailure(f"it has a provider {quoted(old)}, which is not a name")
    # Without a name, the first word of the resource type names the provider, as for
    # configurations.
    name = type_name.partition("_")[0] if local is None else local[1]
    alias = "" if local is None or local[2] is None else f".{local[2]}"
    prefix = f"{module}." if module else ""
    return f"{prefix}provider.{name}{alias}"


def _instance(old: object, key: int | None, deposed: str, version: int) -> dict[str, object]:
    attributes = {name: str(value) for name, value in _object(old, "attributes").items()}
    if version < 3:
        _mark_maps(attributes)
    old_id = _text(old, "id")
    # upgradeInstanceObjectV3ToV4: the id was a member of its own and may be missing among the
    # attributes.
    if old_id and not attributes.get("id"):
        attributes["id"] = old_id
    meta = dict(_object(old, "meta"))
    schema_version = _schema_version(meta)
    instance: dict[str, object] = {
        "index_key": key,
        "status": "tainted" if _member(old, "tainted") else "",
        "deposed": deposed,
        "schema_version": schema_version,
    }
    if attributes or _member(old, "attributes") is not None:
        instance["attributes_flat"] = attributes
    if meta:
        # encoding/json sorts keys and writes no white space; provider SDKs read these
        # bytes.
        private = json.dumps(meta, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        instance["private"] = base64.b64encode(private.encode()).decode()
    return instance


def _schema_version(meta: dict[str, object]) -> int:
    """Remove and return the schema version that old providers stored in their private data."""
    raw = meta.get("schema_version")
    is_text = isinstance(raw, str) and raw.isascii() and raw.isdigit()
    if not is_text and (isinstance(raw, bool) or not isinstance(raw, int | float)):
        return 0
    # OpenTofu removes it, so that it is not stored twice with different values.
    del meta["schema_version"]
    return int(raw) if isinstance(raw, str | int | float) else 0


def _mark_maps(attributes: dict[str, str]) -> None:
    """Count maps with `%`, as version 3 does, and drop counts of empty collections."""
    for count_name in sorted(name for name in attributes if name.endswith(".#")):
        prefix = count_name[:-1]
        keys = {
            name[len(prefix) :].partition(".")[0]
            for name in attributes
            if name.startswith(prefix) and name != count_name
        }
        keys.discard("#")
        # upgradeAttributesV2ToV3: a key that is not a number can only be one of a map.
        if any(not key.lstrip("+-").isdigit() for key in keys):
            attributes[prefix + "%"] = attributes.pop(count_name)
        elif not keys:
            del attributes[count_name]


def _output(old: object, version: int) -> dict[str, object]:
    # Version 1 had only strings, stored without a type.
    value = old if version == 1 else _member(old, "value")
    type_ = _collection_type(cty.json.implied_type(json.dumps(value)))
    return {
        "value": value,
        "type": json.loads(cty.json.type_to_json(type_)),
        "sensitive": version > 1 and bool(_member(old, "sensitive")),
    }


def _collection_type(type_: cty.Type) -> cty.Type:
    """Convert to a list or map if all parts have one type: old versions had nothing else."""
    if isinstance(type_, cty.TupleType):
        parts = set(type_.elements)
        return cty.ListType(_collection_type(parts.pop())) if len(parts) == 1 else type_
    if isinstance(type_, cty.ObjectType):
        parts = set(type_.attributes.values())
        return cty.MapType(_collection_type(parts.pop())) if len(parts) == 1 else type_
    return type_


def _member(of: object, name: str) -> object:
    return of.get(name) if isinstance(of, dict) else None


def _object(of: object, name: str) -> Members:
    value = _member(of, name)
    return value if isinstance(value, dict) else {}


def _list(of: object, name: str) -> list[object]:
    value = _member(of, name) if not isinstance(of, Mapping) else of.get(name)
    return list(value) if isinstance(value, list) else []


def _text(of: object, name: str) -> str:
    value = _member(of, name)
    return value if isinstance(value, str) else ""
