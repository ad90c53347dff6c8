"""Registries and mirrors on a stage, for both programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nigari.addrs.provider import DEFAULT_REGISTRY_HOST
from nigari.packages.content.platforms import current_platform
from tests.net_world.oci import OciRegistry
from tests.net_world.registry import Key, Release
from tests.net_world.world import World
from tests.real import program

HOST = "registry.example.com"


OCI = "oci.example.com"


MIRROR = "mirror.example.com"


PLATFORMS = (current_platform(), "plan9_arm")


ZIP = f"terraform-provider-thing_1.0.0_{current_platform()}.zip"


_KEY = Key()


def main_file(*providers: str) -> str:
    """A configuration that requires providers, each as `source` or `source version`."""
    lines = []
    for text in providers:
        source, _, version = text.partition(" ")
        more = f'\n      version = "{version}"' if version else ""
        name = source.rpartition("/")[2]
        lines.append(f'    {name} = {{\n      source = "{source}"{more}\n    }}\n')
    return f"terraform {{\n  required_providers {{\n{''.join(lines)}  }}\n}}\n"


class Stage:
    """A world, and a directory for each program in it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.world = World(base / "world", HOST, MIRROR, DEFAULT_REGISTRY_HOST)
        self.host, self.mirror = self.world.registries[HOST], self.world.registries[MIRROR]
        self.default = self.world.registries[DEFAULT_REGISTRY_HOST]
        self.mirror.mirrored = [self.host, self.default]
        self.oci = OciRegistry(OCI)
        self.world.serve(OCI, self.oci.handle)
        self.more: dict[str, str] = {}
        self.peer = "tofu"
        """The real program to compare with."""
        for name in ("theirs", "ours"):
            (base / name).mkdir()

    def write(self, text: str, file: str = "main.tf") -> None:
        for name in ("theirs", "ours"):
            (self.base / name / file).write_text(text)

    def run(self, *command: str) -> tuple[Done, Done]:
        return self.run_as("theirs", *command), self.run_as("ours", *command)

    def run_as(self, name: str, *arguments: str) -> Done:
        """Run one of the programs in its directory."""
        ours = [sys.executable, "-m", "nigari"]
        command = [*(ours if name == "ours" else [str(program(self.peer))]), *arguments]
        self.world.requests()
        done = subprocess.run(
            command,
            cwd=self.base / name,
            env={
                **{n: v for n, v in os.environ.items() if not n.startswith(("TF_", "XDG_"))},
                "PYTHONPATH": os.pathsep.join(sys.path),
                "CHECKPOINT_DISABLE": "1",
                **self.world.environment,
                **{n: v.replace("WHO", name) for n, v in self.more.items()},
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        lock = self.base / name / ".terraform.lock.hcl"
        return Done(
            done.returncode,
            done.stdout + done.stderr,
            lock.read_text() if lock.exists() else "",
            files_in(self.base / name),
            self.world.requests(with_headers=True),
        )


@dataclass(frozen=True)
class Done:
    status: int
    text: str
    lock: str
    files: dict[str, object]
    requests: list[str]


_OURS = (".lock", ".hcl", "nigari.init.json")


def files_in(directory: Path) -> dict[str, object]:
    """Every file with its content and mode, every link with its target; not what locks leave, nor
    what our init remembers once its files have settled.
    """
    found: dict[str, object] = {}
    for folder, subfolders, names in os.walk(directory):
        for name in (*subfolders, *names):
            path = Path(folder, name)
            key = str(path.relative_to(directory))
            if path.is_symlink():
                found[key] = (
                    os.readlink(path).replace("/ours/", "/WHO/").replace("/theirs/", "/WHO/")
                )
            elif path.is_file() and not name.endswith(_OURS) and "schemas" not in key:
                found[key] = (path.read_bytes(), path.stat().st_mode & 0o111)
    return {key: value for key, value in found.items() if "modules" not in key}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.world.close()


def alike(
    stage: Stage, *command: str, status: int, about: str = "", is_early: bool = False
) -> tuple[Done, Done]:
    """Run both; `is_early` says that we ask for what tofu does not come to ask for."""
    theirs, ours = stage.run(*command)
    both = f"{about}\n--- theirs\n{theirs.text}\n--- ours\n{ours.text}"
    assert theirs.status == status, both
    assert ours.status == status, both
    assert ours.lock == theirs.lock, both
    extra = Counter(ours.requests) - Counter(theirs.requests)
    if status == 0:
        assert ours.files == theirs.files, both
        assert not extra, f"{extra}\n{both}"
    # Who is refused notices it with one request or another.
    is_fewer = len(ours.requests) <= len(theirs.requests)
    assert not extra or is_fewer is not is_early, f"{extra}\n{both}"
    return theirs, ours


def signed(version: str = "1.0.0", **members: object) -> Callable[[Stage], Release]:
    return lambda stage: changed(
        stage.host.publish("acme", "thing", version, _KEY, PLATFORMS), **members
    )


def changed(release: Release, **members: object) -> Release:
    release.signature = release.signature_bytes()
    for name, value in members.items():
        setattr(release, name, value)
    return release


def several(*versions: str) -> Callable[[Stage], object]:
    return lambda stage: [signed(each)(stage) for each in versions]


def unsigned(stage: Stage) -> Release:
    return stage.default.publish("acme", "thing", "1.0.0", None, PLATFORMS)


def described(stage: Stage, **changes: object) -> Release:
    release = stage.default.publish("acme", "thing", "1.0.0", _KEY, PLATFORMS)
    release.packages = {
        **{
            each: {
                "hashes": [f"zh:{release.digest(each)}", f"h1:{each}="],
                "package_size": len(release.archives[each]),
            }
            for each in PLATFORMS
        },
        **changes,
    }
    return release


def mirrored(stage: Stage) -> None:
    signed()(stage)
    unsigned(stage)


def in_oci(login: str = "", **changes: object) -> Callable[[Stage], None]:
    def publish(stage: Stage) -> None:
        stage.oci.login = login
        repository = stage.oci.repository(f"copies/{HOST}/acme/thing")
        archives = signed()(stage).archives
        repository.publish_provider("1.0.0", archives)
        repository.publish_provider("1.1.0+build", archives, **changes)
        repository.publish_provider("0.9.0", archives)
        repository.tags["latest"] = repository.tags["1.0.0"]

    return publish


def oci_mirror(more: str = "", name: str = "${hostname}/${namespace}/${type}") -> str:
    return (
        f'provider_installation {{\n  oci_mirror {{\n    repository_template = "{OCI}/copies/{name}"\n'
        f"  }}\n}}\n{more}"
    )


def network_mirror(more: str = "") -> str:
    return (
        f'provider_installation {{\n  network_mirror {{\n    url = "https://{MIRROR}/mirror/"\n'
        f"    {more}\n  }}\n}}\n"
    )
