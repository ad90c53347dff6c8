"""Google Cloud Storage in memory: the program `fake-gcs-server`."""

import contextlib
import itertools
import json
from collections.abc import Iterator
from http.client import HTTPConnection

from tests.net_world.programs import free_port, serving
from tests.real import program

_NUMBERS = itertools.count(1)


class FakeGcs:
    """A running server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.host = f"127.0.0.1:{port}"

    @property
    def environ(self) -> dict[str, str]:
        return {"STORAGE_EMULATOR_HOST": self.host}

    def bucket(self) -> str:
        name = f"states-{next(_NUMBERS)}"
        self.ask("POST", "/storage/v1/b?project=p", json.dumps({"name": name}).encode())
        return name

    def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, {"content-type": "application/json"})
        response = connection.getresponse()
        found = response.read()
        assert response.status < 300, (method, path, response.status, found)
        connection.close()
        return found

    def block(self, bucket: str) -> str:
        body = f'    bucket = "{bucket}"\n    prefix = "some/where"\n'
        return f'terraform {{\n  backend "gcs" {{\n{body}  }}\n}}\n'


@contextlib.contextmanager
def running(port: int | None = None, public: int | None = None) -> Iterator[FakeGcs]:
    """A server of its own, without anything in it; clients know it by its public port."""
    port = port or free_port()
    host = f"127.0.0.1:{public or port}"
    command = [str(program("fake-gcs-server")), "-scheme", "http", "-host", "127.0.0.1"]
    command += ["-port", str(port), "-backend", "memory", "-external-url", f"http://{host}"]
    command += ["-public-host", host]
    with serving(command, port):
        yield FakeGcs(port)
