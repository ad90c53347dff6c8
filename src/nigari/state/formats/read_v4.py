"""Parser of state format 4, with every rule of OpenTofu.

An invalid file is rejected as a whole and its faults are reported. As in OpenTofu, unknown members
are ignored and thus not written again; the only additional members are Nigari's records of provider
instances. Deliberately unknown here: the source of the text, and older versions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.absolute import Abs, AbsResource, instance_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.provider import (
    AbsProviderConfig,
    AbsProviderInstance,
    config_of,
    provider_for,
)
from nigari.addrs.resource import DATA, MANAGED, Resource
from nigari.cty import CtyError
from nigari.cty import json as cty_json
from nigari.diagnostics import Diagnostics
from nigari.hcl.quoting import quoted
from nigari.record import record, replace
from nigari.state.formats.other_providers import (
    OTHER_PROVIDERS,
    before_barrier,
    is_behind_barrier,
    read_other_providers,
)
from nigari.state.json_text import (
    Reader,
    end_of_document,
    read_elements,
    read_members,
    read_text,
)
from nigari.state.model import (
    CHECK_KINDS,
    CHECK_STATUSES,
    PROVIDER_MEMORIES,
    TRIGGERS,
    CheckObject,
    CheckResult,
    InstanceState,
    ObjectStatus,
    OutputState,
    ProviderMemory,
    ResourceState,
    State,
    StateFile,
    StoredObject,
)
from nigari.state.sensitive_paths import parse_paths
from nigari.state.stored_addresses import StoredAddresses
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias


Members: TypeAlias = Mapping[str, object]

_MODES: Final = {"managed": MANAGED, "data": DATA}
_STATUSES: Final = {"": ObjectStatus.READY, "tainted": ObjectStatus.TAINTED}


def read_v4(text: str, diags: Diagnostics) -> StateFile | None:
    """Parse the text of a state file; `None` after reporting its faults.

    Raises `json.JSONDecodeError` if the text is not JSON, and `RecursionError` if it is nested too
    deeply.
    """
    members, end = read_members(text, _start(text), _FILE_READERS)
    end_of_document(text, end)
    problems = Diagnostics()
    file = _Build(problems).file(members)
    diags.extend(problems)
    return None if problems.has_errors else file


def _start(text: str) -> int:
    return len(text) - len(text.lstrip(" \t\n\r"))


def _read_instance(text: str, index: int) -> tuple[Members, int]:
    return read_members(text, index, _INSTANCE_READERS)


def _read_instances(text: str, index: int) -> tuple[object, int]:
    return read_elements(text, index, _read_instance)


def _read_resource(text: str, index: int) -> tuple[Members, int]:
    return read_members(text, index, _RESOURCE_READERS)


def _read_resources(text: str, index: int) -> tuple[object, int]:
    return read_elements(text, index, _read_resource)


def _read_output(text: str, index: int) -> tuple[object, int]:
    return read_members(text, index, _OUTPUT_READERS)


def _read_outputs(text: str, index: int) -> tuple[object, int]:
    if text.startswith("null", index):
        return {}, index + 4
    return read_members(text, index, {}, _read_output)


_INSTANCE_READERS: Final[Mapping[str, Reader[object]]] = {
    "attributes": read_text,
    "sensitive_attributes": read_text,
    "identity": read_text,
}
_RESOURCE_READERS: Final[Mapping[str, Reader[object]]] = {"instances": _read_instances}
_OUTPUT_READERS: Final[Mapping[str, Reader[object]]] = {"value": read_text, "type": read_text}
_FILE_READERS: Final[Mapping[str, Reader[object]]] = {
    "resources": _read_resources,
    "outputs": _read_outputs,
    PROVIDER_MEMORIES: read_text,
    OTHER_PROVIDERS: read_text,
}


class _Wrong(Exception):
    """A member whose value has the wrong type."""

    def __init__(self, member: str, wanted: str) -> None:
        super().__init__(member, wanted)
        self.member = member
        self.wanted = wanted


def _text(members: Members, name: str) -> str:
    value = members.get(name)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise _Wrong(name, "a string")


def _count(members: Members, name: str) -> int:
    value = members.get(name)
    if value is None:
        return 0
    # OpenTofu stores serials and schema versions in 64 bits without a sign.
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64:
        return value
    raise _Wrong(name, "a whole number that is not negative")


def _flag(members: Members, name: str) -> bool:
    value = members.get(name)
    # encoding/json leaves a Go field at its zero value if the member is null or absent, so
    # both mean false; the same holds for the other types.
    if value is None or isinstance(value, bool):
        return bool(value)
    raise _Wrong(name, "true or false")


def _texts(members: Members, name: str) -> list[str]:
    value = members.get(name)
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise _Wrong(name, "an array of strings")


def _objects(members: Members, name: str) -> list[Members]:
    value = members.get(name)
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return value
    raise _Wrong(name, "an array of objects")


@record
class _Entry:
    """An element of `instances`: an object with its key."""

    key: InstanceKey
    deposed: str
    stored: StoredObject
    provider: AbsProviderInstance | None
    """Provider named in the entry itself, if there is one."""


class _Build:
    """Builds a state from the members of a file."""

    __slots__ = ("_addresses", "_diags", "_others")

    def __init__(self, diags: Diagnostics) -> None:
        self._diags = diags
        self._addresses = StoredAddresses(diags)
        self._others: Mapping[tuple[str, str], AbsProviderInstance] = {}
        """Providers that no entry can name: see `nigari.state.formats.other_providers`."""

    def file(self, members: Members) -> StateFile | None:
        try:
            lineage, serial = _text(members, "lineage"), _count(members, "serial")
            version = _text(members, "terraform_version")
            checks = self._checks(members)
        except _Wrong as wrong:
            self._malformed("The file", wrong)
            return None
        # OpenTofu: an invalid version string makes the whole file invalid.
        if version and not _looks_like_version(version):
            self._diags.error(
                "Invalid state file",
                f"The file says it was written by version {version!r}, which is not a valid "
                "version number.",
            )
        # Faults of this member are not reported: OpenTofu does not know it and would
        # accept the file.
        if OTHER_PROVIDERS in members:
            text = cast("str", members[OTHER_PROVIDERS])
            self._others = read_other_providers(text, StoredAddresses(Diagnostics()))
        resources: dict[AbsResource, ResourceState] = {}
        for entry in cast("Sequence[Members]", members.get("resources") or ()):
            self._resource(entry, resources)
        outputs = {}
        for name, output in cast("Mapping[str, Members]", members.get("outputs") or {}).items():
            built = self._output(name, output)
            if built is not None:
                outputs[name] = built
        state = State(resources, outputs, checks, _remembered(members))
        return StateFile(state, lineage, serial, version)

    def _resource(self, members: Members, resources: dict[AbsResource, ResourceState]) -> None:
        try:
            type_name, name = _text(members, "type"), _text(members, "name")
            module = self._addresses.module(_text(members, "module"), name)
            mode = _MODES.get(_text(members, "mode"))
            provider_text = _text(members, "provider")
        except _Wrong as wrong:
            self._malformed("A resource", wrong)
            return
        if module is None:
            return
        if mode is None:
            self._unknown_mode(members)
            return
        provider: AbsProviderConfig | None = None
        address = Abs(module, Resource(mode, type_name, name))
        if provider_text:
            named = self._addresses.provider(provider_text, address)
            if named is None:
                return
            # OpenTofu: a resource names a whole provider configuration; its instances name provider
            # instances with keys.
            if named.item.key is not None:
                self._keyed_provider(provider_text)
                return
            provider = config_of(named)
        self._instances(address, provider, members, resources)

    def _instances(
        self,
        address: AbsResource,
        provider: AbsProviderConfig | None,
        members: Members,
        resources: dict[AbsResource, ResourceState],
    ) -> None:
        known = resources.get(address)
        instances = {} if known is None else dict(known.instances)
        of_entries: AbsProviderConfig | None = None
        managers: dict[AbsProviderInstance | None, AbsProviderInstance] = {}
        for each in cast("Sequence[Members]", members.get("instances") or ()):
            entry = self._entry(address, each)
            if entry is None:
                continue
            if entry.provider is None and provider is None:
                self._no_provider(address)
                return
            manager = managers.get(entry.provider)
            if manager is None:
                if entry.provider is not None:
                    block = config_of(entry.provider)
                    # OpenTofu: all instances of a resource share one provider block, whose
                    # instances may differ.
                    if of_entries is not None and of_entries != block:
                        self._different_providers(address, of_entries, block)
                        return
                    of_entries = block
                manager = managers[entry.provider] = _manager(address, entry.provider, provider)
            self._add(address, instances, entry, manager)
        if provider is not None and of_entries is not None and provider != of_entries:
            self._different_providers(address, provider, of_entries)
            return
        effective = of_entries or provider
        if effective is not None:
            resources[address] = ResourceState(address, effective, instances)

    def _entry(self, address: AbsResource, members: Members) -> _Entry | None:
        try:
            key = _instance_key(members)
            status = _STATUSES.get(_text(members, "status"))
            deposed = _text(members, "deposed")
            provider_text = _text(members, "provider")
            stored = self._object(address, members, status or ObjectStatus.READY)
        except _Wrong as wrong:
            self._malformed(f"An instance of {address}", wrong)
            return None
        if status is None:
            self._unknown_status(address, members)
            return None
        # readStateV4: any eight characters are a deposed key; other lengths are an error.
        if deposed and len(deposed) != 8:
            self._bad_deposed_key(address, deposed)
            return None
        if stored is None:
            return None
        provider = self._addresses.provider(provider_text, address) if provider_text else None
        if provider_text and provider is None:
            return None
        return _Entry(key, deposed, stored, provider)

    def _object(
        self, address: AbsResource, members: Members, status: ObjectStatus
    ) -> StoredObject | None:
        dependencies = []
        for text in _texts(members, "dependencies"):
            dependency = self._addresses.dependency(text, address)
            if dependency is None:
                return None
            dependencies.append(dependency)
        sensitive = cast("str", members.get("sensitive_attributes") or "[]")
        if sensitive != "[]":
            try:
                parse_paths(sensitive)
            except ValueError as error:
                raise _Wrong("sensitive_attributes", f"an array of paths ({error})") from None
        # OpenTofu accepts an object without attributes as an empty one.
        attributes = cast("str", members.get("attributes") or "null")
        flat = None if attributes != "null" else _flat_attributes(members)
        identity = cast("str | None", members.get("identity"))
        return StoredObject(
            attributes="{}" if attributes == "null" else attributes,
            schema_version=_count(members, "schema_version"),
            status=status,
            sensitive_attributes="[]" if sensitive == "null" else sensitive,
            private=_private(members),
            dependencies=tuple(dependencies),
            create_before_destroy=_flag(members, "create_before_destroy"),
            skip_destroy=_flag(members, "skip_destroy"),
            identity=None if identity == "null" else identity,
            # Absent and 0 differ: OpenTofu writes no identity version for objects
            # that never had one.
            identity_schema_version=_count(members, "identity_schema_version")
            if members.get("identity_schema_version") is not None
            else None,
            flat_attributes=flat,
            triggers=tuple(_texts(members, TRIGGERS)),
        )

    def _add(
        self,
        address: AbsResource,
        instances: dict[InstanceKey, InstanceState],
        entry: _Entry,
        manager: AbsProviderInstance,
    ) -> None:
        stored = entry.stored
        if is_behind_barrier(stored):
            other = self._others.get((instance_of(address, entry.key).text, entry.deposed))
            if other is not None:
                stored, manager = before_barrier(stored), other
        known = instances.get(entry.key)
        # The usual case first: states have many instances with one object each.
        if known is None and not entry.deposed:
            instances[entry.key] = InstanceState(stored, provider=manager)
            return
        known = known or InstanceState()
        if entry.deposed:
            if entry.deposed in known.deposed:
                self._duplicate(address, entry)
                return
            deposed = {**known.deposed, entry.deposed: stored}
            providers = {**known.deposed_providers, entry.deposed: manager}
            instances[entry.key] = InstanceState(known.current, deposed, known.provider, providers)
        elif known.current is not None:
            self._duplicate(address, entry)
        else:
            instances[entry.key] = replace(known, current=stored, provider=manager)

    def _output(self, name: str, members: Members) -> OutputState | None:
        try:
            sensitive = _flag(members, "sensitive")
            deprecated = _text(members, "deprecated")
            if "value" not in members:
                raise _Wrong("value", "there")
            # OpenTofu stores the type of an output beside it, since JSON cannot tell
            # lists from tuples, or maps from objects.
            type_ = cty_json.type_from_json(cast("str", members.get("type") or "null"))
            value = cty_json.value_from_json(cast("str", members["value"]), type_)
        except _Wrong as wrong:
            self._malformed(f"The output {quoted(name)}", wrong)
            return None
        except CtyError as error:
            self._diags.error(
                "Invalid state file",
                f"The value of the output {quoted(name)} does not match its type: {error.message}.",
            )
            return None
        return OutputState(value, sensitive, deprecated)

    def _checks(self, members: Members) -> tuple[CheckResult, ...]:
        return tuple(
            CheckResult(
                kind=_text(result, "object_kind"),
                block=_text(result, "config_addr"),
                status=_check_status(result),
                objects=tuple(
                    CheckObject(
                        _text(each, "object_addr"),
                        _check_status(each),
                        tuple(_texts(each, "failure_messages")),
                    )
                    for each in _objects(result, "objects")
                ),
            )
            for result in _objects(members, "check_results")
            # Other kinds of objects were written by a newer version; their results are not needed.
            if _text(result, "object_kind") in CHECK_KINDS
        )

    def _malformed(self, what: str, wrong: _Wrong) -> None:
        self._diags.error(
            "Invalid state file",
            f"{what} has a member {quoted(wrong.member)} that is not {wrong.wanted}.",
        )

    def _unknown_mode(self, members: Members) -> None:
        self._diags.error(
            "Invalid state file",
            f"The resource {members.get('type')}.{members.get('name')} has the mode "
            f"{members.get('mode')!r}; only managed and data are supported.",
        )

    def _unknown_status(self, address: AbsResource, members: Members) -> None:
        self._diags.error(
            "Invalid state file",
            f"An instance of {address} has the status {members.get('status')!r}; only tainted is "
            "supported.",
        )

    def _bad_deposed_key(self, address: AbsResource, key: str) -> None:
        self._diags.error(
            "Invalid state file",
            f"A deposed object of {address} has the key {quoted(key)}, which should have eight"
            " characters.",
        )

    def _no_provider(self, address: AbsResource) -> None:
        self._diags.error(
            "Invalid state file",
            f"Neither {address} nor its instance names the provider that manages it.",
        )

    def _keyed_provider(self, provider: str) -> None:
        self._diags.error(
            "Invalid state file",
            f"The file names {provider} for a whole resource. If a provider configuration has an "
            "instance key, each instance of the resource must name its own.",
        )

    def _different_providers(
        self, address: AbsResource, one: AbsProviderConfig, other: AbsProviderConfig
    ) -> None:
        self._diags.error(
            "Invalid state file",
            f"The file names two provider configurations for {address}, {one} and {other}. All"
            " instances of a resource share one; only its instance key may differ.",
        )

    def _duplicate(self, address: AbsResource, entry: _Entry) -> None:
        which = f"deposed object {entry.deposed}" if entry.deposed else "current object"
        instance = Abs(address.module, address.item.instance(entry.key))
        self._diags.error(
            "Invalid state file", f"The {which} of {instance} occurs in the file more than once."
        )


def _manager(
    address: AbsResource, named: AbsProviderInstance | None, block: AbsProviderConfig | None
) -> AbsProviderInstance:
    """Return the provider instance of an entry, named by itself or by its resource."""
    if named is None:
        assert block is not None
        named = Abs(block.module, block.item.instance())
    return provider_for(address.module, Abs(named.module.unkeyed, named.item))


def _instance_key(members: Members) -> InstanceKey:
    key = members.get("index_key")
    if key is None or isinstance(key, str):
        return key
    # Other programs write a whole number as 1.0.
    if isinstance(key, float) and key.is_integer():
        return int(key)
    if isinstance(key, int) and not isinstance(key, bool):
        return key
    raise _Wrong("index_key", "a string or a whole number")


def _private(members: Members) -> bytes:
    text = _text(members, "private")
    if not text:
        return b""
    import base64
    import binascii

    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise _Wrong("private", "base64 text") from None


def _flat_attributes(members: Members) -> Mapping[str, str] | None:
    flat = members.get("attributes_flat")
    if flat is None:
        return None
    if isinstance(flat, dict) and all(isinstance(each, str) for each in flat.values()):
        return flat
    raise _Wrong("attributes_flat", "an object of strings")


def _check_status(members: Members) -> str:
    # decodeCheckStatusV4: a status of a newer version counts as unknown.
    status = _text(members, "status")
    return status if status in CHECK_STATUSES else "unknown"


def _remembered(members: Members) -> Mapping[AbsProviderInstance, ProviderMemory]:
    """Parse the provider instances recorded in the file, which are rare."""
    text = members.get(PROVIDER_MEMORIES)
    if text is None:
        return {}
    from nigari.state.provider_memory import memories

    found = memories(cast("str", text), StoredAddresses(Diagnostics()))
    return {each.address: each for each in found}


def _looks_like_version(text: str) -> bool:
    # version.NewVersion of OpenTofu also accepts a leading v and any number of segments.
    core = text.removeprefix("v").partition("-")[0].partition("+")[0]
    return all(part.isdigit() for part in core.split("."))
