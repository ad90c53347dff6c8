"""TLS between plugins and their callers, in both roles.

gRPC's own TLS rejects the certificates of most programs of this family (curve P-521), but the
standard library accepts them. So gRPC uses an unencrypted socket in a private directory, and a
relay inside this process connects it with the encrypted side.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
import ssl
import tempfile
from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nigari.providers.handshake import PluginAddress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_CHUNK: Final = 65536


class _Relay(ABC):
    """A relay that accepts connections on one side and opens one for each on the other side."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._running: set[asyncio.Task[None]] = set()
        self.directory: str = tempfile.mkdtemp(prefix="nigari-tls-")

    async def listen(self, path: str, context: ssl.SSLContext | None) -> None:
        self._server = await asyncio.start_unix_server(self._accept, path, ssl=context)

    @abstractmethod
    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection to the other side."""

    async def close(self) -> None:
        """Close every connection."""
        if self._server is not None:
            self._server.close()
        for task in list(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=1)
        shutil.rmtree(self.directory, ignore_errors=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            other_reader, other_writer = await self.connect()
            try:
                await asyncio.gather(_copy(reader, other_writer), _copy(other_reader, writer))
            finally:
                other_writer.close()
        except (OSError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self._running.discard(task)


class ClientTunnel(_Relay):
    """An unencrypted local socket, relayed to a plugin that requires TLS and sent its certificate."""

    def __init__(self, target: PluginAddress, certificate: bytes) -> None:
        super().__init__()
        self._target = target
        self._context = _client_context(certificate)

    async def open(self) -> PluginAddress:
        """Start to listen; the caller connects to the returned address."""
        path = f"{self.directory}/relay"
        await self.listen(path, None)
        return PluginAddress("unix", path)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._target.network == "unix":
            return await asyncio.open_unix_connection(
                self._target.text, ssl=self._context, server_hostname="localhost"
            )
        host, _, port = self._target.text.rpartition(":")
        return await asyncio.open_connection(
            host, int(port), ssl=self._context, server_hostname="localhost"
        )


class ServerTunnel(_Relay):
    """A TLS socket for a caller with a certificate, relayed to the local unencrypted server."""

    def __init__(self, target: str, caller_certificate: str) -> None:
        super().__init__()
        self._target = target
        self._caller_certificate = caller_certificate

    async def open(self, path: str) -> tuple[str, str]:
        """Listen at `path`; return it with this process's certificate in the form of the handshake."""
        certificate, key = _own_certificate()
        context = _server_context(certificate, key, self._caller_certificate, self.directory)
        await self.listen(path, context)
        return path, base64.b64encode(certificate).decode().rstrip("=")

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(self._target)


def _client_context(certificate: bytes) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=certificate)
    # The certificate itself is trusted, regardless of the name in it.
    context.check_hostname = False
    # gRPC requires that TLS negotiates HTTP/2.
    context.set_alpn_protocols(["h2"])
    return context


def _server_context(
    certificate: bytes, key: bytes, caller_certificate: str, directory: str
) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=caller_certificate)
    context.set_alpn_protocols(["h2"])
    # The ssl module only loads certificates from files; the directory is private.
    file = Path(directory, "certificate")
    file.write_bytes(key + ssl.DER_cert_to_PEM_cert(certificate).encode())
    context.load_cert_chain(file)
    file.unlink()
    return context


def _own_certificate() -> tuple[bytes, bytes]:
    """Create a certificate for this process only (DER), and its key (PEM)."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=True,
        data_encipherment=False,
        key_agreement=True,
        key_cert_sign=True,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    purposes = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(days=365))
        # go-plugin: each side trusts the certificate of the other as its own authority.
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.DER), key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    else:
        writer.close()
