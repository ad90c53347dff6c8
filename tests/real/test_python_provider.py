"""Providers in Python, judged by the real `tofu` and by us: the same plans, the same states."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cli.process import command, environment
from tests.plugins import overriding, write_program
from tests.real import program

pytestmark = pytest.mark.real

PROVIDER: Final = """
from tests.providers.nested_wall import Node, Table, Thing, Wall
from nigari.providers.python import Provider

provider = Provider("demo")
provider.resource("thing")(Thing)
provider.resource("wall")(Wall)
provider.resource("table")(Table)
provider.resource("node")(Node)
provider.serve()
"""

OPERATIONS: Final = """
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from nigari.providers.python import *

provider = Provider("demo")

@dataclass
class Part:
    port: int = 1

@provider.resource("thing")
@dataclass
class Thing:
    name: str
    size: int = 1
    part: Part | None = None
    timeouts: Annotated[Timeouts | None, BLOCK] = None
    digest: Computed[str] = ""
    id: Computed[str] = ""

    def plan(self, config, prior):
        self.digest = UNKNOWN if self.name is UNKNOWN else self.name.upper()
        return ["size"] if prior is not None and self.size < prior.size else None

    def create(self, config):
        logging.getLogger("demo").info("Creating", extra={"thing": self.name})
        self.id = "id-" + self.name
        warn("Look out", "It is fragile.", attribute="part.port")
        if Path("broken").exists():
            raise ProviderError("Broke", "Half of it exists.", attribute="part.port")

    def update(self, config, prior):
        self.id = prior.id

    def delete(self, config): ...

provider.serve()
"""

HEAD: Final = """
terraform {
  required_providers {
    demo = { source = "example.com/demo/demo" }
  }
}
"""

FIRST: Final = """
resource "terraform_data" "name" { input = "late" }
resource "demo_thing" "a" {
  name   = "t"
  one    = { name = terraform_data.name.output }
  listed = [{ name = "a" }, { name = terraform_data.name.output, weight = 2 }]
  chosen = [{ name = "c" }, { name = terraform_data.name.output, inner = { title = "x" } }]
  keyed  = { k = { name = "e" } }
  holes  = { a = null, b = "x" }
  class  = "c"
}
resource "demo_thing" "plain" {
  name = "p"
}
resource "demo_wall" "w" {
  single { port = 1 }
  rules {
    port = 2
    tag {}
    tag { title = terraform_data.name.output }
  }
  unordered {
    port = 3
  }
  unordered {
    port     = 4
    protocol = terraform_data.name.output
  }
  by_name "x" {
    port = 5
  }
}
resource "demo_wall" "plain" {}
resource "demo_table" "t" {
  rows     = [[{ text = "a", width = null }], [{ text = terraform_data.name.output, width = 2 }]]
  ratio    = 0.12345678901234567890123
  anything = { a = [null, { b = 1 }], n = 12345678901234567890.5 }
}
resource "demo_node" "n" {
  name     = "root"
  children = [{ name = "b", children = [{ name = terraform_data.name.output }] }, { name = "c" }]
}
"""

SECOND: Final = FIRST.replace('name = "a"', 'name = "A"').replace("port = 3", "port = 33")


class Sides:
    """The same configuration in two directories, one for each program."""

    def __init__(self, base: Path, provider: str) -> None:
        self.base = base
        folder = base / "bin"
        folder.mkdir()
        (folder / "demo.py").write_text(provider)
        write_program(folder / "terraform-provider-demo", sys.executable, folder / "demo.py")
        self.settings = overriding(base / "tofurc", "example.com/demo/demo", folder)
        for name in ("theirs", "ours"):
            (base / name).mkdir()

    def write(self, text: str) -> None:
        for name in ("theirs", "ours"):
            (self.base / name / "main.tf").write_text(HEAD + text)

    def run(self, who: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        words = [str(program("tofu")), *arguments] if who == "theirs" else command(*arguments)
        return subprocess.run(
            words,
            cwd=self.base / who,
            env=environment(**self.settings, **more),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def both(self, *arguments: str, code: int = 0) -> list[str]:
        """What they print; they must end in the same way."""
        found: list[str] = []
        for who in ("theirs", "ours"):
            done = self.run(who, *arguments)
            assert done.returncode == code, f"{who}: {done.stdout}{done.stderr}"
            found.append(done.stdout + done.stderr)
        return found

    def states(self) -> list[dict[str, list[tuple[dict[str, object], str | None]]]]:
        """The attributes and status of what exists, by address."""
        found: list[dict[str, list[tuple[dict[str, object], str | None]]]] = []
        for who in ("theirs", "ours"):
            stored = json.loads((self.base / who / "terraform.tfstate").read_bytes())
            found.append(
                {
                    f"{each['type']}.{each['name']}": [
                        (instance["attributes"], instance.get("status"))
                        for instance in each["instances"]
                    ]
                    for each in stored["resources"]
                    if each["type"].startswith("demo_")
                }
            )
        return found


def test_nested_objects_and_blocks(tmp_path: Path) -> None:
    sides = Sides(tmp_path, PROVIDER)
    for text in (FIRST, SECOND):
        sides.write(text)
        sides.both("apply", "-auto-approve", "-no-color")
        theirs, ours = sides.states()
        assert ours == theirs
        sides.both("plan", "-detailed-exitcode", "-no-color")
    sides.both("destroy", "-auto-approve", "-no-color")


THING: Final = """
resource "demo_thing" "a" {
  name = "x"
  size = 3
  part = {
    port = 80
  }
}
"""


def test_what_exists_after_a_failure_is_kept_and_replaced(tmp_path: Path) -> None:
    sides = Sides(tmp_path, OPERATIONS)
    sides.write(THING)
    for who in ("theirs", "ours"):
        (tmp_path / who / "broken").touch()
    for text in sides.both("apply", "-auto-approve", "-no-color", code=1):
        assert "Broke" in text
        assert "Look out" in text
        assert "port = 80" in text
    theirs, ours = sides.states()
    assert ours == theirs
    ((attributes, status),) = ours["demo_thing.a"]
    assert (attributes["id"], status) == ("id-x", "tainted")
    for who in ("theirs", "ours"):
        (tmp_path / who / "broken").unlink()
    for text in sides.both("plan", "-no-color"):
        assert "is tainted" in text
    sides.both("apply", "-auto-approve", "-no-color")
    sides.both("plan", "-detailed-exitcode", "-no-color")


def test_plans_of_a_class_and_its_log(tmp_path: Path) -> None:
    sides = Sides(tmp_path, OPERATIONS)
    sides.write(THING)
    for text in sides.both("plan", "-no-color"):
        assert '+ digest = "X"' in text
    for who in ("theirs", "ours"):
        done = sides.run(who, "apply", "-auto-approve", TF_LOG_PROVIDER="INFO")
        assert done.returncode == 0, done.stderr
        (line,) = [each for each in done.stderr.splitlines() if "Creating" in each]
        assert "[INFO]" in line
        assert "thing=x" in line
    sides.write(THING.replace("size = 3", 'size = 4\n  timeouts {\n    create = "1m"\n  }'))
    for text in sides.both("plan", "-no-color"):
        assert "1 to change" in text
    sides.write(THING.replace("size = 3", "size = 2"))
    for text in sides.both("plan", "-no-color"):
        assert "forces replacement" in text
    sides.write(THING.replace("size = 3", 'timeouts {\n    create = "long"\n  }'))
    for text in sides.both("plan", "-no-color", code=1):
        assert "is not a duration" in text


BROKEN: Final = """
from nigari.providers.python import Provider
from tests.providers import test_testing

