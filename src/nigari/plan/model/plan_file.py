"""A saved plan: a container of its own with everything that applying it needs.

In it are the configuration's files, the values of variables, the state before and after it was
refreshed, the changes and the execution graph. Values are kept exactly, unknown parts included.
Whether a plan still fits what is stored is for others to decide.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Mapping
from typing import Final

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.parse import parse_module, parse_provider_instance, parse_resource_instance
from nigari.addrs.provider import Provider, provider_for
from nigari.addrs.resource import Resource
from nigari.cty import msgpack
from nigari.cty.errors import CtyError
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Pos, Range
from nigari.lang.marks import SENSITIVE
from nigari.plan.model.changes import (
    Action,
    Change,
    DeferredChange,
    Drift,
    EphemeralInstance,
    OutputChange,
    Plan,
    PlanMode,
    Reason,
)
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.record import record
from nigari.running.deferrals import DeferralReason, DeferredKind
from nigari.schema.provider import Schema
from nigari.state.files import format_state, parse_state
from nigari.state.model import CheckObject, CheckResult, State, StateFile
from nigari.state.sensitive_paths import parse_paths, paths_text

_VERSION: Final = 6
_HEADER: Final = "plan.json"
_SEAL: Final = "seal"
_BEFORE: Final = "state/previous"
_NOW: Final = "state/refreshed"
_SOURCES: Final = "sources/"

SchemaOf = Callable[[Provider, Resource], Schema | None]
Data = dict[str, object]


@record
class SavedPlan:
    """What a plan file holds."""

    header: Data
    sources: Mapping[str, bytes]
    """The configuration's files."""
    previous: State
    refreshed: State

    @property
    def workspace(self) -> str:
        return str(self.header["workspace"])

    @property
    def environment(self) -> str:
        """The environment that the plan was made in; empty where it was none."""
        return str(self.header.get("environment", ""))

    @property
    def timestamp(self) -> str:
        return str(self.header["timestamp"])

    @property
    def lineage(self) -> str:
        return str(self.header["lineage"])

    @property
    def serial(self) -> int:
        serial = self.header["serial"]
        assert isinstance(serial, int)
        return serial

    @property
    def lock(self) -> str:
        """The checksum of the lock file."""
        return str(self.header["lock"])

    @property
    def files(self) -> dict[str, str]:
        """The checksums of files that functions have read."""
        files = self.header["files"]
        assert isinstance(files, dict)
        return {str(name): str(checksum) for name, checksum in files.items()}

    @property
    def variables(self) -> dict[str, Value]:
        """The values of the root module's variables."""
        return self._values("variables")

    @property
    def given(self) -> dict[str, Value]:
        """Those of them that were given, as they were before they were converted."""
        return self._values("given")

    @property
    def origins(self) -> dict[str, tuple[str, Range | None]]:
        """Who gave the values of variables, and where those are written."""
        found: dict[str, tuple[str, Range | None]] = {}
        origins = self.header.get("origins", {})
        assert isinstance(origins, dict)
        for name, (origin, *where) in origins.items():
            at = Range(where[0], Pos(*where[1]), Pos(*where[2])) if where else None
            found[str(name)] = (str(origin), at)
        return found

    def _values(self, member: str) -> dict[str, Value]:
        values = self.header[member]
        assert isinstance(values, dict)
        return {str(name): value_from_data(each) for name, each in values.items()}

    @property
    def backend(self) -> Data | None:
        """What the working directory remembered of its backend; None for the usual local file."""
        backend = self.header["backend"]
        assert backend is None or isinstance(backend, dict)
        return backend

    @property
    def modules(self) -> str:
        """The directory in which modules were installed."""
        return str(self.header["modules_directory"])

    @property
    def links(self) -> dict[str, str]:
        """The names of shared packages in that directory, and those of what they lead to."""
        links = self.header["links"]
        assert isinstance(links, dict)
        return {str(name): str(target) for name, target in links.items()}

    @property
    def empty(self) -> frozenset[str]:
        """The directories of modules without any files."""
        empty = self.header["empty"]
        assert isinstance(empty, list)
        return frozenset(map(str, empty))

    @property
    def is_incomplete(self) -> bool:
        """Whether planning went wrong, so that the plan is there to be looked at only."""
        return bool(self.header["incomplete"])

    @property
    def graph(self) -> ExecutionGraph:
        operations = self.header["graph"]
        assert isinstance(operations, list)
        return ExecutionGraph.from_json(operations)

    def plan(self, schema_of: SchemaOf, diags: Diagnostics) -> Plan | None:
        """The plan, once the schemas of what it changes are known."""
        header = self.header
        changes, outputs, checks = header["changes"], header["outputs"], header["checks"]
        assert isinstance(changes, list)
        assert isinstance(outputs, list)
        assert isinstance(checks, list)
        ephemeral = header["ephemeral"]
        assert isinstance(ephemeral, list)
        found = [_change_from(each, schema_of, diags) for each in changes]
        opened = [_ephemeral_from(each, schema_of, diags) for each in ephemeral]
        called = header["modules"]
        assert isinstance(called, list)
        modules = {parse_module(each, diags): tuple(names) for each, *names in called}
        generated = header["generated"]
        assert isinstance(generated, dict)
        drift = header["drift"]
        assert isinstance(drift, list)
        strayed = [_drift_from(each, schema_of, diags) for each in drift]
        deferred = header["deferred"]
        assert isinstance(deferred, list)
        left = tuple(_deferred_from(each, schema_of, diags) for each in deferred)
        ended = header["ended_data"]
        assert isinstance(ended, list)
        data = [parse_resource_instance(each, diags) for each in ended]
        if diags.has_errors:
            return None
        return Plan(
            PlanMode(header["mode"]),
            tuple(each for each in found if each is not None),
            {str(each["name"]): _output_from(each) for each in outputs},
            tuple(each for each in strayed if each is not None),
            self.previous,
            self.refreshed,
            tuple(_check_from(each) for each in checks),
            bool(header["targeted"]),
            self.timestamp,
            ephemeral=tuple(each for each in opened if each is not None),
            modules={each: names for each, names in modules.items() if each is not None},
            generated=generated,
            is_incomplete=self.is_incomplete,
            deferred=left,
            ended_data=tuple(each for each in data if each is not None),
        )


