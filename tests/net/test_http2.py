"""HTTP/2 where it is offered: many requests over one connection."""

import asyncio
import contextlib
import ssl
from pathlib import Path

import h2.config
import h2.connection
import h2.events

from nigari.net.client import Client
from nigari.net.settings import Settings
from tests.net_world.certificates import Authority


class Http2Server:
    """Answers every request with its path, over HTTP/2 only."""

    def __init__(self) -> None:
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        config = h2.config.H2Configuration(client_side=False)
        connection = h2.connection.H2Connection(config)
        connection.initiate_connection()
        writer.write(connection.data_to_send())
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        path = dict(event.headers)[b":path"]
                        await asyncio.sleep(0.01)
                        connection.send_headers(event.stream_id, [(":status", "200")])
                        connection.send_data(event.stream_id, path, end_stream=True)
                writer.write(connection.data_to_send())
        writer.close()


def test_requests_share_a_connection(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.certificate(["127.0.0.1"]))
    context.set_alpn_protocols(["h2"])
    settings = Settings(certificate_file=str(authority.path))
    server = Http2Server()

    async def main() -> list[bytes]:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
        url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        async with Client(settings) as client:
            await client.get(f"{url}/first")
            answers = await asyncio.gather(*(client.get(f"{url}/{n}") for n in range(20)))
        listening.close()
        return [answer.body for answer in answers]

    assert asyncio.run(main()) == [f"/{n}".encode() for n in range(20)]
    assert server.connections == 1
