"""The backend `pg`: a row per workspace in a table of PostgreSQL, locked by advisory locks.

Such a lock belongs to a session of the database, so everything goes through one connection, and a
lock ends with it. The schema and the table are made when they turn out to be missing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence

from nigari.backends.locking import LockInfo
from nigari.backends.protocol import DEFAULT_WORKSPACE
from nigari.backends.store import (
    ABSENT,
    BackendFailure,
    Content,
    ContentChanged,
    StateIsLocked,
)
from nigari.clouds.arguments import Arguments
from nigari.extras import install_advice
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias

    import psycopg

_SEQUENCE: Final = "public.global_states_id_seq"
_LIBRARY: Final = "psycopg"
_VARIABLES: Final = {
    "PGHOST": "host",
    "PGHOSTADDR": "hostaddr",
    "PGPORT": "port",
    "PGDATABASE": "dbname",
    "PGUSER": "user",
    "PGPASSWORD": "password",
    "PGPASSFILE": "passfile",
    "PGSERVICE": "service",
    "PGSSLMODE": "sslmode",
    "PGSSLCERT": "sslcert",
    "PGSSLKEY": "sslkey",
    "PGSSLROOTCERT": "sslrootcert",
    "PGCONNECT_TIMEOUT": "connect_timeout",
}
_CONNECT_WITHIN: Final = 30
_MAKE_ATTEMPTS: Final = 10
_CONNECT_PAUSES: Final = (0.5, 1.0)
"""Seconds between attempts to connect."""
_ASK_ATTEMPTS: Final = 3
_LOCK_ATTEMPTS: Final = 5
_LOCK_PAUSE: Final = 0.2
_LONGEST_NAME: Final = 63
"""The bytes that the name of a session may have."""

_HOLDER: Final = """
SELECT a.usename, host(a.client_addr), a.application_name, a.pid,
       to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (l.classid::bigint << 32 | l.objid::bigint) = %s
"""

Row: TypeAlias = "tuple[object, ...]"


@record
class TableNames:
    """The names of the database objects, and which of them are created."""

    schema: str
    table: str
    index: str
    makes_schema: bool
    makes_table: bool
    makes_index: bool

    @property
    def qualified(self) -> str:
        return f"{_quoted(self.schema)}.{_quoted(self.table)}"

    @property
    def creation_lock(self) -> int:
        """The number that is locked while a workspace is made: FNV-1 of schema and table."""
        number = 0x811C9DC5
        for byte in f"{self.schema}\0{self.table}".encode():
            number = (number * 0x01000193 & 0xFFFFFFFF) ^ byte
        return -number


def open_store(arguments: Arguments) -> PostgresStore:
    """The store that the arguments describe."""
    text, flag = arguments.text, arguments.flag
    names = TableNames(
        text("schema_name", "PG_SCHEMA_NAME", default="terraform_remote_state"),
        text("table_name", "PG_TABLE_NAME", default="states"),
        text("index_name", "PG_INDEX_NAME", default="states_by_name"),
        not flag("skip_schema_creation", "PG_SKIP_SCHEMA_CREATION"),
        not flag("skip_table_creation", "PG_SKIP_TABLE_CREATION"),
        not flag("skip_index_creation", "PG_SKIP_INDEX_CREATION"),
    )
    return PostgresStore(_parameters(text("conn_str", "PG_CONN_STR"), arguments.environ), names)


def _parameters(text: str, environ: Mapping[str, str]) -> dict[str, str | int]:
    """The connection string. Encryption is the default, as in OpenTofu."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise BackendFailure(
            f"It needs the library {_LIBRARY}. {install_advice('psycopg[binary]', 'pg')}"
        ) from None
    try:
        given = conninfo_to_dict(text)
    except ProgrammingError:
        # The error of the library quotes the text.
        raise BackendFailure(
            "The conn_str is not valid. Write a URL, as in postgres://user@host/database, or "
            "settings, as in host=HOST dbname=DATABASE."
        ) from None
    found: dict[str, str | int] = {
        name: environ[variable] for variable, name in _VARIABLES.items() if environ.get(variable)
    }
    found |= {name: value for name, value in given.items() if value is not None}
    found.setdefault("sslmode", "require")
    found.setdefault("connect_timeout", _CONNECT_WITHIN)
    return found


