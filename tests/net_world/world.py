"""Several hosts on this machine, under any names: a proxy leads to them, an authority vouches.

What a program needs to live in this world is `environment`: it works for OpenTofu, too.
"""

from pathlib import Path

from tests.net_world.certificates import Authority
from tests.net_world.registry import Registry
from tests.net_world.server import Handler, Proxy, Server


class World:
    """Hosts by name, each with a registry."""

    def __init__(self, directory: Path, *hosts: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.home = directory / "home"
        self.home.mkdir()
        self.authority = Authority(directory)
        self.registries: dict[str, Registry] = {}
        self.servers: dict[str, Server] = {}
        self.proxy = Proxy({})
        for host in hosts:
            self.add(host)
        self.environment = {
            "HOME": str(self.home),
            "HTTPS_PROXY": self.proxy.url,
            "NO_PROXY": "",
            "SSL_CERT_FILE": str(self.authority.path),
        }

    def add(self, host: str, days: int = 10) -> Registry:
        registry = self.registries[host] = Registry(host)
        self.serve(host, registry.handle, days)
        return registry

    def serve(self, host: str, handler: Handler, days: int = 10) -> None:
        """Let a host answer as a function says."""
        certificate = self.authority.certificate([host], days)
        self.servers[host] = Server(handler, certificate)
        self.proxy.ports[host] = self.servers[host].port

    def requests(self, with_headers: bool = False) -> list[str]:
        """What all hosts were asked since the last time, in any order."""
        asked: list[str] = []
        for host, server in self.servers.items():
            for each in server.log:
                headers = f"{each.compared} " if with_headers else ""
                asked.append(f"{headers}{each.method} {host}{each.path}")
            server.log.clear()
        return sorted(asked)

    def configure(self, text: str) -> None:
        """Write the user's CLI configuration."""
        (self.home / ".tofurc").write_text(text)

    def close(self) -> None:
        for server in self.servers.values():
            server.close()
        self.proxy.close()
