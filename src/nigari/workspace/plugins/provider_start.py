"""A provider's program on its way to being used: found, checked and started in a thread.

The checksum of a package and the start of its program take as long as importing what talks to
programs, so both are done at once. Who wants to know only what a provider offers gets nothing
started where that is known from an earlier run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from enum import Enum
from functools import lru_cache

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.packages.providers.installed_program import ProviderProgram
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.plugins.schema_cache import Form, SchemaCache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.providers import api
    from nigari.providers.start import StartedPlugin
    from nigari.schema.provider import ProviderSchema

_SCHEMAS: Final = 8
"""Limit on the schemas that a process keeps, as some are large."""

Find = Callable[[Provider, Diagnostics], ProviderProgram | None]
"""Looks for the program of a provider; `None` after reporting why it cannot be used."""


class ProgramSearch:
    """The search for one provider's program, under way from the moment this is made."""

    def __init__(self, provider: Provider, find: Find) -> None:
        from threading import Thread

        self._provider = provider
        self._find = find
        self._diags = Diagnostics()
        self._program: ProviderProgram | None = None
        self._failure: Exception | None = None
        self._thread = Thread(target=self._run, name=f"find {provider}", daemon=True)
        self._thread.start()

    def found(self, diags: Diagnostics) -> ProviderProgram | None:
        """Return the program once it was found; None after reporting why it cannot be used."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        diags.extend(self._diags)
        return self._program

    def _run(self) -> None:
        try:
            self._program = self._find(self._provider, self._diags)
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            self._failure = error


class Purpose(Enum):
    """Purposes of starting a provider."""

    PROCESS = "a process"
    SCHEMA = "its schema"
    JSON = "its schema as JSON"


class ProviderStart:
    """The start of one provider's program, under way from the moment this is made."""

    def __init__(
        self,
        provider: Provider,
        wanted: Purpose,
        find: Find,
        cache: SchemaCache,
        where: WorkingDirectory,
        known_schema: ProviderSchema | None = None,
    ) -> None:
        from threading import Thread

        self.provider = provider
        self.schema = known_schema
        """The provider's schema, if it is known without starting it."""
        self.json: bytes | None = None
        """The same as JSON, if that is wanted and known."""
        self._wanted = wanted
        self._find = find
        self._cache = cache
        self._where = where
        self._diags = Diagnostics()
        self._program: ProviderProgram | None = None
        self._started: StartedPlugin | None = None
        self._failure: Exception | None = None
        self._thread = Thread(target=self._run, name=f"start {provider}", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Return whether the start is complete: the requested data is known, or it failed."""
        return not self._thread.is_alive() and self._started is None

    def wait(self) -> None:
        """Wait until the program is started, or cannot be, or need not be."""
        self._thread.join()

    async def running(self, diags: Diagnostics) -> api.Provider | None:
        """The provider, ready to be asked; `None` after reporting why there is none, or where
        what was wanted is known.
        """
        import asyncio

        # Both import a lot, for which there is time now.
        from nigari.providers.client import PluginProvider
        from nigari.providers.diagnostics import located
        from nigari.providers.launch import connect, prepare_to_talk
        from nigari.providers.start import LaunchError

        prepare_to_talk()
        if self._thread.is_alive():
            await asyncio.to_thread(self.wait)
        self.report(diags)
        if self._started is None:
            return None
        try:
            plugin = await connect(self._started)
        except LaunchError as error:
            diags.extend(located([error.diagnostic]))
            return None
        return PluginProvider(plugin, self.schema, self._keep_messages)

    def report(self, diags: Diagnostics) -> None:
        """Tell what went wrong, once it is over."""
        if self._failure is not None:
            raise self._failure
        diags.extend(self._diags)

    def keep_json(self, text: bytes) -> None:
        """Remember the schema as JSON for later runs."""
        self._keep(Form.JSON, text)

    def _keep_messages(self, encoded: bytes) -> None:
        self._keep(Form.MESSAGES, encoded)

    def _keep(self, form: Form, encoded: bytes) -> None:
        program = self._program
        if program is not None and program.checksum:
            self._cache.keep(self.provider, program.checksum, form, encoded, program.version)

    def _run(self) -> None:
        try:
            self._program = program = self._find(self.provider, self._diags)
            if program is None:
                return
            is_process = self._wanted is Purpose.PROCESS
            if is_process:
                # What is known of it is looked up while it gets ready.
                self._started = self._start(program.path)
            is_known = bool(program.checksum) and self._is_known(program.checksum)
            if not is_process and not is_known:
                self._started = self._start(program.path)
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            self._failure = error

    def _start(self, program: str) -> StartedPlugin | None:
        from nigari.providers.diagnostics import located
        from nigari.providers.start import LaunchError, start

        try:
            where = self._where
            return start([program], self.provider.display, where.environ, where.root)
        except LaunchError as error:
            self._diags.extend(located([error.diagnostic]))
            return None

    def _is_known(self, checksum: str) -> bool:
        """Look up what is known of the package; tell whether that would do for a schema."""
        if self._wanted is Purpose.JSON:
            self.json = self._cache.find(self.provider, checksum, Form.JSON)
            if self.json is not None:
                return True
        if self.schema is None:
            encoded = self._cache.find(self.provider, checksum, Form.MESSAGES)
            if encoded is not None:
                with contextlib.suppress(ValueError):
                    self.schema = _parsed_schema(encoded)
        return self.schema is not None


@lru_cache(maxsize=_SCHEMAS)
def _parsed_schema(encoded: bytes) -> ProviderSchema:
    """Parse the schema of an earlier run, once for a process that works with many directories."""
    from nigari.providers.wire.stored_schema import schema_from_bytes

    return schema_from_bytes(encoded)
