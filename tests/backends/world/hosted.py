"""A service with the API of Terraform Cloud in memory: workspaces, locks, versions of states.

It answers under its own name behind a proxy, to both programs. Lists come in pages of two.
"""

import base64
import hashlib
import itertools
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from tests.net_world.registry import Registry
from tests.net_world.server import NOT_FOUND, Answer, Asked, Script, json_answer
from tests.net_world.world import World

HOST: Final = "states.example.com"
ORGANIZATION: Final = "acme"
TOKEN: Final = "secret-token"
_PAGE: Final = 2


@dataclass
class Version:
    """A version of a state."""

    id: str
    serial: int
    lineage: str
    md5: str
    outputs: dict[str, Any]
    run: str = ""
    data: bytes | None = None
    shown: bytes = b""
    """The state as a document."""


@dataclass
class Space:
    """A workspace."""

    id: str
    name: str
    mode: str
    version: str = "1.12.6"
    tags: list[str] = field(default_factory=list)
    project: str = ""
    reason: str | None = None
    """That of the lock; None for a workspace that is not locked."""
    versions: list[Version] = field(default_factory=list)

    @property
    def current(self) -> Version | None:
        return next((each for each in reversed(self.versions) if each.data is not None), None)


class FakeService:
    """Everything of one organization. Settings can be changed while it answers."""

    def __init__(self, directory: Path) -> None:
        self.world = World(directory / "service")
        self.spaces: dict[str, Space] = {}
        self.projects: dict[str, str] = {}
        self.mode = "local"
        """The execution mode of new workspaces."""
        self.has_operations = True
        self.takes_uploads = True
        self.interval = ""
        self.deletes_safely = True
        self.registry = Registry(HOST)
        """The modules and providers of the organization."""
        self.registry.token = TOKEN
        self.services = {
            "state.v2": "/api/v2/",
            "tfe.v2": "/api/v2/",
            "tfe.v2.1": "/api/v2/",
            **self.registry.services,
        }
        self._numbers = itertools.count(1)
        self._guard = threading.RLock()
        self.world.serve(HOST, self._answer)
        self.environ = {
            **self.world.environment,
            f"TF_TOKEN_{HOST.replace('.', '_')}": TOKEN,
        }

    def __enter__(self) -> "FakeService":
        return self

    def __exit__(self, *_: object) -> None:
        self.world.close()

    def add(self, name: str, tags: list[str]) -> None:
        """Have a workspace that nobody has created."""
        self.spaces[name] = Space(f"ws-{next(self._numbers)}", name, self.mode, tags=tags)

    def block(self, kind: str, workspaces: str) -> str:
        """The block of a configuration: `remote` is a backend, `cloud` is one of its own."""
        head = 'backend "remote"' if kind == "remote" else "cloud"
        return (
            f'terraform {{\n  {head} {{\n    hostname = "{HOST}"\n'
            f'    organization = "{ORGANIZATION}"\n    workspaces {{\n      {workspaces}\n    }}\n'
            "  }\n}\n"
        )

    def requests(self) -> list[str]:
        """What was asked since the last time, in order, with numbers left out."""
        log = self.world.servers[HOST].log
        asked = [f"{each.method} {urlsplit(each.path).path}" for each in log]
        log.clear()
        return asked

    # -- answers --------------------------------------------------------------------------------

    def _answer(self, asked: Asked) -> Answer | Script:
        parts = urlsplit(asked.path)
        path = parts.path.strip("/").split("/")
        with self._guard:
            if path == [".well-known", "terraform.json"]:
                return json_answer(self.services)
            if path[0] in ("v1", "files"):
                return self.registry.handle(asked)
            if path[0] == "content":
                return self._content(asked, path[1])
            if asked.headers.get("authorization") != f"Bearer {TOKEN}":
                return _error(401, "unauthorized")
            if path[:3] == ["api", "v2", "ping"]:
                return Answer(204, b"", {"TFP-API-Version": "2.5"})
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            given = json.loads(asked.body or b"{}")
            return self._routed(asked.method, path[2:], query, given) or _error(404, "not found")

    def _routed(
        self, method: str, path: list[str], query: dict[str, str], given: dict[str, Any]
    ) -> Answer | None:
        match method, path:
            case "GET", ["organizations", "acme", "entitlement-set"]:
                return _one("entitlement-sets", "org-1", {"operations": self.has_operations})
            case _, ["organizations", "acme", "projects"]:
                return self._of_projects(method, query, given)
            case "GET", ["organizations", "acme", "workspaces"]:
                return self._listed(query)
            case "POST", ["organizations", "acme", "workspaces"]:
                return self._created(given["data"])
            case "GET", ["organizations", "acme", "workspaces", name]:
                space = self.spaces.get(name)
                return None if space is None else self._shown(space)
            case "DELETE", ["organizations", "acme", "workspaces", name]:
                return None if self.spaces.pop(name, None) is None else Answer(204)
            case "POST", ["organizations", "acme", "workspaces", name, "actions", "safe-delete"]:
                return self._deleted_safely(name)
            case "GET", ["state-versions", id_]:
                version = self._version(id_)
                return None if version is None else self._shown_version(version)
            case _, ["workspaces", id_, *rest]:
                found = next((each for each in self.spaces.values() if each.id == id_), None)
                return None if found is None else self._of_space(method, found, rest, given)
        return None

    def _of_space(
        self, method: str, space: Space, path: list[str], given: dict[str, Any]
    ) -> Answer | None:
        match method, path:
            case "PATCH", []:
                space.version = given["data"]["attributes"].get("terraform-version", space.version)
                return self._shown(space)
            case "POST", ["relationships", "tags"]:
                space.tags += [each["attributes"]["name"] for each in given["data"]]
                return Answer(204)
            case "POST", ["actions", "lock"]:
                if space.reason is not None:
                    return _error(409, "workspace already locked")
                space.reason = given.get("reason") or given["data"]["attributes"]["reason"]
                return self._shown(space)
            case "POST", ["actions", "unlock" | "force-unlock"]:
                if space.reason is None:
                    return _error(409, "workspace is not locked")
                space.reason = None
                return self._shown(space)
            case "GET", ["current-state-version"]:
                return None if space.current is None else self._shown_version(space.current)
            case "GET", ["current-state-version-outputs"]:
                return self._outputs(space)
            case "POST", ["state-versions"]:
                return self._new_version(space, given["data"])
        return None

    # -- workspaces -----------------------------------------------------------------------------

    def _listed(self, query: dict[str, str]) -> Answer:
        wanted = {each for each in query.get("search[tags]", "").split(",") if each}
        found = [
            each
            for _, each in sorted(self.spaces.items())
            if query.get("search[name]", "") in each.name
            and wanted <= set(each.tags)
            and query.get("filter[project][id]", each.project) == each.project
        ]
        number = int(query.get("page[number]", "1"))
        pages = max(1, -(-len(found) // _PAGE))
        paging = {
            "current-page": number,
            "next-page": number + 1 if number < pages else None,
            "prev-page": None,
            "total-pages": pages,
            "total-count": len(found),
        }
        shown = [_resource("workspaces", each.id, self._attributes(each)) for each in found]
        return _json(
            {
                "data": shown[(number - 1) * _PAGE : number * _PAGE],
                "meta": {"pagination": paging},
            }
        )

    def _created(self, data: dict[str, Any]) -> Answer:
        attributes, relations = data["attributes"], data.get("relationships", {})
        name = attributes["name"]
        if name in self.spaces:
            return _error(422, "Name has already been taken")
        space = Space(f"ws-{next(self._numbers)}", name, self.mode)
        space.version = attributes.get("terraform-version", space.version)
        space.tags = [
            each["attributes"]["name"] for each in relations.get("tags", {}).get("data") or ()
        ]
        project = relations.get("project", {}).get("data")
        space.project = project["id"] if project else ""
        self.spaces[name] = space
        return self._shown(space, 201)

    def _deleted_safely(self, name: str) -> Answer | None:
        space = self.spaces.get(name)
        if space is None:
            return None
        current = space.current
        if current is not None and json.loads(current.data or b"{}").get("resources"):
            return _error(409, "workspace still manages resources")
        del self.spaces[name]
        return Answer(204)

    def _of_projects(
        self, method: str, query: dict[str, str], given: dict[str, Any]
    ) -> Answer | None:
        if method == "POST":
            name = given["data"]["attributes"]["name"]
            self.projects[name] = id_ = f"prj-{next(self._numbers)}"
            return _one("projects", id_, {"name": name}, 201)
        name = query.get("filter[names]", "")
        shown = [
            _resource("projects", id_, {"name": each})
            for each, id_ in self.projects.items()
            if name in ("", each)
        ]
        return _json({"data": shown, "meta": {"pagination": {"current-page": 1, "total-pages": 1}}})

    def _attributes(self, space: Space) -> dict[str, object]:
        permissions: dict[str, object] = {"can-update": True, "can-lock": True}
        if self.deletes_safely:
            permissions["can-force-delete"] = True
        return {
            "name": space.name,
            "execution-mode": space.mode,
            "operations": space.mode != "local",
            "locked": space.reason is not None,
            "locked-reason": space.reason or "",
            "tag-names": space.tags,
            "terraform-version": space.version,
            "permissions": permissions,
        }

    def _shown(self, space: Space, status: int = 200) -> Answer:
        return _one("workspaces", space.id, self._attributes(space), status)

    # -- states ---------------------------------------------------------------------------------

    def _new_version(self, space: Space, data: dict[str, Any]) -> Answer:
        given = data["attributes"]
        if not self.takes_uploads and "state" not in given:
            return _error(422, "param is missing or the value is empty: state")
        current = space.current
        if current is not None and not given.get("force"):
            is_same = (current.serial, current.md5) == (given["serial"], given["md5"])
            if current.lineage != given.get("lineage"):
                return _error(409, "lineage does not match")
            if given["serial"] <= current.serial and not is_same:
                return _error(409, "serial is not greater than that of the current version")
        outputs = json.loads(base64.b64decode(given.get("json-state-outputs") or "") or b"{}")
        run = (data.get("relationships", {}).get("run", {}).get("data") or {}).get("id", "")
        version = Version(
            f"sv-{next(self._numbers)}",
            given["serial"],
            given.get("lineage", ""),
            given["md5"],
            outputs,
            run,
        )
        if "state" in given:
            version.data = base64.b64decode(given["state"])
            version.shown = base64.b64decode(given.get("json-state") or "")
        space.versions.append(version)
        return self._shown_version(version, 201)

    def _version(self, id_: str) -> Version | None:
        versions = (each for space in self.spaces.values() for each in space.versions)
        return next((each for each in versions if each.id == id_), None)

    def _shown_version(self, version: Version, status: int = 200) -> Answer:
        url = f"https://{HOST}/content/{version.id}"
        attributes = {
            "serial": version.serial,
            "status": "pending" if version.data is None else "finalized",
            "hosted-state-download-url": url,
            "hosted-state-upload-url": url,
            "hosted-json-state-upload-url": f"{url}/json",
        }
        shown = _one("state-versions", version.id, attributes, status)
        more = {"x-terraform-snapshot-interval": self.interval} if self.interval else {}
        return Answer(shown.status, shown.body, {**shown.headers, **more})

    def _content(self, asked: Asked, id_: str) -> Answer:
        version = self._version(id_)
        if version is None:
            return NOT_FOUND
        if asked.path.endswith("/json"):
            version.shown = asked.body
            return Answer(200)
        if asked.method == "GET":
            return Answer(200, version.data or b"", {"content-type": "application/json"})
        if hashlib.md5(asked.body).hexdigest() != version.md5:
            return _error(422, "the content has another checksum")
        version.data = asked.body
        return Answer(200)

    def _outputs(self, space: Space) -> Answer | None:
        if space.current is None:
            return None
        shown = [
            _resource(
                "state-version-outputs",
                f"wsout-{name}",
                {
                    "name": name,
                    "sensitive": each["sensitive"],
                    "value": each["value"],
                    "type": "string",
                    "detailed-type": each["type"],
                },
            )
            for name, each in space.current.outputs.items()
        ]
        return _json({"data": shown})


def _resource(type_: str, id_: str, attributes: Mapping[str, object]) -> dict[str, object]:
    return {"id": id_, "type": type_, "attributes": attributes}


def _one(type_: str, id_: str, attributes: Mapping[str, object], status: int = 200) -> Answer:
    return _json({"data": _resource(type_, id_, attributes)}, status)


def _error(status: int, text: str) -> Answer:
    return _json({"errors": [{"status": str(status), "title": text}]}, status)


def _json(document: object, status: int = 200) -> Answer:
    body = json.dumps(document).encode()
    return Answer(status, body, {"content-type": "application/vnd.api+json"})
