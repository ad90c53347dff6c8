"""Workspaces of an organization: finding, creating, deleting and locking them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.backends.store import BackendFailure
from nigari.backends.stores.hosted.api import ApiResource, HostedApi, document, one
from nigari.backends.stores.hosted.mapping import WorkspaceMapping
from nigari.net.response import Response
from nigari.record import record
from nigari.version import OPENTOFU_VERSION


@record
class HostedWorkspace:
    """A workspace as the service describes it."""

    id: str
    name: str
    is_local: bool
    """True if runs happen on the users' machines."""
    is_locked: bool
    lock_reason: str
    tags: tuple[str, ...]
    can_be_checked: bool
    """True if the service itself refuses to delete a workspace that still manages objects."""


class Organization:
    """The workspaces that belong to a configuration."""

    def __init__(
        self,
        api: HostedApi,
        name: str,
        mapping: WorkspaceMapping,
        project: str = "",
        must_exist: bool = False,
    ) -> None:
        """`must_exist` says that the only workspace is not to be created."""
        self._api = api
        self.name = name
        self._mapping = mapping
        self._project = project
        self._must_exist = must_exist
        self._known: dict[str, HostedWorkspace] = {}

    @property
    def _path(self) -> str:
        return f"organizations/{self.name}"

    async def names(self) -> Sequence[str]:
        """The local names of the workspaces; the only one is created when it is used."""
        only = self._mapping.only
        if only:
            is_there = not self._must_exist or await self.find(only) is not None
            return (only,) if is_there else ()
        query = dict(self._mapping.query)
        if self._project:
            project = await self._find_project()
            if project is not None:
                query["filter[project][id]"] = project.id
        found = []
        async for each in self._api.resources(f"{self._path}/workspaces", query):
            name = self._mapping.local(each.text("name"))
            if name is not None:
                found.append(name)
        return found

    async def find(self, workspace: str, afresh: bool = False) -> HostedWorkspace | None:
        """A workspace; None if there is none. Who it is stays, so it is asked for only once."""
        name = self._mapping.hosted(workspace)
        if afresh or name not in self._known:
            found = await self._api.resource(f"{self._path}/workspaces/{name}")
            if found is None:
                return None
            self._known[name] = _workspace(found)
        return self._known[name]

    async def find_for_run(self, workspace: str) -> HostedWorkspace | None:
        """The workspace that something is to be done in; the only one need not exist yet."""
        if self._mapping.only and not self._must_exist:
            return await self.create(workspace)
        return await self.find(workspace)

    async def create(self, workspace: str) -> HostedWorkspace:
        """A workspace that exists from now on, with the tags by which it is found again."""
        found = await self.find(workspace)
        if found is None:
            found = await self._create(self._mapping.hosted(workspace))
        missing = sorted(set(self._mapping.tags) - set(found.tags))
        if missing:
            tags = [{"type": "tags", "attributes": {"name": each}} for each in missing]
            path = f"workspaces/{found.id}/relationships/tags"
            (await self._api.request("POST", path, {"data": tags})).require()
        return found

    async def _create(self, name: str) -> HostedWorkspace:
        relations: dict[str, object] = {}
        if self._mapping.tags:
            relations["tags"] = [
                {"type": "tags", "attributes": {"name": each}} for each in self._mapping.tags
            ]
        if self._project:
            project = await self._find_project() or await self._create_project()
            relations["project"] = {"type": "projects", "id": project.id}

        async def post(**attributes: str) -> Response:
            given = document("workspaces", attributes, **relations)
            return await self._api.request("POST", f"{self._path}/workspaces", given)

        response = await post(**{"name": name, "terraform-version": OPENTOFU_VERSION})
        if response.status == 422:
            # Another process may have been quicker.
            found = await self._api.resource(f"{self._path}/workspaces/{name}")
            if found is not None:
                known = self._known[name] = _workspace(found)
                return known
            # A service that does not have this version of OpenTofu takes its own.
            response = await post(name=name)
        if response.status == 404:
            raise BackendFailure(self._not_found())
        made = self._known[name] = _workspace(one(response.require(201)))
        return made

    async def delete(self, workspace: str, only_unused: bool) -> None:
        """Delete a workspace, if there is one; the service can look whether it is still used."""
        found = await self.find(workspace, afresh=True)
        if found is None:
            return
        self._known.pop(found.name, None)
        path = f"{self._path}/workspaces/{found.name}"
        if not only_unused or not found.can_be_checked:
            (await self._api.request("DELETE", path)).require(200, 204, 404)
            return
        response = await self._api.request("POST", f"{path}/actions/safe-delete")
        if response.status == 409:
            raise BackendFailure(f"The service does not delete the workspace: {response.said}")
        response.require(200, 204, 404)

    async def runs_elsewhere(self, workspace: HostedWorkspace) -> bool:
        """Return whether the service wants to execute runs itself."""
        if workspace.is_local:
            return False
        entitlements = await self._api.resource(f"{self._path}/entitlement-set")
        if entitlements is None:
            raise BackendFailure(self._not_found())
        return entitlements.attributes.get("operations") is True

    async def check(self) -> None:
        """Raise a `BackendFailure` if there is no such organization."""
        if await self._api.resource(f"{self._path}/entitlement-set") is None:
            raise BackendFailure(self._not_found())

    def _not_found(self) -> str:
        return (
            f'{self._api.host} has no organization "{self.name}", or the token may not see it. '
            "Check the organization, the hostname and the token."
        )

    async def _find_project(self) -> ApiResource | None:
        query: Mapping[str, str] = {"filter[names]": self._project}
        async for each in self._api.resources(f"{self._path}/projects", query):
            if each.text("name") == self._project:
                return each
        return None

    async def _create_project(self) -> ApiResource:
        given = document("projects", {"name": self._project})
        return one(await self._api.request("POST", f"{self._path}/projects", given))


def _workspace(found: ApiResource) -> HostedWorkspace:
    attributes = found.attributes
    permissions, tags = attributes.get("permissions"), attributes.get("tag-names")
    return HostedWorkspace(
        id=found.id,
        name=found.text("name"),
        is_local=found.text("execution-mode") == "local",
        is_locked=attributes.get("locked") is True,
        lock_reason=found.text("locked-reason"),
        tags=tuple(str(each) for each in tags) if isinstance(tags, list) else (),
        can_be_checked=isinstance(permissions, dict)
        and permissions.get("can-force-delete") is not None,
    )
