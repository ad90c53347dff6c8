"""Work that takes longer than a client should wait, in threads of its own.

Root modules are evaluated by one thread, one at a time, the latest wish first; files are surveyed
and schemas found by others. Each works on a snapshot and hands its result over to the main thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial

from nigari.addrs.provider import Provider
from nigari.config.module_cache import MODULE_CACHE, Contents, ModuleCache, ReadModule
from nigari.language.evaluation import Evaluation
from nigari.language.occurrences import FileNames
from nigari.language.project import survey
from nigari.language.workbench import KnownProvider
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.schema.provider import ProviderSchema

Post = Callable[[Callable[[], None]], None]
"""Has something done by the main thread."""
FoundSchemas = Callable[
    [str, "Mapping[Provider, ProviderSchema]", "Mapping[Provider, KnownProvider]"], None
]
"""Takes what was found of the providers of a root module."""
_MOST_VERSIONS: Final = 3
"""Versions of a directory's module that are retained: root modules name directories alike."""


class Evaluator:
    """The thread that evaluates root modules."""

    def __init__(
        self,
        environ: Mapping[str, str],
        post: Post,
        done: Callable[[Evaluation, float], None],
        failed: Callable[[str, Exception], None],
        linted: Callable[[Evaluation], None],
    ) -> None:
        self._environ = environ
        self._post = post
        self._done = done
        self._failed = failed
        self._linted = linted
        self._wishes: dict[str, _Wish] = {}
        self._unlinted: dict[str, Evaluation] = {}
        """The latest evaluations that are still to be linted, when nothing else is to be done."""
        self._condition = threading.Condition()
        self._is_busy = False
        self._thread: threading.Thread | None = None

    @property
    def is_idle(self) -> bool:
        """Return whether no work is running or queued."""
        with self._condition:
            return not self._wishes and not self._unlinted and not self._is_busy

    def request(
        self,
        root: str,
        texts: Mapping[str, bytes],
        schemas: Mapping[Provider, ProviderSchema],
        is_linted: bool = True,
    ) -> None:
        """Evaluate a root module, in place of an earlier request for it that has not begun, and lint
        it once nothing else waits.
        """
        with self._condition:
            self._wishes.pop(root, None)
            self._unlinted.pop(root, None)
            self._wishes[root] = _Wish(texts, dict(schemas), is_linted)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="evaluate", daemon=True)
                self._thread.start()
            self._condition.notify()

    def _run(self) -> None:
        MODULE_CACHE.set(_LatestModules())
        while True:
            with self._condition:
                while not self._wishes and not self._unlinted:
                    self._condition.wait()
                self._is_busy = True
                if self._wishes:
                    work = partial(self._evaluate, *self._wishes.popitem())
                else:
                    work = partial(self._lint, self._unlinted.popitem()[1])
            result = work()
            with self._condition:
                self._is_busy = False
            self._post(result)

    def _evaluate(self, root: str, wish: _Wish) -> Callable[[], None]:
        """The continuation on the main thread with the result and the seconds it took."""
        begun = time.monotonic()
        where = WorkingDirectory(self._environ, root=root)
        try:
            evaluation = Evaluation(where, wish.texts, wish.schemas.get)
        except Exception as error:  # noqa: BLE001 - one configuration must not end the server
            return partial(self._failed, root, error)
        if wish.is_linted:
            with self._condition:
                if root not in self._wishes:
                    self._unlinted[root] = evaluation
        return partial(self._done, evaluation, time.monotonic() - begun)

    def _lint(self, evaluation: Evaluation) -> Callable[[], None]:
        try:
            evaluation.lint()
        except Exception as error:  # noqa: BLE001 - one rule must not end the server
            return partial(self._failed, evaluation.root, error)
        return partial(self._linted, evaluation)


class _LatestModules(ModuleCache):
    """The modules that were read last, some versions for each directory."""

    def __init__(self) -> None:
        super().__init__()
        self._versions: dict[str, dict[Contents, ReadModule]] = {}

    def find(self, contents: Contents) -> ReadModule | None:
        return self._versions.get(contents[0], {}).get(contents)

    def add(self, contents: Contents, module: ReadModule) -> None:
        versions = self._versions.setdefault(contents[0], {})
        versions[contents] = module
        if len(versions) > _MOST_VERSIONS:
            versions.pop(next(iter(versions)))


class _Wish:
    """A root module that is to be evaluated."""

    __slots__ = ("is_linted", "schemas", "texts")

    def __init__(
        self,
        texts: Mapping[str, bytes],
        schemas: Mapping[Provider, ProviderSchema],
        is_linted: bool,
    ) -> None:
        self.texts = texts
        self.schemas = schemas
        self.is_linted = is_linted


def survey_folders(
    folders: tuple[str, ...], post: Post, done: Callable[[list[FileNames]], None]
) -> None:
    """Read the names in all files below folders."""

    def run() -> None:
        found = survey(folders)
        post(lambda: done(found))

    threading.Thread(target=run, name="survey", daemon=True).start()


class SchemaFinder:
    """Finds what the installed providers of root modules offer: from the cache, or by starting them."""

    def __init__(
        self,
        environ: Mapping[str, str],
        post: Post,
        done: FoundSchemas,
    ) -> None:
        self._environ = environ
        self._post = post
        self._done = done
        self._asked: set[tuple[str, Provider]] = set()
        self._running = 0
        self._lock = threading.Lock()

    def request(self, root: str, providers: Collection[Provider]) -> None:
        """Find the schemas of providers, each asked for once in a root module."""
        wanted = [each for each in sorted(providers) if (root, each) not in self._asked]
        if not wanted:
            return
        self._asked.update((root, each) for each in wanted)
        self._running += 1
        thread = threading.Thread(
            target=self._run, args=(root, wanted), name="find schemas", daemon=True
        )
        thread.start()

    @property
    def is_idle(self) -> bool:
        """Return whether all requested work has been delivered."""
        return not self._running

    def _end(
        self,
        root: str,
        found: Mapping[Provider, ProviderSchema],
        known: Mapping[Provider, KnownProvider],
    ) -> None:
        self._running -= 1
        self._done(root, found, known)

    def forget(self, root: str) -> None:
        """Ask again: what is installed in a root module has changed."""
        self._asked = {each for each in self._asked if each[0] != root}

    def _run(self, root: str, providers: list[Provider]) -> None:
        from nigari.diagnostics import Diagnostics
        from nigari.workspace.context.asyncio_bridge import run_to_end
        from nigari.workspace.plugins.provider_schemas import nearest_schema, offered_schemas
        from nigari.workspace.plugins.providers import InstalledProviders

        found: dict[Provider, ProviderSchema] = {}
        known: dict[Provider, KnownProvider] = {}
        with self._lock:
            installed = InstalledProviders(WorkingDirectory(self._environ, root=root))
            for provider in providers:
                try:
                    lock = installed.locks.providers.get(provider)
                    locked = "" if lock is None else str(lock.version)
                    known[provider] = KnownProvider(locked)
                    if installed.are_there([provider], Diagnostics()):
                        asked = offered_schemas(installed, [provider], Diagnostics())
                        found.update(run_to_end(asked))
                    elif (near := nearest_schema(installed, provider)) is not None:
                        known[provider] = KnownProvider(locked, near[1], str(near[0]))
                except Exception:  # noqa: BLE001 - a plugin that fails leaves no schema
                    continue
        self._post(partial(self._end, root, found, known))
