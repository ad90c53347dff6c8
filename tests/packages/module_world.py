"""A world of module packages on loopback: a registry with TLS, archives, pages, repositories.

Everything is Python's own, so that it runs wherever the tests do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from tests.net_world.certificates import Authority
from tests.net_world.server import NOT_FOUND, Answer, Asked, Script, Server, json_answer
from tests.packages.archives import files, packed

Reply = Answer | Script
MODULE = 'output "x" {\n  value = "%s"\n}\n'


class ModuleWorld:
    """One https server on 127.0.0.1 that is a module registry and has files."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.authority = Authority(directory)
        certificate = self.authority.certificate(["127.0.0.1", "localhost"])
        self.replies: dict[str, Answer | Callable[[Asked], Reply]] = {}
        """By method-less path without the query, or with it."""
        self.prefixes: dict[str, Callable[[Asked], Reply]] = {}
        """By how paths begin."""
        self.locations: dict[str, str | Answer] = {}
        """Where versions are, by `namespace/name/system/version`."""
        self.settings: dict[str, str] = {}
        """Variables of the environment of whoever uses this world."""
        self.token = ""
        """If set, the registry wants it."""
        self.directory = directory
        self._server = Server(self._answer, certificate)

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def host(self) -> str:
        """The registry, as a source address has it."""
        return f"127.0.0.1:{self._server.port}"

    @property
    def asked(self) -> list[str]:
        """Method and path of each request."""
        return [str(each) for each in self._server.log]

    @property
    def log(self) -> list[Asked]:
        return self._server.log

    def environ(self, **more: str) -> dict[str, str]:
        """The environment of a program that uses this world, with a home of its own."""
        home = self.directory / "home"
        home.mkdir(exist_ok=True)
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in ("PATH", "NIGARI_CACHE_DIR", "PYTHONPATH", "TMPDIR", "LANG")
        }
        return {
            **kept,
            "HOME": str(home),
            "SSL_CERT_FILE": str(self.authority.path),
            "GIT_CONFIG_NOSYSTEM": "1",
            "TF_CLI_CONFIG_FILE": os.devnull,
            **self.settings,
            **more,
        }

    def archive(self, path: str, form: str, content: Mapping[str, str], **headers: str) -> bytes:
        """Serve an archive."""
        body = packed(form, files(content))
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies[path] = Answer(200, body, {"content-type": "application/octet-stream", **more})
        return body

    def publish(self, module: str, *versions: str, form: str = "tar.gz") -> None:
        """Let the registry have a module with these versions, as archives of its own."""
        for version in versions:
            path = f"/packages/{module}/{version}.{form}"
            self.archive(path, form, {"main.tf": MODULE % version, "sub/main.tf": MODULE % "sub"})
            self.locations[f"{module}/{version}"] = path

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> ModuleWorld:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _answer(self, asked: Asked) -> Reply:
        path = asked.path.partition("?")[0]
        reply = self.replies.get(asked.path) or self.replies.get(path)
        if reply is not None:
            return reply if isinstance(reply, Answer) else reply(asked)
        for prefix, handler in self.prefixes.items():
            if path.startswith(prefix):
                return handler(asked)
        if path == "/.well-known/terraform.json":
            return json_answer({"modules.v1": "/v1/modules/"})
        if path.startswith("/v1/modules/"):
            if self.token and asked.headers.get("authorization") != f"Bearer {self.token}":
                return json_answer({"errors": ["who are you?"]}, 401)
            return self._registry(path.removeprefix("/v1/modules/"))
        return NOT_FOUND

    def _registry(self, path: str) -> Reply:
        module, _, last = path.rpartition("/")
        if last == "versions":
            versions = [
                {"version": key.rpartition("/")[2]}
                for key in self.locations
                if key.rpartition("/")[0] == module
            ]
            return json_answer({"modules": [{"versions": versions}]}) if versions else NOT_FOUND
        location = self.locations.get(module)
        if location is None or last != "download":
            return NOT_FOUND
        if isinstance(location, Answer):
            return location
        return Answer(204, b"", {"x-terraform-get": location})
