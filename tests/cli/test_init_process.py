"""`nigari init` as a process: asked questions at a terminal, and killed at any moment."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.backends.world.state_server import StateServer
from tests.cli.process import command, environment, nigari
from tests.cli.typist import Typist
from tests.packages.repositories import Repository, needs_git

VARIABLES = """
variable "where" {
  description = "Where the module is"
}
variable "secret" {
  sensitive = true
}
module "a" {
  source = var.where
}
module "b" {
  source = "./${var.where}"
}
output "o" {
  value     = var.secret
  sensitive = true
}
"""


@pytest.fixture
def asking(tmp_path: Path) -> Path:
    (tmp_path / "main.tf").write_text(VARIABLES)
    (tmp_path / "m").mkdir()
    return tmp_path


def test_a_missing_variable_is_asked_for_once(asking: Path) -> None:
    with Typist("init", cwd=asking) as typist:
        seen = typist.wait_for("Enter a value: ")
        assert "var.where\n  Where the module is" in seen
        typist.type("./m\n")
        assert "Enter a value" not in typist.wait_for("initialized")
        assert typist.code() == 0


def test_nobody_is_asked_where_that_is_not_wanted(asking: Path) -> None:
    with Typist("init", "-input=false", cwd=asking) as typist:
        assert "var.where, which has no value" in typist.wait_for("which has no value")
        assert typist.code() == 1


@pytest.mark.parametrize(
    ("typed", "flags", "settings", "code", "asks"),
    [
        ("./m\n", (), {}, 0, True),
        ("", (), {}, 1, False),
        ("./m\n", ("-input=false",), {}, 1, False),
        ("./m\n", (), {"TF_INPUT": "0"}, 1, False),
        ("./m\n", ("-json",), {}, 1, False),
    ],
)
def test_answers_may_come_through_a_pipe(
    asking: Path,
    typed: str,
    flags: tuple[str, ...],
    settings: dict[str, str],
    code: int,
    asks: bool,
) -> None:
    done = nigari("init", *flags, cwd=asking, stdin=typed, settings=settings)
    assert done.code == code
    assert ("Enter a value" in done.out) == asks


def test_a_secret_is_not_shown(tmp_path: Path) -> None:
    text = (
        'variable "s" {\n  sensitive = true\n}\nmodule "a" {\n  source = nonsensitive(var.s)\n}\n'
    )
    (tmp_path / "main.tf").write_text(text)
    (tmp_path / "m").mkdir()
    with Typist("init", cwd=tmp_path) as typist:
        typist.wait_for("Enter a value (input is hidden): ")
        typist.type("./m\n")
        assert "./m" not in typist.wait_for("initialized").replace("a in m", "")
        assert typist.code() == 0


def test_the_backend_asks_for_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('terraform {\n  backend "http" {}\n}\n')
    with StateServer() as server, Typist("init", cwd=tmp_path) as typist:
        assert "address" in typist.wait_for("Enter a value: ")
        typist.type(f"{server.url}\n")
        assert typist.code() == 0
    text = (tmp_path / ".terraform" / "terraform.tfstate").read_text()
    assert json.loads(text)["backend"]["config"]["address"] == server.url


@needs_git
def test_killed_at_any_moment(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.commit({"main.tf": "", "sub/main.tf": "", "data": "x" * 300_000}, tag="v1")
    repository.commit({"more.tf": ""}, tag="v2")
    work = tmp_path / "work"
    work.mkdir()
    for moment in range(12):
        ref = "v1" if moment % 2 else "v2"
        calls = "".join(
            f'module "m{i}" {{\n  source = "{repository.source}//sub?ref={ref}"\n}}\n'
            for i in range(moment + 2)
        )
        (work / "main.tf").write_text(calls)
        process = subprocess.Popen(
            command("init", "-no-color"),
            cwd=work,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(0.15 + moment * 0.03)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = nigari("init", "-no-color", cwd=work)
        assert done.code == 0, done.err
        modules = work / ".terraform" / "modules"
        records = json.loads((modules / "modules.json").read_text())["Modules"]
        assert len(records) == moment + 3
        for record in records:
            assert (work / record["Dir"]).is_dir()
        assert (modules / "m0" / "more.tf").exists() == (ref == "v2")
        assert len([path for path in (modules / ".store").iterdir() if path.is_dir()]) == 1


@needs_git
def test_two_at_a_time(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.commit({"main.tf": ""})
    work = tmp_path / "work"
    work.mkdir()
    (work / "main.tf").write_text(f'module "a" {{\n  source = "{repository.source}"\n}}\n')
    both = [
        subprocess.Popen(
            command("init"), cwd=work, env=environment(), stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    outputs = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(output.count("Downloading") for output in outputs) == 1
    assert (work / ".terraform" / "modules" / "a" / "main.tf").is_file()
