"""The states of the backends `remote` and `cloud`: versions of a state, and the lock of a workspace.

A new version has a serial, and the service accepts no other content for one that is taken: that is
the condition of a write. The lock has no information of its own, so ours is in its reason.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence

from nigari.backends.locking import LockInfo, parse_lock
from nigari.backends.store import (
    ABSENT,
    BackendFailure,
    Content,
    ContentChanged,
    StateIsLocked,
)
from nigari.backends.stores.hosted.api import ApiResource, HostedApi, document, one
from nigari.backends.stores.hosted.mapping import WorkspaceMapping
from nigari.backends.stores.hosted.organization import HostedWorkspace, Organization
from nigari.diagnostics.advice import advice
from nigari.net.failures import NetFailure
from nigari.net.response import Response
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_REASON: Final = "Locked by Nigari: "
_OPERATIONS: Final = ("OperationTypePlan", "OperationTypeApply", "OperationTypeRefresh")
_INTERVAL: Final = "x-terraform-snapshot-interval"
_LONGEST_INTERVAL: Final = 3600
_REFUSED: Final = (409, 412)
_WANTS_CONTENT: Final = "param is missing or the value is empty: state"
"""The answers of older services, which take the content with the description only."""


@record
class Behavior:
    """In what the two backends differ, and what the environment says."""

    is_forced_local: bool
    """True if all runs happen on this machine, regardless of the service's setting."""
    run_id: str
    """The run of the service that this process belongs to, if any."""
    asks_for_interval: bool
    """True if the service limits how often a state may be stored during a run."""
    shows_states: bool
    """True if the service also receives the `show -json` document of each state."""


