"""`init` and its relatives as people run them, with registries on this machine."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path

import pytest

from nigari.addrs.provider import DEFAULT_REGISTRY_HOST
from nigari.cli.views.live import LiveLines
from nigari.packages.content.platforms import current_platform
from tests.cli.typist import Typist
from tests.net_world.registry import Key, Registry, zip_of
from tests.net_world.server import Answer, head
from tests.net_world.world import World

HERE = current_platform()
ZIP = f"/files/acme/thing/1.0.0/terraform-provider-thing_1.0.0_{HERE}.zip"
MAIN = 'terraform {\n  required_providers {\n    thing = {\n      source = "acme/thing"\n    }\n  }\n}\n'


class Stage:
    """A world and a working directory in it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.world = World(base / "world", DEFAULT_REGISTRY_HOST)
        self.registry: Registry = self.world.registries[DEFAULT_REGISTRY_HOST]
        self.environ = {
            **{
                n: v
                for n, v in os.environ.items()
                if not n.startswith(("TF_", "TERRAFORM_", "XDG_"))
            },
            "PYTHONPATH": os.pathsep.join(sys.path),
            **self.world.environment,
        }
        self.work = self.directory("work")

    def directory(self, name: str) -> Path:
        path = self.base / name
        path.mkdir()
        (path / "main.tf").write_text(MAIN)
        return path

    def start(self, *command: str, work: Path | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "nigari", *command],
            cwd=work or self.work,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str, work: Path | None = None) -> tuple[int, str]:
        process = self.start(*command, work=work)
        text, _ = process.communicate(timeout=60)
        return process.returncode, text


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.world.close()


@pytest.fixture(scope="module")
def key() -> Key:
    return Key()


def test_init_and_then_without_network(stage: Stage, key: Key) -> None:
    stage.registry.publish("acme", "thing", "1.0.0", key, [HERE])
    status, text = stage.run("init")
    assert status == 0, text
    assert f"acme/thing v1.0.0 is installed (signed, key ID {key.id})" in " ".join(text.split())
    stage.environ["HTTPS_PROXY"] = "http://127.0.0.1:1"
    status, text = stage.run("init")
    assert status == 0, text
    assert "is already installed" in text


@pytest.mark.parametrize("command", [("lock",), ("mirror", "copy")])
def test_those_who_copy_packages_are_told_who_signed_them(
    stage: Stage, key: Key, command: tuple[str, ...]
) -> None:
    stage.registry.publish("acme", "thing", "1.0.0", key, [HERE])
    status, text = stage.run("providers", *command)
    assert status == 0, text
    assert f"(signed, key ID {key.id})" in " ".join(text.split())


def test_a_host_is_asked_for_its_services_once(stage: Stage, key: Key) -> None:
    stage.registry.publish("acme", "thing", "1.0.0", key, [HERE])
    stage.registry.modules["ns", "name", "sys"] = {
        "1.0.0": f"https://{DEFAULT_REGISTRY_HOST}/m.zip"
    }
    stage.registry.answers["/m.zip"] = Answer(200, zip_of({"main.tf": b""}))
    (stage.work / "modules.tf").write_text('module "a" {\n  source = "ns/name/sys"\n}\n')
    status, text = stage.run("init")
    assert status == 0, text
    assert sum(".well-known" in each for each in stage.world.requests()) == 1


def test_constraints_are_reported_where_they_are(stage: Stage, key: Key) -> None:
    def require(constraint: str) -> None:
        source = '      source = "acme/thing"\n'
        at = f'{source}      version = "{constraint}"\n'
        (stage.work / "main.tf").write_text(MAIN.replace(source, at))

    stage.registry.publish("acme", "thing", "1.0.0", key, [HERE])
    require("~> 3.0")
    status, text = stage.run("init", "-no-color")
    assert status == 1
    assert "No suitable provider version" in text
    assert "on main.tf line 5" in text
    require("1.0.0")
    assert stage.run("init")[0] == 0
    require("~> 2.0")
    status, text = stage.run("init", "-no-color")
    assert status == 1
    assert "Locked provider version not allowed" in text
    assert "on main.tf line 5" in text


def test_events(stage: Stage, key: Key) -> None:
    stage.registry.publish("acme", "thing", "1.0.0", key, [HERE])
    status, text = stage.run("init", "-json")
    assert status == 0, text
    events = [json.loads(line) for line in text.splitlines()]
    about = [
        each for each in events if each.get("provider") == f"{DEFAULT_REGISTRY_HOST}/acme/thing"
    ]
    assert [each["@message"].split()[0] for each in about] == [
        "Finding",
        "Downloading",
        "acme/thing",
    ]
    assert about[1]["location"].endswith(ZIP)
    assert (about[2]["authentication"], about[2]["key_id"]) == ("signed", key.id)


