"""`nigari init` with nothing to do: quick while nothing changes, and as careful as ever if it does."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nigari.packages.content.platforms import current_platform
from nigari.workspace.setup import initialize, last_init
from tests.cli.init_world import OUTPUT, call, directory, init, repository, write
from tests.packages.repositories import Repository, needs_git

__all__ = ["directory", "repository"]

PROGRAM = f".terraform/providers/registry.opentofu.org/acme/thing/1.0.0/{current_platform()}"
MAIN = """
terraform {
  required_providers {
    thing = {
      source  = "acme/thing"
    }
  }
}
variable "v" {
  default = "m"
}
module "m" {
  source = "./${trimspace(file("which.txt"))}"
}
"""
EMPTY_STATE = '{"version": 4, "serial": 1, "lineage": "x", "outputs": {}, "resources": []}'


@pytest.fixture(autouse=True)
def _at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test does not wait until its files are old enough."""
    monkeypatch.setattr(last_init, "_AT_REST", 0)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Has something for each init that had to look at everything."""
    found: list[str] = []
    begin = initialize.Initialization.begin

    def noted(self: initialize.Initialization, *arguments: object) -> bool:
        found.append("looked")
        return begin(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(initialize.Initialization, "begin", noted)
    return found


def prepare() -> None:
    """A directory in which there is nothing left to do."""
    package = Path("mirror/registry.opentofu.org/acme/thing/1.0.0", current_platform())
    package.mkdir(parents=True)
    program = package / "terraform-provider-thing"
    program.write_text("a program that is never started\n")
    program.chmod(0o755)
    write(
        {
            "main.tf": MAIN,
            "m/main.tf": OUTPUT,
            "which.txt": "m\n",
            "terraform.tfvars": 'v = "m"\n',
            "settings.tfrc": "",
        }
    )
    assert init("-plugin-dir=mirror").code == 0


def again(**settings: str) -> tuple[int, str]:
    done = init(TF_CLI_CONFIG_FILE="settings.tfrc", **settings)
    return done.code, done.out


def test_nothing_is_looked_at_twice(directory: Path, looked: list[str]) -> None:
    prepare()
    looked.clear()
    first = again()
    assert again() == first
    assert "acme/thing v1.0.0 is already installed" in first[1]
    assert looked == ["looked"]
    events = [init("-json", TF_CLI_CONFIG_FILE="settings.tfrc").out for _ in range(2)]
    assert [each.count('"step":"already installed"') for each in events] == [1, 1]
    assert looked == ["looked"]


CHANGES: dict[str, Callable[[], object]] = {
    "a file": lambda: write({"main.tf": MAIN + "locals {}\n"}),
    "another file": lambda: write({"more.tf": ""}),
    "a file less": lambda: Path("m/main.tf").unlink(),
    "a file of a module": lambda: write({"m/main.tf": ""}),
    "a file that a function reads": lambda: write({"which.txt": "./m\n"}),
    "a value": lambda: write({"terraform.tfvars": 'v = "n"\n'}),
    "another value": lambda: write({"x.auto.tfvars": 'v = "n"\n'}),
    "a test": lambda: write({"tests/a.tftest.hcl": 'run "a" {}\n'}),
    "the locks": lambda: Path(".terraform.lock.hcl").unlink(),
    "the modules": lambda: Path(".terraform/modules/modules.json").unlink(),
    "a program": lambda: Path(PROGRAM, "terraform-provider-thing").write_text("another program.\n"),
    "a program less": lambda: Path(PROGRAM).unlink(),
    "a file beside a program": lambda: Path(PROGRAM, "more").touch(),
    "a state": lambda: write({"terraform.tfstate": EMPTY_STATE}),
    "a workspace": lambda: write({".terraform/environment": "other"}),
    "the CLI configuration": lambda: write({"settings.tfrc": "plugin_cache_dir = null\n"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_noticed(directory: Path, looked: list[str], change: str) -> None:
    prepare()
    again()
    looked.clear()
    again()
    assert looked == []
    CHANGES[change]()
    again()
    assert looked == ["looked"]


@pytest.mark.parametrize("name", ["TF_VAR_v", "TF_PLUGIN_CACHE_DIR", "HOME"])
def test_the_environment_has_a_say(directory: Path, looked: list[str], name: str) -> None:
    prepare()
    again()
    looked.clear()
    again(**{name: str(directory)})
    assert looked == ["looked"]


def test_what_means_nothing_is_not_noticed(directory: Path, looked: list[str]) -> None:
    prepare()
    again()
    looked.clear()
    os.utime("main.tf", (1, 1))
    again(LANG="de_DE")
    assert looked == []


@pytest.mark.parametrize(
    "options", [("-upgrade",), ("-reconfigure",), ("-var", "v=m"), ("-get=false",)], ids=str
)
def test_who_asks_for_more_gets_it(
    directory: Path, looked: list[str], options: tuple[str, ...]
) -> None:
    prepare()
    again()
    looked.clear()
    init(*options, TF_CLI_CONFIG_FILE="settings.tfrc")
    assert looked == ["looked"]


def test_a_warning_is_given_each_time(directory: Path, looked: list[str]) -> None:
    prepare()
    write({"terraform.tfvars": "undeclared = 1\n"})
    texts = {again()[1] for _ in range(3)}
    assert len(texts) == 1
    assert "undeclared" in texts.pop()


def test_a_backend_elsewhere_is_asked_each_time(directory: Path, looked: list[str]) -> None:
    Path("settings.tfrc").touch()
    write({"main.tf": 'terraform {\n  backend "inmem" {}\n}\n'})
    for _ in range(3):
        again()
    assert looked == ["looked"] * 3


def test_a_local_state_with_another_name(directory: Path, looked: list[str]) -> None:
    Path("settings.tfrc").touch()
    write({"main.tf": 'terraform {\n  backend "local" {\n    path = "x.tfstate"\n  }\n}\n'})
    for _ in range(4):
        again()
    looked.clear()
    again()
    assert looked == []
    write({"x.tfstate": EMPTY_STATE})
    again()
    assert looked == ["looked"]


@needs_git
def test_packages_of_modules(directory: Path, repository: Repository, looked: list[str]) -> None:
    Path("settings.tfrc").touch()
    write({"main.tf": call("a", f"git::file://{repository.path}")})
    for _ in range(3):
        again()
    looked.clear()
    again()
    assert looked == []
    (package,) = Path(".terraform/modules/.store").glob("*/sub/main.tf")
    package.write_text("")
    again()
    assert looked == ["looked"]


def test_of_secrets_nothing_is_remembered(directory: Path) -> None:
    kept = Path(".terraform", last_init.FILE_NAME)
    write({"main.tf": 'variable "secret" {}\n'})
    init(TF_VAR_secret="x")
    assert not kept.exists()
    write({"terraform.tfvars": 'secret = "x"\n'})
    init()
    assert kept.stat().st_mode & 0o077 == 0
    assert hashlib.sha256(Path("terraform.tfvars").read_bytes()).hexdigest() not in kept.read_text()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"surroundings": 1}', "\x80"])
def test_a_spoilt_memory_is_no_memory(directory: Path, looked: list[str], content: str) -> None:
    prepare()
    again()
    Path(".terraform", last_init.FILE_NAME).write_text(content, encoding="latin-1")
    looked.clear()
    assert again()[0] == 0
    assert looked == ["looked"]