class PostgresStore:
    """The states in a table."""

    has_workspaces: Final = True

    def __init__(self, parameters: Mapping[str, str | int], names: TableNames) -> None:
        self._parameters = parameters
        self._names = names
        self._connection: psycopg.AsyncConnection[Row] | None = None
        self._session = 0
        self._held: dict[str, LockInfo] = {}

    def location(self, workspace: str) -> str:
        host = self._parameters.get("host", "localhost")
        database = self._parameters.get("dbname", "")
        table = f"{self._names.schema}.{self._names.table}"
        return f"postgres://{host}/{database} {table} {workspace}"

    async def open(self) -> None:
        await self._connect()

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        self._held.clear()
        if connection is not None:
            await connection.close()

    # -- contents -------------------------------------------------------------------------------

    async def names(self) -> Sequence[str]:
        query = f"SELECT name FROM {self._names.qualified} WHERE name <> %s ORDER BY name"
        return [str(row[0]) for row in await self._ask(query, DEFAULT_WORKSPACE)]

    async def read(self, workspace: str) -> Content | None:
        query = f"SELECT data, xmin::text FROM {self._names.qualified} WHERE name = %s"
        rows = await self._ask(query, workspace)
        return Content(str(rows[0][0] or "").encode(), str(rows[0][1])) if rows else None

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        table, text = self._names.qualified, data.decode()
        insert = f"INSERT INTO {table} AS s (name, data) VALUES (%s, %s) ON CONFLICT (name) DO "
        if expected is None:
            query = insert + "UPDATE SET data = excluded.data RETURNING s.xmin::text"
            rows = await self._ask(query, workspace, text)
        elif expected == ABSENT:
            query = insert + "NOTHING RETURNING s.xmin::text"
            rows = await self._ask(query, workspace, text)
        else:
            query = (
                f"UPDATE {table} SET data = %s WHERE name = %s AND xmin::text = %s "
                "RETURNING xmin::text"
            )
            rows = await self._ask(query, text, workspace, expected)
        if rows:
            return str(rows[0][0])
        return await self._settle(workspace, data)

    async def _settle(self, workspace: str, data: bytes) -> str | None:
        """Nothing was written. It may have been before, by an attempt whose answer was lost."""
        found = await self.read(workspace)
        if found is None or found.data != data:
            raise ContentChanged(
                "Another run has changed the state since it was read, so it was not replaced."
            )
        return found.version

    async def delete(self, workspace: str) -> None:
        query = f"DELETE FROM {self._names.qualified} WHERE name = %s RETURNING id"
        await self._ask(query, workspace)

    # -- locks ----------------------------------------------------------------------------------

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        if workspace in self._held:
            # The database would give a session the same lock twice.
            raise StateIsLocked(self._held[workspace])
        creation = self._names.creation_lock
        name = _session_name(info)
        rows = await self._ask(
            "SELECT id, pg_try_advisory_lock(id), pg_try_advisory_lock(%s), "
            f"set_config('application_name', %s, false) FROM {self._names.qualified} "
            "WHERE name = %s",
            creation,
            name,
            workspace,
        )
        if not rows:
            query = "SELECT pg_try_advisory_lock(%s), set_config('application_name', %s, false)"
            if not (await self._ask(query, creation, name))[0][0]:
                raise StateIsLocked(await self._holder(creation))
            return self._take(workspace, replace(info, path=str(creation)))
        row, is_locked, is_creating = int(str(rows[0][0])), rows[0][1], rows[0][2]
        if is_creating:
            await self._release(creation)
        if is_locked and is_creating:
            return self._take(workspace, replace(info, path=str(row)))
        if is_locked:
            await self._release(row)
        raise StateIsLocked(await self._holder(creation if is_locked else row))

    def _take(self, workspace: str, info: LockInfo) -> LockInfo:
        self._held[workspace] = info
        return info

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        try:
            # Still held: a connection that is lost here takes the lock again before it releases it.
            is_released = await self._release(int(lock.path))
        finally:
            self._held.pop(workspace, None)
        if not is_released:
            raise BackendFailure("The lock was lost, because the connection was interrupted.")

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        raise BackendFailure(
            "A lock of PostgreSQL ends with the connection of its holder and cannot be removed by "
            "another one. End the process that holds it, or its session with "
            "pg_terminate_backend."
        )

    async def _release(self, number: int) -> bool:
        return bool((await self._ask("SELECT pg_advisory_unlock(%s)", number))[0][0])

    async def _holder(self, number: int) -> LockInfo | None:
        """Return the database's information about the session that holds a lock."""
        with contextlib.suppress(BackendFailure):
            for user, host, name, process, since in await self._ask(_HOLDER, number):
                who = str(name) or f"{user}@{host or 'localhost'}"
                who, _, operation = who.partition(" ")
                return LockInfo(
                    "",
                    operation,
                    who,
                    created=str(since),
                    path=str(number),
                    info=f"session {process} of the database user {user}",
                )
        return None

    # -- the connection -------------------------------------------------------------------------

    async def _connect(self) -> psycopg.AsyncConnection[Row]:
        import psycopg
        from psycopg.conninfo import make_conninfo

        for pause in (*_CONNECT_PAUSES, None):
            try:
                self._connection = await psycopg.AsyncConnection.connect(
                    make_conninfo("", **self._parameters), autocommit=True
                )
                break
            except psycopg.Error as error:
                # What the database itself refuses, it refuses again.
                if pause is None or "FATAL" in str(error):
                    text = f"No connection to the database: {_words(error)}."
                    raise BackendFailure(text) from None
            await asyncio.sleep(pause)
        assert self._connection is not None
        self._session = self._connection.info.backend_pid
        return self._connection

    async def _ask(self, query: str, *arguments: object) -> list[Row]:
        """The rows of an answer, with what is missing made first, and after a lost connection."""
        import psycopg

        is_lost = False
        for is_last in (False,) * (_ASK_ATTEMPTS - 1) + (True,):
            assert self._connection is not None, "the store is not open"
            try:
                if is_lost:
                    await self._recover()
                return await self._rows(query, *arguments)
            except psycopg.Error as error:
                is_lost = self._connection.closed
                if not is_last and isinstance(error, _missing()):
                    await self._make()
                elif is_last or not is_lost:
                    raise BackendFailure(f"The database refuses: {_words(error)}.") from None
        raise AssertionError("the last attempt returns or raises")

    async def _rows(self, query: str, *arguments: object) -> list[Row]:
        assert self._connection is not None
        cursor = await self._connection.execute(query.encode(), arguments)
        return [] if cursor.description is None else await cursor.fetchall()

    async def _make(self) -> None:
        """Create the missing objects, even if several processes do so at the same time."""
        import psycopg

        for is_last in (False,) * (_MAKE_ATTEMPTS - 1) + (True,):
            try:
                await self._make_all()
                return
            except _just_made() as error:
                # Another process has just created the same object: go on with the next.
                if is_last:
                    raise self._not_made(error) from None
            except psycopg.Error as error:
                raise self._not_made(error) from None

    def _not_made(self, error: Exception) -> BackendFailure:
        return BackendFailure(f"Cannot create the table {self._names.qualified}: {_words(error)}.")

    async def _make_all(self) -> None:
        """A schema is made only if there is none, which needs fewer rights."""
        names = self._names
        schema, table, index = names.schema, names.qualified, _quoted(names.index)
        if names.makes_schema:
            found = "SELECT 1 FROM information_schema.schemata WHERE schema_name = %s"
            if not await self._rows(found, schema):
                await self._rows(f"CREATE SCHEMA IF NOT EXISTS {_quoted(schema)}")
        if names.makes_table:
            await self._rows(f"CREATE SEQUENCE IF NOT EXISTS {_SEQUENCE} AS bigint")
            await self._rows(
                f"CREATE TABLE IF NOT EXISTS {table} (id bigint NOT NULL DEFAULT "
                f"nextval('{_SEQUENCE}') PRIMARY KEY, name text UNIQUE, data text)"
            )
        if names.makes_index:
            await self._rows(f"CREATE UNIQUE INDEX IF NOT EXISTS {index} ON {table} (name)")

    async def _recover(self) -> None:
        """Connect again, and take the locks again that ended with the connection."""
        session = self._session
        await self._connect()
        for info in self._held.values():
            name = _session_name(info)
            for _ in range(_LOCK_ATTEMPTS):
                query = "SELECT pg_try_advisory_lock(%s), set_config('application_name', %s, false)"
                if (await self._rows(query, int(info.path), name))[0][0]:
                    break
                # The database may not have noticed yet that our old session has ended.
                end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                await self._rows(f"{end}WHERE pid = %s AND application_name = %s", session, name)
                await asyncio.sleep(_LOCK_PAUSE)
            else:
                raise BackendFailure(
                    "The connection was interrupted, and another run has taken the lock."
                )


def _missing() -> tuple[type[Exception], ...]:
    """The error code of the database if nothing was stored yet."""
    from psycopg import errors

    return errors.UndefinedTable, errors.InvalidSchemaName


def _just_made() -> tuple[type[Exception], ...]:
    """The error codes of the database, even with IF NOT EXISTS, if two sessions create the same
    object.
    """
    from psycopg import errors

    return (
        errors.UniqueViolation,
        errors.DuplicateObject,
        errors.DuplicateSchema,
        errors.DuplicateTable,
    )


def _quoted(name: str) -> str:
    """An identifier as SQL has it, with the percent signs that placeholders would be."""
    escaped = name.replace('"', '""').replace("%", "%%")
    return f'"{escaped}"'


def _session_name(info: LockInfo) -> str:
    """The application name of the session that has a lock, as others see it."""
    return f"{info.who} {info.operation}".encode()[:_LONGEST_NAME].decode("utf-8", "ignore")


def _words(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