def endless(stream: BufferedIOBase) -> None:
    stream.write(head(content_length="100000000"))
    for _ in range(600):
        stream.write(b"x" * 1000)
        stream.flush()
        time.sleep(0.1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("has_cache", [False, True])
def test_an_interrupted_download_leaves_nothing(
    stage: Stage, key: Key, number: int, has_cache: bool
) -> None:
    """Not even the providers that had arrived before, except in the cache, where they are whole."""
    both = '    other = {\n      source = "acme/other"\n    }\n    thing = {'
    (stage.work / "main.tf").write_text(MAIN.replace("    thing = {", both))
    stage.registry.publish("acme", "other", "1.0.0", key, [HERE])
    stage.registry.publish("acme", "thing", "1.0.0", key, [HERE])
    stage.registry.answers[ZIP] = endless
    temporary, cache = stage.base / "tmp", stage.base / "cache"
    for directory in (temporary, cache):
        directory.mkdir()
    stage.environ["TMPDIR"] = str(temporary)
    if has_cache:
        stage.environ["TF_PLUGIN_CACHE_DIR"] = str(cache)
    process = stage.start("init")
    server = stage.world.servers[DEFAULT_REGISTRY_HOST]
    end = time.monotonic() + 30
    while not any(each.path == ZIP for each in server.log) and time.monotonic() < end:
        time.sleep(0.05)
    packages = stage.work / ".terraform" / "providers"
    while not (packages / package("other")).is_dir() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(number)
    begin = time.monotonic()
    text, _ = process.communicate(timeout=30)
    assert time.monotonic() - begin < 10
    assert not (stage.work / ".terraform.lock.hcl").exists()
    assert not (packages / package("thing")).exists()
    assert sorted(cache.rglob("*-provider-*")) == list((cache / package("other")).glob("*-pro*"))
    if number == signal.SIGINT:
        assert process.returncode == 130, text
        assert os.listdir(temporary) == []
        assert sorted(os.listdir(stage.work)) in (["main.tf"], [".terraform", "main.tf"])
        assert [path for path in packages.rglob("*") if path.is_file()] == []
    # Nothing is in the way of another try.
    del stage.registry.answers[ZIP]
    assert stage.run("init")[0] == 0
    for name in ("other", "thing"):
        assert (packages / package(name) / f"terraform-provider-{name}_v1.0.0").is_file()


def package(name: str) -> str:
    """Where a store has a provider."""
    return f"{DEFAULT_REGISTRY_HOST}/acme/{name}/1.0.0/{HERE}"


@pytest.mark.parametrize("kind", ["provider", "module"])
def test_live_lines_at_a_terminal(stage: Stage, key: Key, kind: str) -> None:
    """A download is a line that grows, and is gone when somebody interrupts it."""
    stage.registry.publish("acme", "thing", "1.0.0", key, [HERE])
    stage.registry.modules["ns", "name", "sys"] = {
        "1.0.0": f"https://{DEFAULT_REGISTRY_HOST}/m.zip"
    }
    stage.registry.answers[ZIP if kind == "provider" else "/m.zip"] = endless
    name = "acme/thing v1.0.0"
    if kind == "module":
        name = "ns/name/sys 1.0.0"
        (stage.work / "main.tf").write_text('module "a" {\n  source = "ns/name/sys"\n}\n')
    with Typist("init", cwd=stage.work, settings=stage.world.environment) as typist:
        typist.wait_for(f"{name}: ")
        typist.wait_for("of 100.0 MB, ")
        typist.wait_for("kB/s")
        typist.interrupt()
        typist.wait_for("Interrupted.")
        assert typist.code() == 130
    assert not (stage.work / ".terraform/providers" / package("thing")).exists()


def test_several_at_once_share_a_cache(stage: Stage, key: Key) -> None:
    stage.registry.publish("acme", "thing", "1.0.0", key, [HERE], os.urandom(1 << 20))
    cache = stage.base / "cache"
    cache.mkdir()
    stage.environ["TF_PLUGIN_CACHE_DIR"] = str(cache)
    works = [stage.directory(f"work{number}") for number in range(4)]
    running = [stage.start("init", work=work) for work in works]
    for process in running:
        text, _ = process.communicate(timeout=60)
        assert process.returncode == 0, text
    locks = {(work / ".terraform.lock.hcl").read_text() for work in works}
    assert len(locks) == 1
    base = cache / DEFAULT_REGISTRY_HOST / "acme" / "thing" / "1.0.0"
    assert sorted(os.listdir(base)) == [HERE, f"{HERE}.lock"]


def test_lock_and_mirror(stage: Stage, key: Key) -> None:
    stage.registry.publish("acme", "thing", "1.0.0", key, [HERE, "plan9_arm"])
    status, text = stage.run("providers", "lock", "-platform=plan9_arm")
    assert status == 0, text
    lock = (stage.work / ".terraform.lock.hcl").read_text()
    assert (lock.count('"h1:'), lock.count('"zh:')) == (1, 2)
    status, text = stage.run("providers", "mirror", "copy")
    assert status == 0, text
    names = sorted(path.name for path in (stage.work / "copy").rglob("*.*") if path.is_file())
    assert names == ["1.0.0.json", "index.json", f"terraform-provider-thing_1.0.0_{HERE}.zip"]
    status, text = stage.run("providers", "lock", "-net-mirror=http://x.example.com/")
    assert status == 1
    assert "https URL" in text


def test_a_refused_lock_leaves_the_file_alone(stage: Stage, key: Key) -> None:
    stage.registry.publish("acme", "thing", "1.0.0", key, ["plan9_arm"])
    status, _ = stage.run("providers", "lock")
    assert status == 1
    assert not (stage.work / ".terraform.lock.hcl").exists()


def test_no_more_live_lines_than_the_terminal_has() -> None:
    stream = io.StringIO()
    lines = LiveLines(stream, 80)
    for number in range(40):
        lines.show(str(number), f"line {number}")
    stream.truncate(0)
    stream.seek(0)
    lines.summary = "3 of 43"
    lines.remove("0")
    drawn = stream.getvalue().rpartition("\x1b[2K")[2].splitlines()
    assert len(drawn) == 23
    assert drawn[0] == "line 1"
    assert drawn[-2:] == ["… and 18 more", "3 of 43"]


def test_live_lines_are_erased() -> None:
    stream = io.StringIO()
    lines = LiveLines(stream, 10)
    lines.show("a", "one line that is long")
    lines._drawn_at = 0.0
    lines.show("b", "two")
    lines.remove("a")
    lines.clear()
    up = "\x1b[1A\x1b[2K"
    assert stream.getvalue() == f"one line \n{up}one line \ntwo\n{up}{up}two\n{up}"