provider = Provider("demo")
for name in ("Renames", "DropsTags", "PlansOther", "Guesses", "Base"):
    provider.resource(name.lower())(getattr(test_testing, name))
provider.serve()
"""


@pytest.mark.parametrize(
    ("types", "names"),
    [
        (["renames", "dropstags", "guesses", "base"], ["renames", "dropstags", "guesses"]),
        (["plansother", "base"], ["plansother"]),
    ],
)
def test_what_the_harness_refuses_is_refused(
    types: list[str], names: list[str], tmp_path: Path
) -> None:
    sides = Sides(tmp_path, BROKEN)
    blocks = [
        f'resource "demo_{each}" "a" {{\n  name = terraform_data.name.output\n'
        '  tags = ["z", "b"]\n}\n'
        for each in types
    ]
    sides.write('resource "terraform_data" "name" {\n  input = "late"\n}\n' + "".join(blocks))
    for text in sides.both("apply", "-auto-approve", "-no-color", code=1):
        for each in types:
            assert (f"demo_{each}.a" in text.partition("Error:")[2]) is (each in names), text


EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "python-provider"
FILES: Final = """
terraform {
  required_providers {
    files = {
      source  = "example.com/demo/files"
      version = "~> 1.2"
    }
  }
}
provider "files" { directory = "out" }
resource "files_text" "hello" {
  name    = "hello.txt"
  content = provider::files::shout("hello")
}
"""


@pytest.mark.parametrize("layout", ["unpacked", "packed"])
def test_a_package_that_was_built_is_installed_and_runs(layout: str, tmp_path: Path) -> None:
    program_path = EXAMPLE / "terraform-provider-files"
    build = ["provider", "build", "-version=1.2.0", f"-python={sys.executable}"]
    done = subprocess.run(
        command(*build, "example.com/demo/files", str(program_path)),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "The provider starts, and offers 1 resource type." in done.stdout
    mirror = tmp_path / "dist" / "mirror"
    if layout == "packed":
        mirror = tmp_path / "packed"
        folder = mirror / "example.com" / "demo" / "files"
        folder.mkdir(parents=True)
        for archive in (tmp_path / "dist").glob("*.zip"):
            archive.rename(folder / archive.name)
    settings = tmp_path / "tofurc"
    settings.write_text(
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n'
    )
    locks: list[str] = []
    for who in ("theirs", "ours"):
        work = tmp_path / who
        work.mkdir()
        (work / "main.tf").write_text(FILES)
        for words in (
            ("init", "-no-color"),
            ("apply", "-auto-approve", "-no-color"),
            ("plan", "-detailed-exitcode", "-no-color"),
            ("init", "-no-color"),
        ):
            is_theirs = who == "theirs"
            done = subprocess.run(
                [str(program("tofu")), *words] if is_theirs else command(*words),
                cwd=work,
                env=environment(TF_CLI_CONFIG_FILE=str(settings)),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{who} {words}: {done.stdout}{done.stderr}"
        assert (work / "out" / "hello.txt").read_text() == "HELLO"
        locks.append((work / ".terraform.lock.hcl").read_text())
    assert locks[0] == locks[1]
