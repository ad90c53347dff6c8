import asyncio
import base64
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from nigari.providers.handshake import PluginAddress
from nigari.providers.tunnel import ClientTunnel, ServerTunnel


def p521_certificate() -> tuple[bytes, bytes]:
    """A certificate like those of Go plugins, on the curve that gRPC's TLS refuses; and its key."""
    key = ec.generate_private_key(ec.SECP521R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA512())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return certificate.public_bytes(serialization.Encoding.DER), pem


def pem_file(directory: Path, certificate: bytes, key: bytes) -> Path:
    path = directory / "pem"
    path.write_bytes(key + ssl.DER_cert_to_PEM_cert(certificate).encode())
    return path


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(100):
        writer.write(data.upper())
        await writer.drain()
    writer.close()


async def asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(b"hello")
    await writer.drain()
    answer = await reader.read(100)
    writer.close()
    return answer


def test_to_a_plugin_with_a_p521_certificate(tmp_path: Path) -> None:
    certificate, key = p521_certificate()

    async def run() -> bytes:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem_file(tmp_path, certificate, key))
        server = await asyncio.start_unix_server(echo, tmp_path / "s", ssl=context)
        tunnel = ClientTunnel(PluginAddress("unix", str(tmp_path / "s")), certificate)
        address = await tunnel.open()
        answer = await asked(*await asyncio.open_unix_connection(address.text))
        await tunnel.close()
        server.close()
        return answer

    assert asyncio.run(run()) == b"HELLO"


def test_a_plugin_with_another_certificate_than_it_sent_is_not_talked_to(tmp_path: Path) -> None:
    certificate, key = p521_certificate()
    other, _ = p521_certificate()

    async def run() -> bytes:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem_file(tmp_path, certificate, key))
        server = await asyncio.start_unix_server(echo, tmp_path / "s", ssl=context)
        tunnel = ClientTunnel(PluginAddress("unix", str(tmp_path / "s")), other)
        address = await tunnel.open()
        answer = await asked(*await asyncio.open_unix_connection(address.text))
        await tunnel.close()
        server.close()
        return answer

    assert asyncio.run(run()) == b""


def call_served(tmp_path: Path, shown: tuple[bytes, bytes], expected: bytes) -> bytes:
    """Call a served tunnel that expects one certificate, showing another or the same."""

    async def run() -> bytes:
        server = await asyncio.start_unix_server(echo, tmp_path / "s")
        tunnel = ServerTunnel(str(tmp_path / "s"), ssl.DER_cert_to_PEM_cert(expected))
        path, encoded = await tunnel.open(str(tmp_path / "tls"))
        ours = base64.b64decode(encoded + "=" * (-len(encoded) % 4))
        context = ssl.create_default_context(cadata=ours)
        context.load_cert_chain(pem_file(tmp_path, *shown))
        try:
            return await asked(
                *await asyncio.open_unix_connection(path, ssl=context, server_hostname="localhost")
            )
        except (ssl.SSLError, ConnectionError):
            return b"refused"
        finally:
            await tunnel.close()
            server.close()

    return asyncio.run(run())


def test_from_a_caller_with_a_p521_certificate(tmp_path: Path) -> None:
    certificate, key = p521_certificate()
    assert call_served(tmp_path, (certificate, key), certificate) == b"HELLO"


def test_a_caller_with_another_certificate_is_refused(tmp_path: Path) -> None:
    other, _ = p521_certificate()
    assert call_served(tmp_path, p521_certificate(), other) in (b"", b"refused")
