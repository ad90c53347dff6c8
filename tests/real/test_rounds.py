"""Rounds with real plugins: databases of a real PostgreSQL, each with a provider instance of its own.

The configuration is the one in `docs/concepts/rounds.md`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.world.postgres import Postgres, running
from tests.cli.process import nigari
from tests.real import program

pytestmark = pytest.mark.real

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "rounds.md"
ALL = '["acme","globex","initech"]'
LESS = '["acme","initech"]'


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    pytest.importorskip("psycopg")
    with running() as found:
        yield found


class Tenants:
    """A working directory with the page's configuration, and the server that it is for."""

    def __init__(self, path: Path, server: Postgres) -> None:
        self.path = path
        self._server = server
        overrides = {
            "cyrilgdn/postgresql": program("terraform-provider-postgresql"),
            "hashicorp/random": program("terraform-provider-random"),
        }
        lines = "".join(f'    "{name}" = "{each.parent}"\n' for name, each in overrides.items())
        settings = path / "settings.tfrc"
        settings.write_text(f"provider_installation {{\n  dev_overrides {{\n{lines}  }}\n}}\n")
        self.environ = {"TF_CLI_CONFIG_FILE": str(settings), "TF_VAR_port": str(server.port)}
        (text,) = re.findall(r"```hcl\n(terraform .*?)```", PAGE.read_text(), re.DOTALL)
        (path / "main.tf").write_text(text)

    def ours(self, *args: str, code: int = 0) -> str:
        done = nigari(*args, cwd=self.path, settings=self.environ)
        assert done.code == code, done.out + done.err
        return done.out

    def apply(self, *args: str) -> list[str]:
        """What the rounds of an apply do, one line for each."""
        out = self.ours("apply", "-allow-deferral", "-auto-approve", "-no-color", *args)
        return [line for line in out.splitlines() if line.startswith("Plan: ")]

    def databases(self) -> dict[str, str]:
        found = json.loads(self.ours("output", "-json", "databases"))
        assert isinstance(found, dict)
        return {tenant: name for name, tenant in found.items()}

    def tenants_there(self) -> list[str]:
        """The tenants that the server has a database for."""
        names = self.ask("select datname from pg_database")
        return sorted(each.split("_")[0] for each in names if re.search(r"_[0-9a-f]{6}$", each))

    def ask(self, query: str, database: str = "postgres") -> list[str]:
        import psycopg

        address = self._server.conn_str.replace("/postgres?", f"/{database}?")
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(query.encode())
            return [] if cursor.description is None else [row[0] for row in cursor.fetchall()]


@pytest.fixture
def tenants(tmp_path: Path, server: Postgres) -> Iterator[Tenants]:
    found = Tenants(tmp_path, server)
    yield found
    nigari("destroy", "-auto-approve", cwd=tmp_path, settings=found.environ)


def test_the_life_of_databases(tenants: Tenants) -> None:
    assert tenants.apply() == [
        "Plan: 6 to add, 0 to change, 0 to destroy.",
        "Plan: 2 to add, 0 to change, 0 to destroy.",
        "Plan: 2 to add, 0 to change, 0 to destroy.",
    ]
    assert tenants.tenants_there() == ["acme", "globex"]
    tenants.ours("plan", "-detailed-exitcode")

    # Somebody drops a schema: it is made again, and so are the grants on it.
    acme = tenants.databases()["acme"]
    tenants.ask("drop schema app_acme", acme)
    assert len(tenants.apply()) == 2
    tenants.ours("plan", "-detailed-exitcode")
    assert "app_acme" in tenants.ask("select nspname from pg_namespace", acme)

    # A database more.
    assert tenants.apply(f"-var=tenants={ALL}") == [
        "Plan: 3 to add, 0 to change, 0 to destroy.",
        "Plan: 1 to add, 0 to change, 0 to destroy.",
        "Plan: 1 to add, 0 to change, 0 to destroy.",
    ]
    assert tenants.tenants_there() == ["acme", "globex", "initech"]

    # One less, together with the provider instance that manages what is in it.
    assert tenants.apply(f"-var=tenants={LESS}") == ["Plan: 0 to add, 0 to change, 5 to destroy."]
    assert tenants.tenants_there() == ["acme", "initech"]
    tenants.ours("plan", "-detailed-exitcode", f"-var=tenants={LESS}")

    out = tenants.ours("destroy", "-auto-approve", "-no-color", f"-var=tenants={LESS}")
    assert "Destroy complete! Resources: 10 destroyed." in out
    assert tenants.tenants_there() == []


def test_the_real_program_reads_the_state_after_every_round(tenants: Tenants) -> None:
    tofu = program("tofu")
    seen = []
    for _ in range(3):
        tenants.ours("apply", "-allow-deferral", "-auto-approve", "-rounds=1")
        done = subprocess.run(
            [tofu, "state", "list"],
            cwd=tenants.path,
            env={**os.environ, **tenants.environ},
            capture_output=True,
            text=True,
            check=True,
        )
        seen.append(len(done.stdout.splitlines()))
    assert seen == [6, 10, 12]