class HostedStore:
    """The states of workspaces of an organization."""

    def __init__(
        self, api: HostedApi, organization: Organization, mapping: WorkspaceMapping, how: Behavior
    ) -> None:
        self.has_workspaces: bool = not mapping.only
        self._api = api
        self._organization = organization
        self._mapping = mapping
        self._how = how
        self._interval = math.inf if how.asks_for_interval or how.run_id else 0.0
        self._stored: dict[str, _Origin] = {}
        self._unsaved: set[str] = set()
        self._documents: dict[str, bytes] = {}

    @property
    def pause_between(self) -> float:
        return self._interval

    @property
    def shows_states(self) -> bool:
        return self._how.shows_states

    def describe(self, workspace: str, document: str) -> None:
        self._documents[workspace] = document.encode()

    def location(self, workspace: str) -> str:
        name = self._mapping.hosted(workspace)
        return f"https://{self._api.host}/app/{self._organization.name}/workspaces/{name}"

    def objection(self, workspace: str) -> str:
        return self._mapping.objection(workspace)

    async def open(self) -> None:
        self._api.open()

    async def close(self) -> None:
        await self._api.close()

    # -- workspaces -----------------------------------------------------------------------------

    async def names(self) -> Sequence[str]:
        return await self._organization.names()

    async def create(self, workspace: str) -> None:
        await self._organization.create(workspace)

    async def delete(self, workspace: str) -> None:
        await self._organization.delete(workspace, only_unused=False)

    async def delete_unused(self, workspace: str) -> None:
        await self._organization.delete(workspace, only_unused=True)

    async def admit(self, workspace: str, operation: str) -> None:
        if self._how.is_forced_local or operation not in _OPERATIONS:
            return
        found = await self._organization.find_for_run(workspace)
        if found is None:
            await self._organization.check()
            raise BackendFailure(
                "There is no such workspace, or the token may not see it. Create it "
                f"{advice().new_workspace(workspace)}."
            )
        if await self._organization.runs_elsewhere(found):
            raise BackendFailure(
                f'The workspace "{found.name}" runs plans and applies on {self._api.host}, which '
                "is not supported. Set the execution mode of the workspace to local, or set "
                "TF_FORCE_LOCAL_BACKEND=1, to plan and apply on this machine; the state stays "
                "where it is."
            )

    # -- contents -------------------------------------------------------------------------------

    async def read(self, workspace: str) -> Content | None:
        found = await self._organization.find(workspace)
        if found is None:
            await self._organization.check()
            return None
        response = await self._api.request("GET", f"workspaces/{found.id}/current-state-version")
        self._note_interval(response)
        if response.status == 404:
            return None
        version = one(response.require(200))
        data = await self._api.download(version.text("hosted-state-download-url"))
        self._stored[workspace] = _origin_of(data)
        return Content(data, version.id) if data else None

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        found = await self._organization.create(workspace)
        before, new = self._stored.get(workspace), _origin_of(data)
        is_forced = expected is None or (
            expected != ABSENT and before is not None and not new.follows(before)
        )
        if is_forced and expected is not None:
            await self._require_current(found, expected)
        shown = self._documents.pop(workspace, b"")
        try:
            version = await self._upload(found, new, data, shown, is_forced)
        except (BackendFailure, NetFailure):
            self._unsaved.add(workspace)
            raise
        if version is None:
            return await self._settle(workspace, data)
        self._unsaved.discard(workspace)
        self._stored[workspace] = new
        return version.id

    async def _upload(
        self,
        workspace: HostedWorkspace,
        origin: _Origin,
        data: bytes,
        shown: bytes,
        is_forced: bool,
    ) -> ApiResource | None:
        """The new version; None if the service refuses it because of another one."""
        path = f"workspaces/{workspace.id}/state-versions"
        attributes: dict[str, object] = {
            "lineage": origin.lineage,
            "serial": origin.serial,
            "md5": hashlib.md5(data, usedforsecurity=False).hexdigest(),
            "force": is_forced,
            "json-state-outputs": base64.b64encode(origin.outputs).decode(),
        }
        response = await self._create_version(path, attributes)
        wants_content = not response.is_success and _WANTS_CONTENT in response.said
        if wants_content:
            attributes["state"] = base64.b64encode(data).decode()
            if shown:
                attributes["json-state"] = base64.b64encode(shown).decode()
            response = await self._create_version(path, attributes)
        self._note_interval(response)
        if response.status in _REFUSED:
            return None
        version = one(response.require(200, 201))
        if not wants_content:
            url = version.text("hosted-json-state-upload-url")
            if shown and url:
                await self._api.upload(url, shown)
            await self._api.upload(version.text("hosted-state-upload-url"), data)
        return version

    async def _create_version(self, path: str, attributes: Mapping[str, object]) -> Response:
        relations: dict[str, object] = {}
        if self._how.run_id:
            relations["run"] = {"type": "runs", "id": self._how.run_id}
        return await self._api.request(
            "POST", path, document("state-versions", attributes, **relations)
        )

    async def _require_current(self, workspace: HostedWorkspace, expected: str) -> None:
        """A state of another origin may only replace the one that was read."""
        current = await self._api.resource(f"workspaces/{workspace.id}/current-state-version")
        if current is None or current.id != expected:
            raise ContentChanged(_CHANGED)

    async def _settle(self, workspace: str, data: bytes) -> str | None:
        """A write was refused. It may be ours, made by an attempt whose answer was lost."""
        found = await self.read(workspace)
        if found is None or found.data != data:
            raise ContentChanged(_CHANGED)
        return found.version

    def _note_interval(self, response: Response) -> None:
        if not self._how.asks_for_interval or self._how.run_id:
            return
        text = response.headers.get(_INTERVAL, "")
        seconds = int(text) if text.isascii() and text.isdigit() else 0
        self._interval = float(min(seconds, _LONGEST_INTERVAL)) if seconds else math.inf

    # -- locks ----------------------------------------------------------------------------------

    def _lock_id(self, workspace: str) -> str:
        return f"{self._organization.name}/{self._mapping.hosted(workspace)}"

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        found = await self._organization.create(workspace)
        # There is one lock for each workspace, and it is known by the name of that.
        held = replace(info, id=self._lock_id(workspace))
        # In the reason, what makes each lock different takes the place of the version.
        reason = f"{_REASON}{replace(held, version=info.id).to_bytes().decode()}"
        path = f"workspaces/{found.id}/actions/lock"
        # The API describes the first form; its own clients send the second.
        given = {"reason": reason, **document("", {"reason": reason})}
        response = await self._api.request("POST", path, given)
        if response.status == 409:
            known = await self._organization.find(workspace, afresh=True)
            # An attempt whose answer was lost may have been ours.
            if known is None or known.lock_reason != reason:
                raise StateIsLocked(_holder(known, held.id))
        else:
            response.require(200)
        return held

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        if workspace in self._unsaved:
            raise BackendFailure(
                "The state could not be stored, so the workspace stays locked, and no run can build "
                f"on the old state. Unlock it {advice().unlock(lock.id)} before you push it."
            )
        await self._unlock(workspace, "unlock")

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        wanted = self._lock_id(workspace)
        if lock_id != wanted:
            raise BackendFailure(f'The lock of this workspace has the ID "{wanted}".')
        await self._unlock(workspace, "force-unlock")

    async def _unlock(self, workspace: str, action: str) -> None:
        found = await self._organization.find(workspace)
        if found is None:
            raise BackendFailure("There is no such workspace, so it is not locked.")
        response = await self._api.request("POST", f"workspaces/{found.id}/actions/{action}")
        if response.status == 409:
            raise BackendFailure(f"The workspace cannot be unlocked: {response.said}")
        response.require(200)


_CHANGED: Final = "Another run has changed the state since it was read, so it was not replaced."


@record
class _Origin:
    """The description of a state that the service requires."""

    lineage: str
    serial: int
    outputs: bytes

    def follows(self, before: _Origin) -> bool:
        """Return whether this state may follow another one, as far as the service can determine."""
        return self.lineage == before.lineage and self.serial > before.serial


def _origin_of(data: bytes) -> _Origin:
    """Describe a state file; the outputs of an encrypted one are left out."""
    try:
        state = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        state = {}
    lineage, serial, outputs = state.get("lineage"), state.get("serial"), state.get("outputs")
    described = {
        name: {
            "sensitive": each.get("sensitive") is True,
            "value": each.get("value"),
            "type": each.get("type"),
        }
        for name, each in sorted(outputs.items() if isinstance(outputs, dict) else ())
        if isinstance(each, dict)
    }
    return _Origin(
        lineage if isinstance(lineage, str) else "",
        serial if isinstance(serial, int) else 0,
        json.dumps(described, separators=(",", ":")).encode(),
    )


def _holder(workspace: HostedWorkspace | None, lock_id: str) -> LockInfo:
    """The holder of a lock, from the reason that we write, or from any other."""
    reason = "" if workspace is None else workspace.lock_reason
    if reason.startswith(_REASON):
        found = parse_lock(reason.removeprefix(_REASON).encode())
        if found is not None:
            return replace(found, id=lock_id, version="")
    return LockInfo(lock_id, "", info=reason)
