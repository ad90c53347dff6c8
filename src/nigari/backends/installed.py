"""Backends that other people's packages bring: classes under the entry point `nigari.backends`.

    [project.entry-points."nigari.backends"]
    sqlite = "example.states:SqliteStore"

Such a class is a `nigari.backends.Store` whose fields are the arguments of the block: a dataclass, or
a class of attrs or pydantic. If it has a method `configure`, that is called with the environment and
the directory before anything else. Nothing is looked for while a configuration names backends that
the program brings itself.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache

from nigari.backends.store import BackendFailure, Content, StateIsLocked, Store
from nigari.record import record
from nigari.schema.block import Attribute, Block
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from importlib.metadata import EntryPoint
    from typing import Final, TypeVar

    from nigari.backends.locking import LockInfo

    T = TypeVar("T")

GROUP: Final = "nigari.backends"
_PLAIN: Final = ("location",)
_ASYNCHRONOUS: Final = ("names", "read", "write", "delete", "lock", "unlock", "force_unlock")
_CONNECTING: Final = ("open", "close")


@record
class InstalledBackend:
    """A class that stores states, with the block that configures it."""

    name: str
    store: type[object]
    block: Block

    def open(
        self,
        config: Mapping[str, object],
        environ: Mapping[str, str],
        directory: str | os.PathLike[str],
    ) -> Store:
        """A store with these arguments; a `BackendFailure` says why there is none."""
        from nigari.cty.annotations import shape_of
        from nigari.cty.errors import CtyError
        from nigari.cty.json import value_from_json
        from nigari.cty.models import failure_text, make_model, model_fields

        try:
            value = value_from_json(json.dumps(config), self.block.implied_type)
            given = {
                field.keyword: shape_of(field.hint).read(value.attribute(field.name))
                for field in model_fields(self.store)
                if not value.attribute(field.name).is_null
            }
            made = make_model(self.store, given)
            configure = getattr(made, "configure", None)
            if configure is not None:
                configure(environ, directory)
        except CtyError as error:
            raise BackendFailure(f"the arguments are not valid: {error.message}.") from error
        except BackendFailure:
            raise
        except Exception as error:
            raise BackendFailure(failure_text(error)) from error
        return GuardedStore(cast(Store, made))


class GuardedStore:
    """A store from another package, whose exceptions are failures and not the end of the program."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.has_workspaces: bool = bool(store.has_workspaces)

    def location(self, workspace: str) -> str:
        try:
            return str(self._store.location(workspace))
        except Exception:  # noqa: BLE001 - it is only for people to read
            return f"{type(self._store).__name__} {workspace}"

    async def open(self) -> None:
        await _attempt(self._store.open)

    async def close(self) -> None:
        await _attempt(self._store.close)

    async def names(self) -> Sequence[str]:
        return [str(name) for name in await _attempt(self._store.names)]

    async def read(self, workspace: str) -> Content | None:
        found = await _attempt(lambda: self._store.read(workspace))
        if found is not None and not isinstance(found, Content):
            raise BackendFailure(f"read must return a Content or None, not {found!r}.")
        return found

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        return await _attempt(lambda: self._store.write(workspace, data, expected))

    async def delete(self, workspace: str) -> None:
        await _attempt(lambda: self._store.delete(workspace))

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        found = await _attempt(lambda: self._store.lock(workspace, info))
        if not isinstance(found, type(info)):
            raise BackendFailure(f"lock must return the LockInfo that it took, not {found!r}.")
        return found

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        await _attempt(lambda: self._store.unlock(workspace, lock))

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        await _attempt(lambda: self._store.force_unlock(workspace, lock_id))


async def _attempt(work: Callable[[], Awaitable[T]]) -> T:
    try:
        return await work()
    except (BackendFailure, StateIsLocked):
        raise
    except Exception as error:
        raise BackendFailure(f"{type(error).__name__}: {error}") from error


def installed_names() -> list[str]:
    """The names of all backends that packages bring."""
    return sorted(_entry_points())


@cache
def installed_backend(name: str) -> InstalledBackend | None:
    """The backend of that name, if a package brings it; a `BackendFailure` says why the one that
    does cannot be used.
    """
    entry = _entry_points().get(name)
    if entry is None:
        return None
    try:
        found = entry.load()
    except Exception as error:
        text = f"{entry.value}, which a package registers for it, cannot be imported: {error}"
        raise BackendFailure(text) from error
    try:
        return InstalledBackend(name, found, _block(found))
    except TypeError as error:
        text = f"{entry.value}, which a package registers for it, is not a backend: {error}"
        raise BackendFailure(text) from error


def _entry_points() -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _block(found: object) -> Block:
    """The arguments that a class takes; a `TypeError` where it is no backend."""
    import inspect

    from nigari.cty.annotations import shape_of, unwrapped
    from nigari.cty.models import is_model, model_fields

    if not isinstance(found, type) or not is_model(found):
        raise TypeError("it must be a class with fields, such as a dataclass.")
    # What the protocol itself has does nothing, which is good enough for connecting.
    empty = {name: member for name, member in vars(Store).items() if name not in _CONNECTING}
    for name in (*_PLAIN, *_ASYNCHRONOUS, *_CONNECTING):
        method = getattr(found, name, None)
        if method is None or method is empty.get(name):
            raise TypeError(f"it has no method {name}.")
        if name not in _PLAIN and not inspect.iscoroutinefunction(method):
            raise TypeError(f"its method {name} must be written with async def.")
    if getattr(found, "has_workspaces", None) in (None, empty["has_workspaces"]):
        raise TypeError("its attribute has_workspaces is missing, which is True or False.")
    attributes: dict[str, Attribute] = {}
    for field in model_fields(found):
        allows_none = unwrapped(field.hint)[2]
        is_optional = field.has_default or allows_none
        attributes[field.name] = Attribute(
            shape_of(field.hint).type, required=not is_optional, optional=is_optional
        )
    return Block(attributes)
