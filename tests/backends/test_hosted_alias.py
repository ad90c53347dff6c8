"""`localterraform.com`: the host of the backend, as modules and providers may name it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.packages.content.platforms import current_platform
from tests.backends.world.hosted import HOST, TOKEN, FakeService
from tests.backends.world.private_packages import CONFIGURATION, publish


class Stage:
    """A service, and a directory whose state it has."""

    def __init__(self, path: Path) -> None:
        self.service = FakeService(path)
        publish(self.service.registry)
        self.work = path / "work"
        self.work.mkdir()
        (self.work / "main.tf").write_text(CONFIGURATION)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
        self.environ = {**kept, "PYTHONPATH": os.pathsep.join(sys.path), **self.service.environ}

    def init(self, *options: str, **environ: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "nigari", "init", "-no-color", "-input=false", *options],
            cwd=self.work,
            env={**self.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=60,
        )
        return done.returncode, " ".join(done.stdout.split())

    def backend(self, text: str) -> None:
        (self.work / "backend.tf").write_text(text)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.service.__exit__()


@pytest.mark.parametrize("kind", ["remote", "cloud"])
def test_packages_come_from_the_host_of_the_backend(stage: Stage, kind: str) -> None:
    stage.backend(stage.service.block(kind, 'name = "one"'))
    status, text = stage.init()
    assert status == 0, text
    records = json.loads((stage.work / ".terraform/modules/modules.json").read_text())["Modules"]
    assert {each["Key"]: each["Source"] for each in records}["net"] == (
        "localterraform.com/acme/net/any"
    )
    provider = f"localterraform.com/acme/thing/1.0.0/{current_platform()}"
    assert (stage.work / ".terraform/providers" / provider).is_dir()
    assert (
        'provider "localterraform.com/acme/thing"'
        in (stage.work / ".terraform.lock.hcl").read_text()
    )
    kept = subprocess.run(
        [sys.executable, "-m", "nigari", "cache", "list"],
        env=stage.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    # Another directory may mean another service by the same name.
    assert f"{HOST}/acme/net/any" in kept.stdout
    assert "localterraform.com" not in kept.stdout


def test_the_host_may_be_given_elsewhere(stage: Stage) -> None:
    block = stage.service.block("remote", 'name = "one"')
    stage.backend(block.replace(f'    hostname = "{HOST}"\n', ""))
    status, text = stage.init(f"-backend-config=hostname={HOST}")
    assert status == 0, text
    # It is remembered for who does not want the backend.
    for name in ("modules", "providers"):
        subprocess.run(["rm", "-r", stage.work / ".terraform" / name], check=True)
    status, text = stage.init("-backend=false", NIGARI_CACHE_DIR="off")
    assert status == 0, text


def test_the_host_may_come_from_the_environment(stage: Stage) -> None:
    block = stage.service.block("cloud", 'name = "one"')
    stage.backend(block.replace(f'    hostname = "{HOST}"\n', ""))
    status, text = stage.init(TF_CLOUD_HOSTNAME=HOST)
    assert status == 0, text


def test_the_host_may_be_an_expression(stage: Stage) -> None:
    block = stage.service.block("cloud", 'name = "one"')
    stage.backend(
        block.replace(f'"{HOST}"', "var.host") + f'variable "host" {{ default = "{HOST}" }}\n'
    )
    status, text = stage.init()
    assert status == 0, text


def test_without_a_service_it_is_a_host_like_others(stage: Stage) -> None:
    status, text = stage.init()
    assert status == 1
    assert "localterraform.com" in text


def test_who_is_refused_learns_where_credentials_were_looked_for(stage: Stage) -> None:
    stage.backend(stage.service.block("cloud", 'name = "one"'))
    stage.service.registry.token = TOKEN[::-1]
    status, text = stage.init()
    assert status == 1
    assert f"The token in the environment variable TF_TOKEN_{HOST.replace('.', '_')} was sent" in (
        text
    )
