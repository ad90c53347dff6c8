"""The block `cloud` and the backend `remote` beside OpenTofu: what init takes, and what runs here."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.backends.world.hosted import FakeService
from tests.backends.world.private_packages import CONFIGURATION, publish
from tests.real.beside import settings_file
from tests.real.stored_beside import WORDS, Shared

pytestmark = pytest.mark.real

ONE: Final = ("cloud", 'name = "one"')
TWO: Final = ("cloud", 'name = "two"')
TAGS: Final = ("cloud", 'tags = ["t"]')
PROJECT: Final = ("cloud", 'name = "one"\n      project = "p"')
NAMED: Final = ("remote", 'name = "one"')
PREFIX: Final = ("remote", 'prefix = "p-"')
NO_BLOCK: Final = ("", "")
LOCAL: Final = ("local", "")

Step = tuple[str, str] | str
"""A block to write, or a command line; variables of the environment stand before it."""

STORIES: Final[dict[str, list[Step]]] = {
    "a local state goes into the service": [
        NO_BLOCK,
        "init",
        "apply -auto-approve",
        ONE,
        "init -input=false",
        "init -migrate-state -input=false",
        "init -force-copy",
        "init -reconfigure",
        "plan",
    ],
    "the block is removed": [
        ONE,
        "init",
        "apply -auto-approve",
        NO_BLOCK,
        "plan",
        "init -input=false",
        "init -migrate-state -input=false",
        "init -reconfigure -input=false",
    ],
    "a backend takes its place": [
        ONE,
        "init",
        "apply -auto-approve",
        LOCAL,
        "plan",
        "init -input=false",
        "init -force-copy",
        "init -reconfigure -input=false",
    ],
    "another workspace": [
        ONE,
        "init",
        "apply -auto-approve",
        TWO,
        "plan",
        "init -migrate-state",
        "init -input=false",
        "workspace show",
        "plan",
    ],
    "options at first": [
        ONE,
        "init -migrate-state",
        "init -reconfigure",
        "init -backend-config=x=y",
    ],
    "options later": [ONE, "init", "init -migrate-state", "init -force-copy", "init -reconfigure"],
    "another workspace by the environment": [
        ONE,
        "TF_WORKSPACE=two init",
        "TF_WORKSPACE=one init",
        "TF_WORKSPACE=one plan",
    ],
    "one workspace only": [ONE, "init", "workspace new b", "workspace select default"],
    "a project": [PROJECT, "init -input=false", "plan", "apply -auto-approve"],
    "no workspaces with a prefix": [
        PREFIX,
        "init -input=false",
        "workspace new a",
        "init -input=false",
        "apply -auto-approve",
        "workspace new b",
        "workspace select a",
        "workspace delete b",
        "workspace list",
    ],
    "a missing workspace": [PREFIX, "init -input=false", "TF_WORKSPACE=b plan"],
    "no workspaces with tags": [TAGS, "init -input=false", "TF_WORKSPACE=b init -input=false"],
    "a state comes back from a service": [
        NAMED,
        "init",
        "apply -auto-approve",
        NO_BLOCK,
        "plan",
        "init -input=false",
        "init -force-copy",
        "plan",
    ],
    "missing arguments": [
        ("cloud", ""),
        "init",
        ("cloud", 'name = "a"\n      tags = ["b"]'),
        "init",
        ("remote", ""),
        "init",
        ("remote", 'name = "a"\n      prefix = "b"'),
        "init",
    ],
}


class RemoteProgram:
    """One program with a service of its own."""

    def __init__(self, path: Path, service: FakeService) -> None:
        self.service = service
        self.environ = dict(service.environ)
        self.shared = Shared(path, "", self.environ)
        self.directory = self.shared.directory("work", WORDS)

    def outcomes(self, steps: list[Step], run: Callable[..., tuple[int, str]]) -> list[object]:
        found: list[object] = []
        for step in steps:
            if isinstance(step, tuple):
                self._write(*step)
                continue
            words = step.split()
            given = dict(each.split("=") for each in words if each.startswith("TF_"))
            line = [each for each in words if not each.startswith("TF_")]
            shared = Shared(self.shared.path, "", {**self.environ, **given})
            code, _ = (shared.tofu if run.__name__ == "tofu" else shared.ours)(
                self.directory, *line
            )
            found.append((step, code))
        spaces = self.service.spaces
        found.append(sorted((n, s.tags, bool(s.project)) for n, s in spaces.items() if s.versions))
        return found

    def _write(self, kind: str, workspaces: str) -> None:
        block = 'terraform {\n  backend "local" {}\n}\n' if kind == "local" else ""
        if kind in ("cloud", "remote"):
            block = self.service.block(kind, workspaces)
        (self.directory / "backend.tf").write_text(block)


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Callable[[str], RemoteProgram]]:
    made: list[FakeService] = []

    def make(name: str) -> RemoteProgram:
        path = tmp_path / name
        path.mkdir()
        made.append(FakeService(path))
        return RemoteProgram(path, made[-1])

    yield make
    for service in made:
        service.__exit__()


@pytest.mark.parametrize("story", STORIES)
def test_the_same_commands_succeed(told: Callable[[str], RemoteProgram], story: str) -> None:
    theirs, ours = told("theirs"), told("ours")
    expected = theirs.outcomes(STORIES[story], theirs.shared.tofu)
    assert ours.outcomes(STORIES[story], ours.shared.ours) == expected


@pytest.mark.parametrize("kind", ["remote", "cloud"])
def test_no_request_that_tofu_does_not_make(
    told: Callable[[str], RemoteProgram], kind: str
) -> None:
    asked: dict[str, list[str]] = {}
    for name in ("theirs", "ours"):
        world = told(name)
        steps: list[Step] = [(kind, 'name = "one"'), "init", "apply -auto-approve", "plan"]
        run = world.shared.tofu if name == "theirs" else world.shared.ours
        world.outcomes(steps, run)
        asked[name] = world.service.requests()
    assert set(asked["ours"]) <= set(asked["theirs"])
    assert len(asked["ours"]) < len(asked["theirs"])


@pytest.mark.parametrize("takes_uploads", [True, False])
@pytest.mark.parametrize("kind", ["remote", "cloud"])
def test_the_service_gets_the_same_document_of_a_state(
    told: Callable[[str], RemoteProgram], kind: str, takes_uploads: bool
) -> None:
    shown: dict[str, list[object]] = {}
    for name in ("theirs", "ours"):
        world = told(name)
        world.service.takes_uploads = takes_uploads
        steps: list[Step] = [(kind, 'name = "one"'), "init", "apply -auto-approve"]
        steps += ["apply -auto-approve -var=word=two", "destroy -auto-approve"]
        world.outcomes(steps, world.shared.tofu if name == "theirs" else world.shared.ours)
        documents = [each.shown.decode() for each in world.service.spaces["one"].versions]
        assert all(bool(each) == (kind == "cloud") for each in documents)
        shown[name] = [json.loads(_without_ids(each) or "null") for each in documents]
    assert len(shown["ours"]) == 3
    assert shown["ours"] == shown["theirs"]


DOCUMENTED: Final[dict[str, list[str]]] = {
    "refresh": ["apply -auto-approve", "refresh -var=word=two"],
    "destroy": ["apply -auto-approve", "destroy -auto-approve"],
    "import": ["apply -auto-approve", "state rm terraform_data.c", "import terraform_data.c id"],
    "state mv": ["apply -auto-approve", "state mv terraform_data.a terraform_data.d"],
    "state rm": ["apply -auto-approve", "state rm terraform_data.a"],
    "state rm of everything": [
        "apply -auto-approve",
        "state rm terraform_data.a terraform_data.c local_file.b",
    ],
    "state push": ["state push given.tfstate"],
    "state replace-provider to one that is not installed": [
        "apply -auto-approve",
        "state replace-provider -auto-approve hashicorp/local example.com/a/b",
    ],
    "taint": ["apply -auto-approve", "taint local_file.b"],
    "untaint": ["apply -auto-approve", "taint terraform_data.a", "untaint terraform_data.a"],
}
"""Commands that store states; the last one is what the row is about."""

WITH_FILE: Final = """
resource "terraform_data" "c" {}
resource "local_file" "b" {
  filename = "b.txt"
  content  = "secret"
}
output "hidden" {
  value     = local_file.b.content
  sensitive = true
}
"""
GIVEN: Final = {
    "version": 4,
    "terraform_version": "1.10.0",
    "serial": 7,
    "lineage": "00000000-0000-0000-0000-000000000001",
    "outputs": {"given": {"value": ["x"], "type": ["list", "string"]}},
    "resources": [
        {
            "mode": "managed",
            "type": "terraform_data",
            "name": "given",
            "provider": 'provider["terraform.io/builtin/terraform"]',
            "instances": [{"schema_version": 0, "attributes": {"id": "given", "input": None}}],
        }
    ],
    "check_results": None,
}


@pytest.mark.parametrize("command", DOCUMENTED)
def test_each_command_sends_the_same_document(
    told: Callable[[str], RemoteProgram], command: str, tmp_path: Path
) -> None:
    sent: dict[str, object] = {}
    for name in ("theirs", "ours"):
        world = told(name)
        world.environ["TF_CLI_CONFIG_FILE"] = str(settings_file(tmp_path / "providers.tofurc"))
        (world.directory / "main.tf").write_text(WORDS + WITH_FILE)
        (world.directory / "given.tfstate").write_text(json.dumps(GIVEN))
        run = world.shared.tofu if name == "theirs" else world.shared.ours
        # OpenTofu's init wants to install what it then does not use.
        world.outcomes([ONE, "init"], run)
        outcomes = world.outcomes([*DOCUMENTED[command]], run)
        sent[name] = (
            outcomes,
            [
                (each.outputs, json.loads(_without_ids(each.shown.decode()) or "null"))
                for each in world.service.spaces["one"].versions
            ],
        )
    assert sent["ours"] == sent["theirs"]


def _without_ids(text: str) -> str:
    return re.sub("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", text)


@pytest.mark.parametrize("kind", ["remote", "cloud"])
def test_runs_on_the_service_are_refused(told: Callable[[str], RemoteProgram], kind: str) -> None:
    world = told("ours")
    world.service.mode = "remote"
    world.outcomes([(kind, 'name = "one"'), "init"], world.shared.ours)
    code, output = world.shared.ours(world.directory, "apply", "-auto-approve")
    assert code == 1
    assert "execution mode" in " ".join(output.split())
    forced = Shared(world.shared.path, "", {**world.service.environ, "TF_FORCE_LOCAL_BACKEND": "1"})
    for run in (forced.ours, forced.tofu):
        code, output = run(world.directory, "apply", "-auto-approve")
        assert code == 0, output


def test_the_host_has_another_name_for_its_packages(
    told: Callable[[str], RemoteProgram],
) -> None:
    found: dict[str, tuple[object, ...]] = {}
    for name in ("theirs", "ours"):
        world = told(name)
        publish(world.service.registry)
        (world.directory / "main.tf").write_text(CONFIGURATION)
        run = world.shared.tofu if name == "theirs" else world.shared.ours
        outcomes = world.outcomes([ONE, "init"], run)
        asked = {each for each in world.service.requests() if "/v1/" in each or "/files/" in each}
        records = (world.directory / ".terraform/modules/modules.json").read_text()
        locks = (world.directory / ".terraform.lock.hcl").read_text()
        found[name] = outcomes, asked - {"HEAD /files/net.tar.gz"}, records, _unsigned(locks)
    assert found["ours"] == found["theirs"]


def _unsigned(locks: str) -> str:
    """The lock file without what differs between two registries."""
    return "\n".join(line for line in locks.splitlines() if '"zh:' not in line)
