"""The backend `pg` with a PostgreSQL of our own."""

import asyncio
import re
import sys
from collections.abc import Iterator

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.locking import new_lock
from nigari.backends.store import BackendFailure, StateIsLocked
from nigari.clouds.arguments import Arguments

psycopg = pytest.importorskip("psycopg")

from nigari.backends.stores.pg.store import PostgresStore, open_store  # noqa: E402
from tests.backends.world.postgres import Postgres, running  # noqa: E402
from tests.net_world.faults import FaultyProxy  # noqa: E402


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running() as made:
        yield made


def opened(postgres: Postgres, schema: str, **more: object) -> PostgresStore:
    given = {"conn_str": postgres.conn_str, "schema_name": schema, **more}
    return open_store(Arguments(given, {}))


@pytest.mark.parametrize("check", CHECKS)
def test_conformance(postgres: Postgres, check: str) -> None:
    schema = postgres.schema()
    subject = Subject(lambda: opened(postgres, schema), tells_holder=False, forgets_forced=False)
    asyncio.run(CHECKS[check](subject))


def test_what_is_made(postgres: Postgres) -> None:
    schema = postgres.schema()

    async def work() -> None:
        store = opened(postgres, schema, table_name='t"1', index_name="i")
        await store.open()
        await store.write("w", b'{"a": 1}', None)
        await store.close()

    asyncio.run(work())
    with psycopg.connect(postgres.conn_str) as connection:
        table = f'"{schema}"."t""1"'.replace("%", "%%")
        rows = connection.execute(f"SELECT name, data FROM {table}", ()).fetchall()
        assert rows == [("w", '{"a": 1}')]
        indexes = connection.execute(
            "SELECT indexname FROM pg_indexes WHERE schemaname = %s ORDER BY 1", (schema,)
        ).fetchall()
        assert [each[0] for each in indexes] == ["i", 't"1_name_key', 't"1_pkey']


def test_what_is_not_made(postgres: Postgres) -> None:
    async def work() -> None:
        store = opened(postgres, postgres.schema(), skip_schema_creation=True)
        await store.open()
        try:
            await store.read("default")
        finally:
            await store.close()

    with pytest.raises(BackendFailure, match="Cannot create the table"):
        asyncio.run(work())


def test_the_number_of_the_lock_for_creating() -> None:
    pytest.importorskip("psycopg")
    store = open_store(Arguments({"conn_str": "postgres://x"}, {}))
    # What Go's hash/fnv gives for "terraform_remote_state\0states".
    assert store._names.creation_lock == -3797183428


def test_who_holds_the_lock(postgres: Postgres) -> None:
    schema = postgres.schema()

    async def work() -> StateIsLocked:
        one, other = opened(postgres, schema), opened(postgres, schema)
        await one.open()
        await other.open()
        await one.write("default", b"{}", None)
        held = await one.lock("default", new_lock("OperationTypeApply"))
        with pytest.raises(StateIsLocked):
            await one.lock("default", new_lock("again"))
        with pytest.raises(StateIsLocked) as conflict:
            await other.lock("default", new_lock("OperationTypePlan"))
        await one.unlock("default", held)
        await one.close()
        await other.close()
        return conflict.value

    holder = asyncio.run(work()).holder
    assert holder is not None
    assert (holder.who, holder.operation) == (new_lock("").who, "OperationTypeApply")
    assert holder.created.endswith("Z")


def test_an_interrupted_connection(postgres: Postgres) -> None:
    """The locks are taken again; if somebody else was quicker, nothing is written."""
    schema = postgres.schema()

    async def interrupt(store: PostgresStore) -> None:
        assert store._connection is not None
        with psycopg.connect(postgres.conn_str, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(%s, 5000)", (store._connection.info.backend_pid,)
            )

    async def work() -> None:
        one, other = opened(postgres, schema), opened(postgres, schema)
        await one.open()
        await other.open()
        version = await one.write("default", b"{}", None)
        held = await one.lock("default", new_lock("test"))
        await interrupt(one)
        version = await one.write("default", b'{"n":1}', version)
        with pytest.raises(StateIsLocked):
            await other.lock("default", new_lock("other"))
        await interrupt(one)
        others = await other.lock("default", new_lock("other"))
        with pytest.raises(BackendFailure, match="another run has taken the lock"):
            await one.write("default", b'{"n":2}', version)
        with pytest.raises(BackendFailure, match="was lost"):
            await one.unlock("default", held)
        await other.unlock("default", others)
        held = await one.lock("default", new_lock("test"))
        await interrupt(one)
        await one.unlock("default", held)
        await one.close()
        await other.close()

    asyncio.run(work())


def test_a_session_whose_end_the_database_has_not_noticed(postgres: Postgres) -> None:
    """The lock is taken from it, and the state is written."""
    schema = postgres.schema()

    async def work() -> bytes:
        with FaultyProxy(postgres.port, is_http=False) as proxy:
            store = opened(Postgres(proxy.port), schema)
            await store.open()
            version = await store.write("default", b"{}", None)
            held = await store.lock("default", new_lock("test"))
            proxy.spoil("cut", 1)
            await store.write("default", b'{"n":1}', version)
            await store.unlock("default", held)
            found = await store.read("default")
            await store.close()
            assert found is not None
            return found.data

    assert asyncio.run(work()) == b'{"n":1}'


@pytest.mark.parametrize(
    ("given", "environ", "expected"),
    [
        ("postgres://u:p@h/d", {}, {"user": "u", "host": "h", "sslmode": "require"}),
        ("host=h sslmode=disable", {"PGHOST": "x"}, {"host": "h", "sslmode": "disable"}),
        (
            "",
            {"PG_CONN_STR": "host=e", "PGSSLMODE": "verify-full"},
            {"host": "e", "sslmode": "verify-full"},
        ),
        ("", {"PGHOST": "x", "PGUSER": "y"}, {"host": "x", "user": "y"}),
    ],
)
def test_how_it_connects(given: str, environ: dict[str, str], expected: dict[str, str]) -> None:
    store = open_store(Arguments({"conn_str": given}, environ))
    assert expected.items() <= store._parameters.items()


def test_what_cannot_be_reached() -> None:
    store = open_store(Arguments({"conn_str": "host=127.0.0.1 port=1 connect_timeout=2"}, {}))
    with pytest.raises(BackendFailure, match="No connection to the database"):
        asyncio.run(store.open())
    with pytest.raises(BackendFailure, match="conn_str is not valid"):
        open_store(Arguments({"conn_str": "postgres://h?nonsense=1"}, {}))


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BackendFailure, match=re.escape('pip install "psycopg[binary]"')):
        open_store(Arguments({"conn_str": "postgres://x"}, {}))
