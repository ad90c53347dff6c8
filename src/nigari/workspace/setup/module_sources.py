"""Everything that module packages come from, opened when the first of them is needed.

Connects the environment and the CLI configuration with the ways to fetch packages, the registries
and the user's shared store.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping

from nigari.packages.hosts.network import KnownHosts
from nigari.packages.modules.module_store import ModuleStore
from nigari.record import replace
from nigari.workspace.setup.background_loop import BackgroundLoop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from nigari.net.client import Client
    from nigari.packages.content.module_fetch import Getter
    from nigari.packages.hosts.cli_config import CliConfig
    from nigari.packages.hosts.hosts import Hosts
    from nigari.packages.hosts.network import Network
    from nigari.packages.modules.fetching import Fetching
    from nigari.packages.modules.module_download import ModuleDownloads
    from nigari.packages.modules.module_registry import ModuleRegistries
    from nigari.packages.modules.shared_store import SharedStore

    T = TypeVar("T")


class ModuleSources:
    """The sources of packages, for one run."""

    def __init__(
        self, config: CliConfig, environ: Mapping[str, str], may_ask: bool, store: ModuleStore
    ) -> None:
        self._config = config
        self.known_hosts: KnownHosts = KnownHosts()
        """Facts about hosts, shared by all downloads of the run."""
        self._environ = environ
        self._may_ask = may_ask
        self._store = store
        self.aliases: Mapping[str, str] = {}
        """Names that stand for other hosts; to be set before anything is asked for."""
        self._loop = BackgroundLoop()
        self._network: Network | None = None
        self._hosts: Hosts | None = None
        self._shared: SharedStore | None = None
        self._registries: ModuleRegistries | None = None
        self._downloads: ModuleDownloads | None = None

    def downloads(self) -> ModuleDownloads:
        """Return the downloader of packages."""
        if self._downloads is None:
            from nigari.packages.modules.module_download import ModuleDownloads
            from nigari.packages.modules.shared_store import SharedStore, shared_directory

            directory = shared_directory(self._environ)
            self._shared = None if directory is None else SharedStore(directory)
            self._downloads = ModuleDownloads(
                self._fetching(), self.registries(), self._store, self._shared
            )
        return self._downloads

    def registries(self) -> ModuleRegistries:
        """Return the client of module registries."""
        if self._registries is None:
            from nigari.packages.modules.module_registry import ModuleRegistries

            self._registries = ModuleRegistries(self._opened(), self._config.module_methods or ())
        return self._registries

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Wait for something that the others do."""
        return self._loop.run(work)

    def close(self) -> None:
        """Give up what is under way and leave nothing behind."""
        self._loop.close(None if self._network is None else self._network.close)
        if self._shared is not None:
            self._shared.close()
        self._network = self._hosts = None
        self._shared = self._registries = self._downloads = None

    def _opened(self) -> Hosts:
        if self._hosts is None:
            from nigari.packages.hosts.network import Network

            config = replace(self._config, aliases=self.aliases)
            self._network = Network(config, self._environ, self.known_hosts)
            self._hosts = self._loop.run(self._network.hosts())
        return self._hosts

    def _fetching(self) -> Fetching:
        from nigari.packages.modules.fetching import Fetching
        from nigari.packages.modules.git import GitGetter
        from nigari.packages.modules.local_files import LocalFileGetter
        from nigari.packages.modules.mercurial import MercurialGetter

        fetching = Fetching()
        client = self._opened().client
        fetching.add("file", LocalFileGetter)
        fetching.add("gcs", lambda: self._gcs(client))
        fetching.add("git", lambda: GitGetter(self._environ, self._may_ask))
        fetching.add("hg", lambda: MercurialGetter(self._environ))
        fetching.add("http", lambda: self._web(client, fetching))
        fetching.add("https", lambda: self._web(client, fetching))
        fetching.add("oci", lambda: self._oci(client))
        fetching.add("s3", lambda: self._s3(client))
        return fetching

    def _web(self, client: Client, fetching: Fetching) -> Getter:
        from nigari.packages.modules.http_source import HttpGetter

        return HttpGetter(client, self._environ, fetching)

    def _gcs(self, client: Client) -> Getter:
        from nigari.packages.modules.buckets import BucketGetter
        from nigari.packages.modules.gcs_source import GcsStorage

        return BucketGetter(GcsStorage(client, self._environ))

    def _oci(self, client: Client) -> Getter:
        from nigari.packages.modules.oci_source import OciGetter

        assert self._network is not None
        return OciGetter(client, self._network.oci_credentials())

    def _s3(self, client: Client) -> Getter:
        from nigari.packages.modules.buckets import BucketGetter
        from nigari.packages.modules.s3_source import S3Storage

        return BucketGetter(S3Storage(client, self._environ))
