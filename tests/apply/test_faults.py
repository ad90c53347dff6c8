"""Applying while everything goes wrong: providers, the backend, people and the system."""

from __future__ import annotations

import errno
import json
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nigari.backends.state_path import StatePath
from nigari.cli.commands import state
from tests.apply.journal import MANY, Yard, interrupt, is_running, wait_until
from tests.apply.kills import kill_again_and_again
from tests.cli.in_process import applied, ran
from tests.cli.process import nigari

_SETTINGS = 'provider "journal" { journal = "journal.txt" }\n'


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


def _entry(name: str, manner: str = "", more: str = "", value: str = "v") -> str:
    return (
        f'resource "journal_entry" "{name}" {{\n  name = "{name}"\n  value = "{value}"\n'
        f'  manner = "{manner}"\n{more}}}\n'
    )


def _names(yard: Yard) -> list[str]:
    data = json.loads((yard.path / "terraform.tfstate").read_text())
    return [each["name"] for each in data["resources"] if each["instances"]]


@pytest.mark.parametrize("pause", [0.0, 0.1])
def test_killed(yard: Yard, pause: float) -> None:
    kill_again_and_again(yard, 4, pause=pause)


def test_a_provider_fails(yard: Yard) -> None:
    more = "  depends_on = [journal_entry.bad]\n"
    yard.write(_SETTINGS + _entry("good") + _entry("bad", "fail") + _entry("after", "", more))
    status, said = yard.apply()
    assert status == 1
    assert "No such luck" in said
    assert "It does not want to." in said
    assert _names(yard) == ["good"]
    yard.write(_SETTINGS + _entry("good") + _entry("bad") + _entry("after", "", more))
    status, said = yard.apply()
    assert status == 0, said
    assert _names(yard) == ["after", "bad", "good"]
    assert yard.stored() == yard.world().objects


def test_a_provider_fails_to_update(yard: Yard) -> None:
    yard.write(_SETTINGS + _entry("a"))
    assert yard.apply()[0] == 0
    yard.write(_SETTINGS + _entry("a", "fail", value="w"))
    status, said = yard.apply()
    assert status == 1, said
    assert list(yard.stored().values()) == ["v"]


def test_a_provider_fails_to_destroy(yard: Yard) -> None:
    yard.write(_SETTINGS + _entry("a", "undying") + _entry("b"))
    assert yard.apply()[0] == 0
    status, said = yard.run("destroy", "-auto-approve")
    assert status == 1
    assert "It stays." in said
    assert _names(yard) == ["a"]
    assert yard.stored() == yard.world().objects


def test_a_provider_fails_to_replace_what_is_created_first(yard: Yard) -> None:
    more = "  lifecycle { create_before_destroy = true }\n"
    yard.write(_SETTINGS + _entry("a", "undying", more))
    assert yard.apply()[0] == 0
    (old,) = yard.stored()
    status, said = yard.apply("-replace=journal_entry.a")
    assert status == 1, said
    data = json.loads((yard.path / "terraform.tfstate").read_text())
    instances = data["resources"][0]["instances"]
    assert [("deposed" in each, each["attributes"]["id"] == old) for each in instances] == [
        (False, False),
        (True, True),
    ]
    assert yard.stored() == yard.world().objects
    status, said = yard.run("plan", "-detailed-exitcode")
    assert status == 2, said
    assert "1 to destroy" in said


def test_a_provider_lies(yard: Yard) -> None:
    yard.write(
        _SETTINGS + _entry("a", "lie") + _entry("b", "", "  depends_on = [journal_entry.a]\n")
    )
    status, said = yard.apply()
    assert status == 1
    assert "bug in the provider" in " ".join(said.split())
    assert "journal_entry.a" in said
    assert _names(yard) == ["a"]
    assert list(yard.stored().values()) == ["something else"]


def test_a_provider_crashes(yard: Yard) -> None:
    yard.write(_SETTINGS + _entry("a") + _entry("b", "crash", "  depends_on = [journal_entry.a]\n"))
    status, said = yard.apply()
    assert status == 1
    assert "journal" in said
    assert _names(yard) == ["a"]
    yard.write(_SETTINGS + _entry("a") + _entry("b"))
    status, said = yard.apply()
    assert status == 0, said
    assert yard.stored() == yard.world().objects


def test_interrupted_once(yard: Yard) -> None:
    yard.write(MANY.format(count=60, pause=0.1))
    process = yard.start("apply", "-auto-approve")
    wait_until(lambda: yard.world().calls > 12)
    interrupt(process)
    status, said = yard.finish(process)
    assert status == 1, said
    world = yard.world()
    assert 12 < len(world.objects) < 60
    assert not world.begun, "what had begun was not left to end"
    assert yard.stored() == world.objects
    assert yard.apply()[0] == 0
    assert yard.stored() == yard.world().objects


