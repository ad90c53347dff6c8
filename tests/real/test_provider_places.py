"""Where providers come from: the same places, the same locks and links as `tofu`."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from nigari.packages.content.platforms import current_platform
from nigari.providers.handshake import COOKIE, COOKIE_NAME
from tests.cli.process import command, environment
from tests.real import program

pytestmark = pytest.mark.real

RANDOM: Final = "registry.opentofu.org/hashicorp/random"
LOCK: Final = ".terraform.lock.hcl"
CONFIGURATION: Final = """
terraform {
  required_providers {
    random = {
      source  = "hashicorp/random"
      version = "~> 3.0"
    }
  }
}
resource "random_pet" "a" { length = 2 }
"""


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """Two working directories, and a home where nothing is."""
    for name in ("theirs", "ours"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.tf").write_text(CONFIGURATION)
    (tmp_path / "home").mkdir()
    (tmp_path / "tofurc").write_text("")
    return tmp_path


def package(base: Path) -> None:
    directory = base / RANDOM / "3.9.0" / current_platform()
    directory.mkdir(parents=True)
    shutil.copy(program("terraform-provider-random"), directory)


def run(where: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    is_ours = where.name == "ours"
    words = command(*arguments) if is_ours else [str(program("tofu")), *arguments]
    base = where.parent
    home = {"HOME": str(base / "home"), "TF_CLI_CONFIG_FILE": str(base / "tofurc")}
    return subprocess.run(
        words,
        cwd=where,
        env=environment(**home | settings),
        capture_output=True,
        text=True,
        check=False,
    )


def init_both(places: Path, **settings: str) -> None:
    for name in ("theirs", "ours"):
        each = {key: value.replace("WHO", name) for key, value in settings.items()}
        done = run(places / name, "init", **each)
        assert done.returncode == 0, done.stderr
    theirs, ours = places / "theirs", places / "ours"
    assert (ours / LOCK).read_text() == (theirs / LOCK).read_text()
    assert tree(ours / ".terraform") == tree(theirs / ".terraform")


def tree(base: Path) -> list[tuple[str, str]]:
    """Everything below a directory, and where links lead."""
    found = []
    for folder, directories, files in os.walk(base):
        for name in (*directories, *files):
            path = Path(folder, name)
            link = os.readlink(path) if path.is_symlink() else ""
            who = base.parent.name if base.name == ".terraform" else base.name
            if not name.endswith(".lock"):
                found.append((str(path.relative_to(base)), link.replace(who, "WHO")))
    return sorted(found)


def test_beside_the_configuration(places: Path) -> None:
    for name in ("theirs", "ours"):
        package(places / name / "terraform.d" / "plugins")
    init_both(places)


def test_in_the_home_directory(places: Path) -> None:
    package(places / "home" / ".terraform.d" / "plugins")
    init_both(places)


@pytest.mark.parametrize(
    ("place", "settings"),
    [
        ("data/opentofu/plugins", {"XDG_DATA_HOME": "data"}),
        ("data/terraform/plugins", {"XDG_DATA_HOME": "data"}),
        ("home/.local/share/terraform/plugins", {}),
        ("home/.terraform.d/plugins", {"XDG_DATA_HOME": "data"}),
        ("two/terraform/plugins", {"XDG_DATA_DIRS": "one:two"}),
    ],
)
def test_in_directories_for_data(places: Path, place: str, settings: dict[str, str]) -> None:
    package(places / place)
    whole = {
        name: ":".join(str(places / each) for each in value.split(":"))
        for name, value in settings.items()
    }
    init_both(places, **whole)


@pytest.mark.parametrize("place", [".", "deep"])
def test_with_another_directory(places: Path, place: str) -> None:
    found = []
    for name in ("theirs", "ours"):
        (places / name / "deep").mkdir()
        (places / name / "main.tf").rename(places / name / "deep/main.tf")
        package(places / name / place / "terraform.d" / "plugins")
        done = run(places / name, "-chdir=deep", "init", HTTPS_PROXY="http://127.0.0.1:9")
        made = [path for path, _ in tree(places / name / "deep/.terraform")]
        found.append((done.returncode, made))
    assert found[1] == found[0]


def test_in_a_directory_of_the_command_line(places: Path) -> None:
    package(places / "mirror")
    for name in ("theirs", "ours"):
        done = run(places / name, "init", f"-plugin-dir={places / 'mirror'}")
        assert done.returncode == 0, done.stderr
    assert tree(places / "ours" / ".terraform") == tree(places / "theirs" / ".terraform")
    noted = [places / name / ".terraform" / "plugin_path" for name in ("ours", "theirs")]
    assert noted[0].read_bytes() == noted[1].read_bytes()


def test_through_a_shared_cache(places: Path) -> None:
    package(places / "mirror")
    (places / "tofurc").write_text(
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{places}/mirror"\n  }}\n}}\n'
    )
    for name in ("theirs", "ours"):
        (places / f"cache-{name}").mkdir()
    init_both(places, TF_PLUGIN_CACHE_DIR=f"{places}/cache-WHO")
    caches = [tree(places / f"cache-{name}") for name in ("ours", "theirs")]
    assert caches[0] == caches[1]
    # Each uses what the other has put into the cache.
    for name, other in (("theirs", "ours"), ("ours", "theirs")):
        shutil.rmtree(places / name / ".terraform")
        done = run(places / name, "init", TF_PLUGIN_CACHE_DIR=f"{places}/cache-{other}")
        assert done.returncode == 0, done.stderr
    # Nobody needs the init of the other.
    assert run(places / "theirs", "plan").returncode == 0
    shutil.copytree(places / "theirs", places / "third" / "ours", symlinks=True)
    shutil.copytree(places / "home", places / "third" / "home")
    shutil.copy(places / "tofurc", places / "third" / "tofurc")
    assert run(places / "third" / "ours", "plan").returncode == 0


@pytest.fixture
def running() -> Iterator[dict[str, str]]:
    """A plugin that someone else has started."""
    settings = {COOKIE_NAME: COOKIE, "PLUGIN_PROTOCOL_VERSIONS": "5,6"}
    with subprocess.Popen(
        [program("terraform-provider-random")],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as plugin:
        assert plugin.stdout is not None
        _, protocol, network, address, kind, *_ = plugin.stdout.readline().strip().split("|")
        entry = {
            "Protocol": kind,
            "ProtocolVersion": int(protocol),
            "Pid": plugin.pid,
            "Test": True,
            "Addr": {"Network": network, "String": address},
        }
        yield {"TF_REATTACH_PROVIDERS": json.dumps({RANDOM: entry})}
        assert plugin.poll() is None
        plugin.kill()


def test_one_that_runs_already(places: Path, running: dict[str, str]) -> None:
    for name in ("theirs", "ours"):
        for arguments in (
            ["init"],
            ["validate"],
            ["apply", "-auto-approve"],
            ["state", "show", "random_pet.a"],
            ["providers", "schema", "-json"],
            ["destroy", "-auto-approve"],
        ):
            done = run(places / name, *arguments, **running)
            assert done.returncode == 0, (arguments, done.stderr)
    assert not (places / "ours" / LOCK).exists()
    assert not list(places.glob("home/.cache/nigari/schemas/*"))
