"""JSON envelope of encrypted states and plans.

`serial` and `lineage` of a state stay readable, so that backends can compare encrypted snapshots.
Deliberately unknown here: the plain data.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.record import record

VERSION = "v0"


@record
class PlainFields:
    """Fields of an encrypted state that are readable without a key."""

    serial: int | None
    lineage: str


@record
class Envelope:
    """Encrypted data, with the metadata from which key providers recreate the key."""

    data: bytes
    metadata: Mapping[str, bytes]
    version: str = VERSION
    plain: PlainFields | None = None
    """Present for a state, not for a plan."""

    def __repr__(self) -> str:
        return f"<Envelope {self.version} with {', '.join(sorted(self.metadata))}>"

    def to_bytes(self) -> bytes:
        """Write the compact JSON text."""
        import base64
        import json

        members: dict[str, object] = {}
        if self.plain is not None:
            members["serial"] = self.plain.serial
            members["lineage"] = self.plain.lineage
        members["meta"] = {
            name: base64.b64encode(self.metadata[name]).decode() for name in sorted(self.metadata)
        }
        members["encrypted_data"] = base64.b64encode(self.data).decode()
        members["encryption_version"] = self.version
        return json.dumps(members, separators=(",", ":"), ensure_ascii=False).encode()


class DamagedEnvelope(Exception):
    """Data that is marked as encrypted, but cannot be parsed."""


def parse_envelope(data: bytes) -> Envelope | None:
    """Parse the envelope; `None` if the data is not marked as encrypted."""
    if b'"encryption_version"' not in data:
        return None
    import json

    try:
        members = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(members, dict) or not members.get("encryption_version"):
        return None
    meta = members.get("meta") or {}
    version = members["encryption_version"]
    if not isinstance(meta, dict) or not isinstance(version, str):
        raise DamagedEnvelope
    plain = plain_fields(members) if "serial" in members or "lineage" in members else None
    return Envelope(
        data=_decoded(members.get("encrypted_data")),
        metadata={name: _decoded(each) for name, each in meta.items()},
        version=version,
        plain=plain,
    )


def is_encrypted(data: bytes) -> bool:
    """Check for data that is marked as encrypted, even if it is damaged."""
    try:
        return parse_envelope(data) is not None
    except DamagedEnvelope:
        return True


def plain_fields(members: Mapping[str, object]) -> PlainFields:
    """Read the serial and lineage of a state, encrypted or not."""
    serial = members.get("serial")
    lineage = members.get("lineage")
    return PlainFields(
        serial if isinstance(serial, int) else None, lineage if isinstance(lineage, str) else ""
    )


def _decoded(text: object) -> bytes:
    if text is None:
        return b""
    import base64
    import binascii

    try:
        return base64.b64decode(text if isinstance(text, str) else "?", validate=True)
    except binascii.Error:
        raise DamagedEnvelope from None