def test_interrupted_twice_while_a_provider_hangs(yard: Yard) -> None:
    yard.write(_SETTINGS + _entry("a") + _entry("b", "hang"))
    process = yard.start("apply", "-auto-approve")
    wait_until(lambda: yard.world().calls == 1 and len(yard.world().begun) == 1)
    interrupt(process)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    interrupt(process)
    status, said = yard.finish(process)
    assert status == 1, said
    assert yard.stored() == yard.world().objects
    wait_until(lambda: not any(is_running(pid) for pid in yard.world().processes))
    yard.write(_SETTINGS + _entry("a") + _entry("b"))
    status, said = yard.apply()
    assert status == 0, said
    assert yard.stored() == yard.world().objects


def test_interrupted_before_anything(yard: Yard) -> None:
    yard.write(_SETTINGS + _entry("a", "hang"))
    process = yard.start("apply", "-auto-approve")
    wait_until(lambda: bool(yard.world().begun))
    interrupt(process)
    time.sleep(0.3)
    interrupt(process)
    status, said = yard.finish(process)
    assert status == 1, said
    assert yard.stored() == {}
    assert yard.run("plan")[0] == 0, "a lock was left behind"


def _fail_to_write(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let the disk be full so many times."""
    left = [times]

    def unless_full(write: Callable[..., None]) -> Callable[..., None]:
        def fail(*args: object) -> None:
            if left[0]:
                left[0] -= 1
                raise OSError(errno.ENOSPC, "No space left on device")
            write(*args)

        return fail

    for name in ("write", "write_between"):
        monkeypatch.setattr(StatePath, name, unless_full(getattr(StatePath, name)))


_THREE = 'resource "terraform_data" "a" {\n  count = 3\n  input = count.index\n}\n'


def test_a_backend_fails_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(_THREE)
    _fail_to_write(monkeypatch, 1)
    status, said = applied([], {})
    assert status == 0, said
    assert len(json.loads(Path("terraform.tfstate").read_text())["resources"][0]["instances"]) == 3


def test_a_backend_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(_THREE)
    with monkeypatch.context() as full:
        _fail_to_write(full, 1000)
        status, said = applied([], {})
    assert status == 1
    assert "No space left on device" in said
    assert "errored.tfstate" in said
    status, said = ran(state.PUSH, ["errored.tfstate"], {})
    assert status == 0, said
    status, said = applied([], {})
    assert status == 0, said
    assert "0 added, 0 changed, 0 destroyed" in said


def test_a_rescued_state_never_replaces_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(_THREE)
    Path("errored.tfstate").write_text("of an earlier run")
    said = ""
    with monkeypatch.context() as full:
        _fail_to_write(full, 1000)
        for _ in range(2):
            status, told = applied([], {})
            assert status == 1
            said += " ".join(told.split())
    assert Path("errored.tfstate").read_text() == "of an earlier run"
    for number in (1, 2):
        assert f"nigari state push errored.{number}.tfstate" in said
    assert "errored.tfstate was left as it is" in said
    status, said = ran(state.PUSH, ["errored.2.tfstate"], {})
    assert status == 0, said


_TAKEN_AWAY = """\
terraform {{
  backend "local" {{ path = "states/s.tfstate" }}
}}
resource "terraform_data" "first" {{
  provisioner "local-exec" {{ command = "{command}" }}
}}
resource "terraform_data" "then" {{ input = terraform_data.first.id }}
"""


@pytest.mark.parametrize("existed", [False, True])
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("rm states/s.tfstate", "the file was removed"),
        ("rm -r states", "the file was removed"),
        ("mv states elsewhere", "the file was removed"),
        ("cp states/s.tfstate n; mv n states/s.tfstate", "the file was replaced by another"),
        ("mv states elsewhere; cp -r elsewhere states", "the file was replaced by another"),
        ("rm -r states; touch states", "the file was removed"),
    ],
)
def test_the_state_file_is_taken_away(
    tmp_path: Path, command: str, told: str, existed: bool
) -> None:
    def written(command: str) -> None:
        (tmp_path / "main.tf").write_text(_TAKEN_AWAY.format(command=command))

    written("true")
    assert nigari("init", cwd=tmp_path).code == 0
    args = ["apply", "-auto-approve"]
    if existed:
        assert nigari(*args, cwd=tmp_path).code == 0
        args.append("-replace=terraform_data.first")
    written(command)
    done = nigari(*args, cwd=tmp_path)
    assert done.code == 1, done.out
    said = " ".join((done.out + done.err).split())
    assert told in said
    assert "errored.tfstate" in said
    state = json.loads((tmp_path / "errored.tfstate").read_text())
    assert [each["name"] for each in state["resources"]] == ["first", "then"]
    assert stat.S_IMODE((tmp_path / "errored.tfstate").stat().st_mode) == 0o600
    if told == "the file was removed":
        found = tmp_path.rglob(".s.tfstate*")
        assert not [path.name for path in found if "elsewhere" not in path.parts]


def test_the_working_directory_is_taken_away(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "main.tf").write_text(
        'resource "terraform_data" "a" {\n'
        f'  provisioner "local-exec" {{ command = "rm -r {place}" }}\n'
        "}\n"
    )
    done = nigari("apply", "-auto-approve", cwd=place)
    assert done.code == 1
    printed = done.out[done.out.index('{\n  "version"') : done.out.rindex("}") + 1]
    assert [each["name"] for each in json.loads(printed)["resources"]] == ["a"]
    assert "The state is printed above" in " ".join((done.out + done.err).split())
