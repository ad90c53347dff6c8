"""Moving states and choosing workspaces in init, beside the real program."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.backends.world.state_server import StateServer
from tests.cli.process import Done, nigari
from tests.real import program

pytestmark = pytest.mark.real

OUTPUT = 'output "a" {\n  value = 1\n}\n'
SELECTED = ".terraform/environment"
OWN = "terraform.tfstate"
NEW = "new.tfstate"


def backend(kind: str, **arguments: str) -> str:
    body = "".join(f'    {name} = "{value}"\n' for name, value in arguments.items())
    return f'terraform {{\n  backend "{kind}" {{\n{body}  }}\n}}\n'


def state(word: str, serial: int = 1, lineage: str = "") -> str:
    output = {"a": {"value": word, "type": "string"}}
    document = {"version": 4, "terraform_version": "1.12.6", "serial": serial}
    document |= {"lineage": lineage or word, "outputs": output, "resources": []}
    return json.dumps(document)


def of(workspace: str, folder: str = "terraform.tfstate.d") -> str:
    return f"{folder}/{workspace}/terraform.tfstate"


LOCAL = backend("local", path=NEW)
DIRECTORY = backend("local", path=NEW, workspace_dir="new.d")
HTTP = "HTTP"
ONE = {OWN: state("one")}
TWO = {OWN: state("one"), of("w"): state("two"), SELECTED: "w"}
OTHER = {**ONE, NEW: state("other")}
BEFORE = {"backend.tf": backend("local", path="old.tfstate")}
GONE = {SELECTED: "gone", of("a"): state("a"), of("b"): state("b")}
SET_UP = {"backend.tf": backend("local")}


@dataclass
class Story:
    """What is there, what init is told, and what it is answered."""

    files: Mapping[str, str]
    block: str
    options: tuple[str, ...] = ()
    answer: str = ""
    remote: str = ""
    """What the HTTP server has already."""
    before: Mapping[str, str] = field(default_factory=dict)
    """The configuration of an earlier init."""
    after: Mapping[str, str] = field(default_factory=dict)
    """What has changed since."""
    keeps: bool = False
    """Whether only the real program empties local states that were not copied."""


STORIES = {
    "one state, yes": Story(ONE, LOCAL, answer="yes"),
    "one state, another word": Story(ONE, LOCAL, answer="y"),
    "one state without input": Story(ONE, LOCAL, ("-input=false",)),
    "one state by force": Story(ONE, LOCAL, ("-force-copy",)),
    "one state, no": Story(ONE, HTTP, answer="no", remote=state("other"), keeps=True),
    "no state": Story({}, LOCAL, ("-input=false",)),
    "the same file": Story(ONE, backend("local"), ("-input=false",)),
    "two workspaces, yes": Story(TWO, DIRECTORY, answer="yes"),
    "two workspaces, no": Story(TWO, DIRECTORY, answer="no"),
    "two workspaces without input": Story(TWO, DIRECTORY, ("-input=false",)),
    "two workspaces by force": Story(TWO, DIRECTORY, ("-force-copy",)),
    "two workspaces for one, no": Story(TWO, HTTP, answer="no"),
    "two workspaces for one by force": Story(TWO, HTTP, ("-force-copy",), keeps=True),
    "another state is there, yes": Story(OTHER, LOCAL, answer="yes"),
    "another state is there without input": Story(OTHER, LOCAL, ("-input=false",)),
    "another state is there, by force": Story(OTHER, LOCAL, ("-force-copy",)),
    "another state is on the server, yes": Story(ONE, HTTP, answer="yes", remote=state("other")),
    "the same state is there": Story(
        {**ONE, NEW: state("one", serial=7)}, LOCAL, ("-input=false",)
    ),
    "the same state of another lineage is there": Story(
        {**ONE, NEW: state("one", lineage="x")}, LOCAL, ("-input=false",)
    ),
    "from one backend to another": Story(
        {"old.tfstate": state("one")}, LOCAL, ("-migrate-state",), "yes", before=BEFORE
    ),
    "from one backend to another without a word": Story(
        {"old.tfstate": state("one")}, LOCAL, before=BEFORE
    ),
    "from a backend to none": Story(
        {"old.tfstate": state("one")}, "", ("-migrate-state",), "yes", before=BEFORE
    ),
    "from a backend to none without a word": Story(
        {"old.tfstate": state("one")}, "", before=BEFORE
    ),
    "a workspace that is gone": Story({SELECTED: "gone"}, backend("local"), ("-input=false",)),
    "a workspace that is gone among several": Story(
        {}, backend("local"), ("-input=false",), before=SET_UP, after=GONE
    ),
    "a workspace that is gone, another chosen": Story(
        {}, backend("local"), answer="2", before=SET_UP, after=GONE
    ),
    "a workspace that is gone, a wrong number": Story(
        {}, backend("local"), answer="7", before=SET_UP, after=GONE
    ),
    "a workspace that is gone, no number": Story(
        {}, backend("local"), answer="a", before=SET_UP, after=GONE
    ),
    "a workspace that is gone without a backend": Story(GONE, "", ("-input=false",)),
}


def theirs(*arguments: str, cwd: Path, stdin: str, settings: Mapping[str, str]) -> Done:
    done = subprocess.run(
        [str(program("tofu")), *arguments],
        cwd=cwd,
        env={**os.environ, **settings},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def content(text: str) -> tuple[object, object] | None:
    """What matters of a state: an empty one is as good as none."""
    document = json.loads(text or "{}")
    return (document["lineage"], document["outputs"]) if document.get("outputs") else None


def put(directory: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def outcome(story: Story, directory: Path, is_ours: bool) -> tuple[object, str]:
    """What has come of a story: whether init succeeds, all states, and the selected workspace."""
    directory.mkdir()
    with StateServer() as server:
        if story.remote:
            server.states["/state"] = story.remote.encode()
        put(directory, {**story.files, "main.tf": OUTPUT, **story.before})
        (directory / "tofurc").touch()
        settings = {"TF_CLI_CONFIG_FILE": str(directory / "tofurc")}
        run = nigari if is_ours else theirs
        if story.before:
            assert run("init", cwd=directory, stdin="", settings=settings).code == 0
        put(directory, story.after)
        block = server.block() if story.block == HTTP else story.block
        (directory / "backend.tf").write_text(block)
        answers = f"{story.answer}\n" * 4 if story.answer else ""
        done = run("init", *story.options, cwd=directory, stdin=answers, settings=settings)
        found = {
            str(path.relative_to(directory)): content(path.read_text())
            for path in directory.rglob("*.tfstate")
            if ".terraform" not in path.parts
        }
        remote = content(server.states.get("/state", b"").decode())
        selected = directory / SELECTED
        name = selected.read_text().strip() if selected.exists() else ""
    states: dict[str, object] = {name: each for name, each in found.items() if each is not None}
    if story.keeps:
        states = {}
    return (
        done.code == 0,
        states,
        remote and remote[1],
        name or "default",
    ), done.out + done.err


@pytest.mark.parametrize("name", STORIES)
def test_the_same_comes_of_it(name: str, tmp_path: Path) -> None:
    story = STORIES[name]
    expected, said = outcome(story, tmp_path / "theirs", is_ours=False)
    found, told = outcome(story, tmp_path / "ours", is_ours=True)
    assert found == expected, f"{said}\n---\n{told}"
