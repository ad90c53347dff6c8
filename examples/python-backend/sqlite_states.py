"""A backend in Python: states in a file of SQLite.

    terraform {
      backend "sqlite" {
        path = "states.db"
      }
    }

The fields of the class are the arguments of the block. `docs/concepts/states.md` says how it is installed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import ClassVar

from nigari.backends import (
    ABSENT,
    BackendFailure,
    Content,
    ContentChanged,
    LockInfo,
    StateIsLocked,
    Store,
)

_TABLES = """
CREATE TABLE IF NOT EXISTS states (name TEXT PRIMARY KEY, data BLOB, version INTEGER);
CREATE TABLE IF NOT EXISTS locks (name TEXT PRIMARY KEY, id TEXT, who TEXT, operation TEXT,
                                  created TEXT, info TEXT);
"""


@dataclass
class SqliteStates(Store):
    """The states in one file."""

    path: str
    """The file, seen from the directory of the configuration."""
    timeout: float = 10.0
    """The seconds to wait for others who use the file."""

    has_workspaces: ClassVar[bool] = True

    def configure(self, environ: Mapping[str, str], directory: str) -> None:
        """Called once, before anything else."""
        self.path = os.path.join(directory, self.path)

    def location(self, workspace: str) -> str:
        return f"{self.path}:{workspace}"

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=self.timeout)) as connection:
            connection.isolation_level = None
            connection.executescript(_TABLES)
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    async def names(self) -> Sequence[str]:
        with self._transaction() as connection:
            return [name for (name,) in connection.execute("SELECT name FROM states")]

    async def read(self, workspace: str) -> Content | None:
        with self._transaction() as connection:
            return self._read(connection, workspace)

    def _read(self, connection: sqlite3.Connection, workspace: str) -> Content | None:
        query = "SELECT data, version FROM states WHERE name = ?"
        row = connection.execute(query, (workspace,)).fetchone()
        return None if row is None else Content(row[0], str(row[1]))

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        with self._transaction() as connection:
            found = self._read(connection, workspace)
            version = ABSENT if found is None else found.version
            if expected is not None and version != expected:
                raise ContentChanged("Somebody else has stored a state since this one was read.")
            new = int(version or 0) + 1
            connection.execute("REPLACE INTO states VALUES (?, ?, ?)", (workspace, data, new))
            return str(new)

    async def delete(self, workspace: str) -> None:
        with self._transaction() as connection:
            connection.execute("DELETE FROM states WHERE name = ?", (workspace,))

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        with self._transaction() as connection:
            query = "SELECT id, operation, who, created, info FROM locks WHERE name = ?"
            row = connection.execute(query, (workspace,)).fetchone()
            if row is not None:
                id_, operation, who, created, more = row
                raise StateIsLocked(LockInfo(id_, operation, who, created=created, info=more))
            connection.execute(
                "INSERT INTO locks VALUES (?, ?, ?, ?, ?, ?)",
                (workspace, info.id, info.who, info.operation, info.created, info.info),
            )
            return info

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        await self.force_unlock(workspace, lock.id)

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        with self._transaction() as connection:
            query = "DELETE FROM locks WHERE name = ? AND id = ?"
            if not connection.execute(query, (workspace, lock_id)).rowcount:
                raise BackendFailure("The state is not locked with this ID.")
