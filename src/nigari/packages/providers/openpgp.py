"""OpenPGP signatures of provider packages: detached, by one of several keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from pysequoia import Cert, Sig

_KEY_ID: Final = 16
"""Hexadecimal digits of a key ID: the end of a fingerprint."""


class SignatureError(Exception):
    """A signature that does not prove the expected origin; the text completes "…, because "."""


@record
class Signature:
    """A valid signature: the primary key's ID, and whether the key or signature has expired."""

    key_id: str
    is_expired: bool = False


def check_signature(document: bytes, signature: bytes, keys: Sequence[str]) -> Signature:
    """Verify the signature of a document against armored keys."""
    from pysequoia import Cert, Sig

    if not keys:
        raise SignatureError("the registry has no key to check it with")
    try:
        given = Sig.from_bytes(signature)
    except Exception:  # noqa: BLE001 -- the library raises nothing more specific
        raise SignatureError("the signature cannot be read") from None
    expired: Signature | None = None
    for text in keys:
        try:
            certificates = Cert.split_bytes(text.encode())
        except Exception:  # noqa: BLE001 -- the library raises nothing more specific
            raise SignatureError("a key of the registry cannot be read") from None
        for certificate in certificates:
            if not _made_by(given, certificate):
                continue
            found = _verified(document, given, certificate)
            if not found.is_expired:
                return found
            expired = expired or found
    if expired is None:
        raise SignatureError("it was made with a key that the registry does not list")
    return expired


def _made_by(signature: Sig, certificate: Cert) -> bool:
    """Check that a key of the certificate made the signature."""
    from pysequoia.packet import PacketPile, Tag

    # RFC 9580: a signature names its key by fingerprint or, in older ones, by the end of it.
    wanted = (signature.issuer_fingerprint or signature.issuer_key_id or "").lower()
    for packet in PacketPile.from_bytes(bytes(certificate)):
        if packet.tag in (Tag.PublicKey, Tag.PublicSubkey):
            fingerprint = (packet.fingerprint or "").lower()
            if wanted and fingerprint.endswith(wanted):
                return True
    return False


def _verified(document: bytes, signature: Sig, certificate: Cert) -> Signature:
    from pysequoia import verify

    # A revoked key vouches for nothing, unlike an expired one.
    if certificate.is_revoked:
        raise SignatureError("the key that made the signature has been revoked")
    try:
        verify(bytes=document, store=lambda _: [certificate], signature=signature)
    except Exception:  # noqa: BLE001 -- the library raises nothing more specific
        raise SignatureError("the signature does not match the checksums that it covers") from None
    now = datetime.now(UTC)
    ends = [each for each in (signature.expiration, certificate.expiration) if each is not None]
    return Signature(certificate.fingerprint[-_KEY_ID:].upper(), any(end < now for end in ends))
