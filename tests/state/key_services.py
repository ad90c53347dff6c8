"""OpenBao's transit engine in memory: it seals keys, and opens what it has sealed."""

import base64
import json
import os

from tests.net_world.server import NOT_FOUND, Answer, Asked, Server, json_answer


class FakeBao:
    """Answers on `url`, for the token `root`."""

    def __init__(self) -> None:
        self._sealed: dict[str, str] = {}
        self.server = Server(self._answer)
        self.url = self.server.url

    def __enter__(self) -> "FakeBao":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def _answer(self, asked: Asked) -> Answer:
        if asked.headers.get("x-vault-token") != "root":
            return json_answer({"errors": ["permission denied"]}, 403)
        given = json.loads(asked.body or b"{}")
        if asked.path == "/v1/transit/datakey/plaintext/k":
            key = base64.b64encode(os.urandom(given["bits"] // 8)).decode()
            sealed = f"vault:v1:{len(self._sealed)}"
            self._sealed[sealed] = key
            return json_answer({"data": {"plaintext": key, "ciphertext": sealed}})
        if asked.path == "/v1/transit/decrypt/k" and given["ciphertext"] in self._sealed:
            return json_answer({"data": {"plaintext": self._sealed[given["ciphertext"]]}})
        return NOT_FOUND
