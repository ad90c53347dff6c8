"""A world on loopback for OpenTofu's own end-to-end tests, and a way to run them with any program.

They are built from OpenTofu's published sources (`scripts/peers.py`) and want the public registry
and a website. Here these are hosts of the same names on this machine, with providers that are
built here, or are small ones of our own (`tests.real.e2e_providers`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nigari.addrs.provider import DEFAULT_REGISTRY_HOST
from nigari.packages.content.platforms import current_platform
from tests.net_world.registry import Key, Release, zip_of
from tests.net_world.server import NOT_FOUND, Answer, Asked
from tests.net_world.world import World
from tests.packages.archives import files, packed
from tests.plugins import write_program
from tests.real import PEERS, program

_BUILT: Final = {
    "null": ("2.1.0", "3.0.0", "3.1.0", "3.2.0"),
    "local": ("2.5.3",),
    "random": ("3.1.3", "3.8.1"),
}
_OWN: Final = {
    "hashicorp/template": ("2.1.0", "2.1.1", "2.2.0"),
    "hashicorp/http": ("3.5.0",),
    "hashicorp/tfcoremock": ("0.1.1", "0.2.0"),
    "opentofu/testfunctions": ("1.0.0",),
    "vmware/vsphere": ("2.14.0",),
    "yottta/sleep": ("0.0.5",),
}
_ARCHIVE: Final = "/terraform-aws-modules/terraform-aws-s3-bucket/archive/v3.3.0.tar.gz"
_PLATFORMS: Final = (current_platform(), "windows_386")
_LOCKED: Final = ("provider-global-cache", "tofu-providers-mirror-with-lock-file")
"""Directories whose lock files have the checksums of the public packages."""
_PLACE: Final = re.compile(r"^\s+(\w+_test\.go:\d+): ?(.*)")
_RESULT: Final = re.compile(r"^\s*--- (PASS|FAIL|SKIP): (\S+)")


@dataclass
class Results:
    """How a test ended and its parts, by name, and the places where something was amiss."""

    outcome: dict[str, str] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)
    text: str = ""


class EndToEnd:
    """The tests, with a world to run them in."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._world = World(base / "world", DEFAULT_REGISTRY_HOST, "github.com")
        self._registry = self._world.registries[DEFAULT_REGISTRY_HOST]
        self._key = Key()
        for type, versions in _BUILT.items():
            content = program(f"terraform-provider-{type}").read_bytes()
            for version in versions:
                self._publish("hashicorp", type, version, content)
        for name, versions in _OWN.items():
            namespace, _, type = name.partition("/")
            for version in versions:
                self._publish(namespace, type, version, self._script(type))
        module = {"main.tf": "# vault\n"}
        self._registry.modules["hashicorp", "vault", "aws"] = {
            "0.17.0": "https://github.com/vault.tar.gz"
        }
        archive = {f"terraform-aws-s3-bucket-3.3.0/{name}": text for name, text in module.items()}
        pages = {
            "/vault.tar.gz": packed("tar.gz", files(module)),
            _ARCHIVE: packed("tar.gz", files(archive)),
        }
        self._world.servers["github.com"].handler = lambda asked: _page(pages, asked)

    def close(self) -> None:
        self._world.close()

    def run(self, name: str, command: str | Path, test: str) -> Results:
        """Run a test, in a process of its own, with one program."""
        work = self._base / name
        shutil.copytree(PEERS / "data" / "opentofu-e2e", work / "testdata")
        for folder in _LOCKED:
            self._lock(work / "testdata" / folder / ".terraform.lock.hcl")
        write_program(work / "tofu", command)
        words = ["-test.timeout=300s", f"-test.run=^{test}$"]
        return self.suite(program("opentofu-e2e"), work, words, TF_ACC="1")

    def suite(self, tests: Path, work: Path, words: Sequence[str], **environ: str) -> Results:
        """Run the tests of a program in a directory, which is removed."""
        (work / "home").mkdir()
        settings = {
            **{n: v for n, v in os.environ.items() if not n.startswith(("TF_", "XDG_"))},
            **self._world.environment,
            "HOME": str(work / "home"),
            "CHECKPOINT_DISABLE": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "NIGARI_CACHE_DIR": str(work / "cache"),
            **environ,
        }
        done = subprocess.run(
            [tests, "-test.v", *words],
            cwd=work,
            env=settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        shutil.rmtree(work)
        return _results(done.stdout)

    def _publish(self, namespace: str, type: str, version: str, content: bytes) -> Release:
        release = self._registry.publish(namespace, type, version, self._key, _PLATFORMS)
        suffix = "" if version == "2.1.0" else f"_v{version}_x5"
        archive = zip_of({f"terraform-provider-{type}{suffix}": content})
        release.archives = dict.fromkeys(_PLATFORMS, archive)
        return release

    def _script(self, type: str) -> bytes:
        path = self._base / f"script-{type}"
        write_program(path, sys.executable, "-m", "tests.real.e2e_providers", type)
        return path.read_bytes()

    def _lock(self, path: Path) -> None:
        """Let a lock file have the checksums of the packages here, too."""
        mine = [
            f'    "zh:{releases[version].digest(current_platform())}",\n'
            for releases in self._registry.providers.values()
            for version in releases
        ]
        text = path.read_text()
        path.write_text(text.replace("hashes = [\n", "hashes = [\n" + "".join(mine)))


def _page(pages: Mapping[str, bytes], asked: Asked) -> Answer:
    body = pages.get(asked.path.partition("?")[0])
    return NOT_FOUND if body is None else Answer(200, body)


def _results(text: str) -> Results:
    found = Results(text=text)
    for line in text.splitlines():
        if (result := _RESULT.match(line)) is not None:
            found.outcome[result[2]] = result[1]
        elif (place := _PLACE.match(line)) is not None:
            found.places.add(place[1])
    return found
