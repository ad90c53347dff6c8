"""Protocol of external key providers and methods: a program that is run once per request.

The first line of the program's output is a JSON header with a magic word and a version; it receives
JSON on its standard input, and its JSON response follows the header. Bytes are base64.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass

from nigari.hcl.quoting import quoted
from nigari.programs import wait_for_program
from nigari.state.encryption.keys import EncryptionFailure, Keys

KEY_PROVIDER_MAGIC = "OpenTofu-External-Key-Provider"
METHOD_MAGIC = "OpenTofu-External-Encryption-Method"

_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ExternalKeyProvider:
    """Keys from a program, which may store data with the file to receive it again on reading."""

    command: Sequence[str]

    def provide(self, metadata: bytes | None) -> tuple[Keys, bytes | None]:
        """Run the program with the data it stored when the file was written, or null."""
        answer = _exchange(self.command, KEY_PROVIDER_MAGIC, _known_data(metadata))
        if not isinstance(answer, dict) or not answer.keys() <= {"keys", "meta"}:
            raise _bad_answer(self.command, "an object with keys and meta")
        keys = answer.get("keys") or {}
        if not isinstance(keys, dict) or not keys.keys() <= {"encryption_key", "decryption_key"}:
            raise _bad_answer(self.command, "keys with encryption_key and decryption_key")
        meta = answer.get("meta") or {}
        if not isinstance(meta, dict) or not meta.keys() <= {"external_data"}:
            raise _bad_answer(self.command, "meta with external_data")
        stored = {"external_data": meta.get("external_data")}
        return (
            Keys(
                _decoded(self.command, keys.get("encryption_key")),
                _decoded(self.command, keys.get("decryption_key")),
            ),
            json.dumps(stored, sort_keys=True, separators=(",", ":")).encode(),
        )


@dataclass(frozen=True, slots=True)
class ExternalMethod:
    """Encryption and decryption by two programs, which receive the key if there is one."""

    keys: Keys | None
    encrypt_command: Sequence[str]
    decrypt_command: Sequence[str]

    def encrypt(self, data: bytes) -> bytes:
        """Run the encryption program."""
        key = self.keys.encryption if self.keys else b""
        return self._run(self.encrypt_command, key, data)

    def decrypt(self, data: bytes) -> bytes:
        """Run the decryption program."""
        key = b""
        if self.keys is not None:
            key = self.keys.decryption
            if self.keys.encryption and not key:
                raise EncryptionFailure("There is no key to decrypt with.")
        if not data:
            raise EncryptionFailure("There is no data to decrypt.")
        return self._run(self.decrypt_command, key, data)

    def _run(self, command: Sequence[str], key: bytes, data: bytes) -> bytes:
        request = {"key": _encoded(key)} if key else {}
        request["payload"] = _encoded(data)
        answer = _exchange(command, METHOD_MAGIC, request)
        if not isinstance(answer, dict) or not answer.keys() <= {"payload"}:
            raise _bad_answer(command, "an object with payload")
        return _decoded(command, answer.get("payload"))


def _known_data(metadata: bytes | None) -> object:
    if metadata is None:
        return None
    try:
        known = json.loads(metadata)
    except ValueError:
        raise EncryptionFailure("The key metadata in the file is not valid JSON.") from None
    if not isinstance(known, dict) or known.get("external_data") is None:
        return None
    return {"external_data": known["external_data"]}


def _exchange(command: Sequence[str], magic: str, request: object) -> object:
    try:
        given = json.dumps(request, separators=(",", ":")).encode()
        done = wait_for_program(list(command), given, _TIMEOUT_SECONDS)
    except TimeoutError:
        raise EncryptionFailure(
            f"The program {quoted(command[0])} did not answer within {_TIMEOUT_SECONDS:.0f} seconds."
        ) from None
    except OSError as error:
        raise EncryptionFailure(
            f"Cannot run the program {quoted(command[0])}: {error.strerror or error}."
        ) from None
    header, _, body = done.output.partition(b"\n")
    if done.status != 0:
        reported = done.errors.decode(errors="replace").strip()
        raise EncryptionFailure(
            f"The program {quoted(command[0])} exited with status {done.status}."
            + (f"\n\n{reported}" if reported else "")
        )
    _check_header(command, magic, header)
    try:
        answer: object = json.loads(body)
    except ValueError:
        raise _bad_answer(command, "JSON") from None
    return answer


def _check_header(command: Sequence[str], magic: str, line: bytes) -> None:
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("magic") != magic:
        raise EncryptionFailure(
            f"The first line that {quoted(command[0])} printed is not the JSON header of this protocol,"
            f' which has "magic": "{magic}".'
        )
    if header.get("version") != 1:
        raise EncryptionFailure(
            f"The program {quoted(command[0])} uses version {header.get('version')!r} of the "
            "protocol; only version 1 is supported."
        )


def _bad_answer(command: Sequence[str], wanted: str) -> EncryptionFailure:
    return EncryptionFailure(f"The response of {quoted(command[0])} is not {wanted}.")


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decoded(command: Sequence[str], text: object) -> bytes:
    if text is None:
        return b""
    try:
        return base64.b64decode(text if isinstance(text, str) else "?", validate=True)
    except binascii.Error:
        raise _bad_answer(command, "made of base64 text") from None