def checksum(content: bytes) -> str:
    """What a file's content is known by."""
    import hashlib

    return hashlib.sha256(content).hexdigest()


def plan_header(plan: Plan, graph: ExecutionGraph, extra: Data) -> Data:
    """The data of a plan; `extra` is what only the working directory knows."""
    return {
        "version": _VERSION,
        "mode": plan.mode.value,
        "targeted": plan.targeted,
        "incomplete": plan.is_incomplete,
        "changes": [_change_to(each) for each in plan.changes],
        "outputs": [_output_to(each) for each in plan.outputs.values()],
        "checks": [_check_to(each) for each in plan.checks],
        "ephemeral": [_ephemeral_to(each) for each in plan.ephemeral],
        "modules": [[str(each), *names] for each, names in plan.modules.items()],
        "generated": dict(plan.generated),
        "drift": [_drift_to(each) for each in plan.drift],
        "deferred": [_deferred_to(each) for each in plan.deferred],
        "ended_data": [str(each) for each in plan.ended_data],
        "graph": graph.to_json(),
        **extra,
    }


def write_plan_file(saved: SavedPlan) -> bytes:
    """The bytes of a plan file."""
    import zipfile

    contents = {
        _HEADER: json.dumps(saved.header, separators=(",", ":")).encode(),
        _BEFORE: _state_bytes(saved.previous),
        _NOW: _state_bytes(saved.refreshed),
        **{_SOURCES + name: content for name, content in saved.sources.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_SEAL, _seal(contents))
        for name, content in contents.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def read_plan_file(data: bytes, diags: Diagnostics) -> SavedPlan | None:
    """The plan that bytes tell, or `None` after reporting why they tell none."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            contents = {name: archive.read(name) for name in archive.namelist()}
        seal = contents.pop(_SEAL)
        header = json.loads(contents[_HEADER])
        if seal != _seal(contents):
            raise ValueError("its contents were changed after it was written")
        if header["version"] != _VERSION:
            raise ValueError("it was written by another version of this program")
        previous = parse_state(contents[_BEFORE], diags)
        refreshed = parse_state(contents[_NOW], diags)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        reason = (
            error
            if isinstance(error, ValueError)
            else ("it does not contain a plan of this program")
        )
        diags.error(
            "Unusable plan file",
            f'The file cannot be used: {reason}. Make a new plan with "nigari plan -out=FILE"; '
            "plans saved by OpenTofu can only be used with OpenTofu.",
        )
        return None
    if previous is None or refreshed is None:
        return None
    sources = {
        name.removeprefix(_SOURCES): content
        for name, content in contents.items()
        if name.startswith(_SOURCES)
    }
    return SavedPlan(header, sources, previous.state, refreshed.state)


def _seal(contents: Mapping[str, bytes]) -> bytes:
    """A checksum over everything, so that an altered file is noticed."""
    import hashlib

    digest = hashlib.sha256()
    for name in sorted(contents):
        digest.update(f"{name}\0{checksum(contents[name])}\n".encode())
    return digest.hexdigest().encode()


def _state_bytes(state: State) -> bytes:
    return format_state(StateFile(state, "plan", 1), is_for_people=False)


# -- values and changes -----------------------------------------------------------------------


def value_to_plan(value: Value) -> Data:
    """A value with its unknown and sensitive parts, as JSON data."""
    plain, marks = unmark_deep_with_paths(value)
    secret = [path for path, found in marks if SENSITIVE in found]
    data: Data = {"value": base64.b64encode(msgpack.marshal(plain, DYNAMIC)).decode()}
    if secret:
        data["sensitive"] = paths_text(secret)
    return data


def value_from_data(data: object) -> Value:
    """The value that JSON data tells; a `ValueError` where it tells none."""
    assert isinstance(data, dict)
    try:
        value = msgpack.unmarshal(base64.b64decode(str(data["value"])), DYNAMIC)
    except CtyError as error:
        raise ValueError(error.message) from None
    paths = parse_paths(str(data.get("sensitive", "[]")))
    return mark_with_paths(value, [(path, frozenset((SENSITIVE,))) for path in paths])


def _ephemeral_to(instance: EphemeralInstance) -> Data:
    return {"address": str(instance.address), "provider": str(instance.provider.unkeyed)}


def _ephemeral_from(
    data: Mapping[str, object], schema_of: SchemaOf, diags: Diagnostics
) -> EphemeralInstance | None:
    address = parse_resource_instance(str(data["address"]), diags, deferred_allowed=True)
    stored = parse_provider_instance(str(data["provider"]), diags)
    if address is None or stored is None:
        return None
    provider = provider_for(address.module, stored)
    schema = schema_of(provider.item.provider, address.item.resource)
    if schema is None:
        diags.error(
            "Plan does not match the providers",
            f"{provider.item.provider.display} no longer has the resource type "
            f"{address.item.resource.type}.",
        )
        return None
    return EphemeralInstance(address, provider, schema)


def _change_to(change: Change) -> Data:
    return {
        "address": str(change.address),
        "previous_address": str(change.previous_address),
        "deposed": change.deposed,
        "provider": str(change.provider.unkeyed),
        "action": change.action.value,
        "reason": change.reason.value,
        "before": value_to_plan(change.before),
        "after": value_to_plan(change.after),
        "replace_paths": paths_text(change.replace_paths),
        "private": base64.b64encode(change.private).decode(),
        "identity": _optional_to(change.identity),
        "imported_as": change.imported_as,
        "imported_identity": _optional_to(change.imported_identity),
    }


def _change_from(
    data: Mapping[str, object], schema_of: SchemaOf, diags: Diagnostics
) -> Change | None:
    subject = _ephemeral_from(data, schema_of, diags)
    if subject is None:
        return None
    previous: AbsResourceInstance | None = subject.address
    if data["previous_address"] != data["address"]:
        previous = parse_resource_instance(str(data["previous_address"]), diags)
    address, provider, schema = subject.address, subject.provider, subject.schema
    return Change(
        address,
        Action(data["action"]),
        value_from_data(data["before"]),
        value_from_data(data["after"]),
        provider,
        schema,
        Reason(data["reason"]),
        parse_paths(str(data["replace_paths"])),
        base64.b64decode(str(data["private"])),
        str(data["deposed"]),
        previous,
        _optional_from(data["identity"]),
        str(data["imported_as"]),
        _optional_from(data["imported_identity"]),
    )


def _optional_to(value: Value | None) -> object:
    return None if value is None else value_to_plan(value)


def _optional_from(data: object) -> Value | None:
    return None if data is None else value_from_data(data)


def _drift_to(drift: Drift) -> Data:
    return {
        "address": str(drift.address),
        "provider": str(drift.provider.unkeyed),
        "previous_address": str(drift.previous_address or drift.address),
        "before": value_to_plan(drift.before),
        "after": value_to_plan(drift.after),
    }


def _drift_from(
    data: Mapping[str, object], schema_of: SchemaOf, diags: Diagnostics
) -> Drift | None:
    subject = _ephemeral_from(data, schema_of, diags)
    previous = parse_resource_instance(str(data["previous_address"]), diags)
    if subject is None:
        return None
    before, after = value_from_data(data["before"]), value_from_data(data["after"])
    moved_from = None if previous == subject.address else previous
    return Drift(subject.address, before, after, subject.schema, subject.provider, moved_from)


def _deferred_to(deferred: DeferredChange) -> Data:
    return {
        "address": deferred.address,
        "kind": deferred.kind.value,
        "reason": deferred.reason.value,
        "chain": list(deferred.chain),
        "round": deferred.round,
        "most": deferred.most,
        "change": None if deferred.change is None else _change_to(deferred.change),
        "settled": list(deferred.settled),
    }


def _deferred_from(
    data: Mapping[str, object], schema_of: SchemaOf, diags: Diagnostics
) -> DeferredChange:
    change, chain, settled = data["change"], data["chain"], data["settled"]
    number, most = data["round"], data["most"]
    assert isinstance(chain, list)
    assert isinstance(settled, list)
    assert isinstance(number, int)
    assert isinstance(most, int)
    return DeferredChange(
        str(data["address"]),
        DeferredKind(data["kind"]),
        DeferralReason(data["reason"]),
        tuple(map(str, chain)),
        number,
        most,
        _change_from(change, schema_of, diags) if isinstance(change, dict) else None,
        tuple(settled),
    )


def _output_to(change: OutputChange) -> Data:
    return {
        "name": change.name,
        "action": change.action.value,
        "before": value_to_plan(change.before),
        "after": value_to_plan(change.after),
        "sensitive": change.sensitive,
    }


def _output_from(data: Mapping[str, object]) -> OutputChange:
    return OutputChange(
        str(data["name"]),
        Action(data["action"]),
        value_from_data(data["before"]),
        value_from_data(data["after"]),
        bool(data["sensitive"]),
    )


def _check_to(check: CheckResult) -> Data:
    objects = [[each.address, each.status, list(each.failure_messages)] for each in check.objects]
    return {"kind": check.kind, "block": check.block, "status": check.status, "objects": objects}


def _check_from(data: Mapping[str, object]) -> CheckResult:
    objects = data["objects"]
    assert isinstance(objects, list)
    return CheckResult(
        str(data["kind"]),
        str(data["block"]),
        str(data["status"]),
        tuple(CheckObject(address, status, tuple(texts)) for address, status, texts in objects),
    )
