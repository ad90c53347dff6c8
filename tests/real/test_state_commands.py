"""State, output, show, workspace and providers commands beside the real `tofu`'s."""

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from nigari.packages.content.platforms import current_platform
from tests.cli.process import Done, command, environment
from tests.real import program
from tests.state.tofu import TofuDirectory

pytestmark = pytest.mark.real

CONFIGURATION: Final = """
resource "terraform_data" "a" { input = "x" }
resource "terraform_data" "c" {
  count      = 2
  input      = { a = count.index, b = [1, 2] }
  depends_on = [terraform_data.a]
}
resource "terraform_data" "e" { for_each = toset(["k v", "z"]) }
module "m" {
  source   = "./m"
  for_each = toset(["p", "q"])
}
output "text" { value = "hello <&>" }
output "object" { value = { a = 1, l = [true, null], s = "multi\\nline" } }
output "secret" {
  value     = "hidden"
  sensitive = true
}
"""
MODULE: Final = """
resource "terraform_data" "inner" {}
module "deep" { source = "./deep" }
"""
DEEP: Final = 'resource "terraform_data" "i" { triggers_replace = [1] }\n'
ENCRYPTION: Final = """
key_provider "pbkdf2" "k" {
  passphrase = "a passphrase for tests only"
  iterations = 200000
}
method "aes_gcm" "m" { keys = key_provider.pbkdf2.k }
state {
  method   = method.aes_gcm.m
  enforced = true
}
"""
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


def make(path: Path, configuration: str = CONFIGURATION) -> TofuDirectory:
    (path / "m" / "deep").mkdir(parents=True)
    (path / "m" / "main.tf").write_text(MODULE)
    (path / "m" / "deep" / "main.tf").write_text(DEEP)
    return TofuDirectory(path, configuration)


def tofu(directory: TofuDirectory, arguments: list[str], **more: str) -> Done:
    done = subprocess.run(
        [directory.tofu, *arguments],
        cwd=directory.path,
        env=directory.environment(more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, _COLOUR.sub("", done.stdout), _COLOUR.sub("", done.stderr))


def ours(directory: TofuDirectory, arguments: list[str], **more: str) -> Done:
    done = subprocess.run(
        command(*arguments),
        cwd=directory.path,
        env=environment(TF_CLI_CONFIG_FILE=str(directory.path / "cli.tofurc"), **more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> TofuDirectory:
    directory = make(tmp_path_factory.mktemp("applied") / "work")
    directory.apply()
    return directory


READING: Final = [
    ["state", "list"],
    ["state", "list", "terraform_data.c"],
    ["state", "list", "module.m", "terraform_data.a"],
    ["state", "list", 'module.m["q"]'],
    ["state", "list", "-id=nothing"],
    ["state", "list", "terraform_data.nope"],
    ["state", "list", "bad address"],
    ["state", "show", "terraform_data.c[1]"],
    ["state", "show", 'module.m["p"].module.deep.terraform_data.i'],
    ["state", "show", "terraform_data.c"],
    ["state", "rm", "-dry-run", "terraform_data.c", 'terraform_data.e["z"]'],
    ["state", "rm", "-dry-run", "terraform_data.nope"],
    ["state", "mv", "-dry-run", 'module.m["p"]', "module.n"],
    ["state", "mv", "-dry-run", "terraform_data.c", "terraform_data.d"],
    ["state", "mv", "-dry-run", "terraform_data.c", "terraform_data.e"],
    ["state", "mv", "-dry-run", "terraform_data.nope", "terraform_data.e"],
    ["output"],
    ["output", "-show-sensitive"],
    ["output", "text"],
    ["output", "object"],
    ["output", "secret"],
    ["output", "nope"],
    ["output", "-json"],
    ["output", "-json", "object"],
    ["output", "-raw", "text"],
    ["output", "-raw", "object"],
    ["show"],
    ["show", "-show-sensitive"],
    ["show", "-json"],
    ["show", "terraform.tfstate"],
    ["show", "missing.tfstate"],
    ["workspace", "list"],
    ["workspace", "show"],
    ["workspace", "select", "nope"],
    ["workspace", "delete", "default"],
    ["state", "pull"],
    ["taint", "-allow-missing", "terraform_data.nope"],
]


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_reading(applied: TofuDirectory, arguments: list[str]) -> None:
    wanted, got = tofu(applied, arguments), ours(applied, arguments)
    assert got.code == wanted.code, got.err
    if not wanted.code and "Warning:" not in wanted.out:
        lines = [done.out.rstrip("\n").splitlines() for done in (got, wanted)]
        if arguments[:2] == ["state", "mv"]:
            # The order in which `tofu` tells the modules below a module is another each time.
            lines = [sorted(each) for each in lines]
        # After the state, `tofu` prints one more line end.
        assert lines[0] == lines[1]


def test_the_tree_of_providers(applied: TofuDirectory) -> None:
    wanted, got = tofu(applied, ["providers"]), ours(applied, ["providers"])
    assert got.out == wanted.out


def random_command(chance: random.Random, addresses: list[str]) -> list[str]:
    known = chance.choice(addresses)
    kind = chance.randrange(9)
    if kind < 3:
        names = ["terraform_data.new", "terraform_data.a", "module.x.terraform_data.y"]
        return ["state", "mv", known, chance.choice(names)]
    if kind == 3:
        return ["state", "mv", 'module.m["p"]', chance.choice(["module.o", 'module.m["r"]'])]
    if kind == 4:
        return ["state", "rm", chance.choice([known, "terraform_data.nope"])]
    if kind == 5:
        providers = ["terraform.io/builtin/terraform", "example.com/a/b"]
        chance.shuffle(providers)
        return ["state", "replace-provider", "-auto-approve", *providers]
    return [chance.choice(["taint", "taint", "untaint"]), known]


def content(directory: TofuDirectory) -> object:
    return json.loads(directory.state.read_text())


def test_turns_leave_what_tofu_alone_would_leave(applied: TofuDirectory, tmp_path: Path) -> None:
    alone, turns = (
        TofuDirectory(shutil.copytree(applied.path, tmp_path / name), "")
        for name in ("alone", "turns")
    )
    full = alone.state.read_bytes()
    chance = random.Random(8)
    for turn in range(200):
        addresses = ours(turns, ["state", "list"]).out.splitlines()
        if len(addresses) < 4:
            for each in (alone, turns):
                each.state.write_bytes(full)
            continue
        arguments = random_command(chance, addresses)
        wanted = tofu(alone, arguments)
        got = (ours if turn % 2 else tofu)(turns, arguments)
        assert got.code == wanted.code, (arguments, got.err)
        assert content(turns) == content(alone), arguments
    assert ours(turns, ["state", "pull"]).code == 0


def test_workspaces_go_back_and_forth(applied: TofuDirectory, tmp_path: Path) -> None:
    directory = TofuDirectory(shutil.copytree(applied.path, tmp_path / "w"), CONFIGURATION)
    assert ours(directory, ["workspace", "new", "a"]).code == 0
    assert tofu(directory, ["workspace", "show"]).out == "a\n"
    assert tofu(directory, ["workspace", "new", "b"]).code == 0
    assert ours(directory, ["workspace", "list"]).out == "  default\n  a\n* b\n\n"
    directory.apply()
    assert "terraform_data.a" in ours(directory, ["state", "list"]).out
    assert ours(directory, ["workspace", "select", "default"]).code == 0
    for run in (tofu, ours):
        assert run(directory, ["workspace", "delete", "b"]).code == 1
    assert ours(directory, ["workspace", "delete", "a"]).code == 0
    assert tofu(directory, ["workspace", "list"]).out == "* default\n  b\n\n"


@pytest.mark.parametrize("place", ["block", "environment"])
def test_encrypted_states_go_back_and_forth(tmp_path: Path, place: str) -> None:
    resources = 'resource "terraform_data" "a" {}\nresource "terraform_data" "b" {}\n'
    more: dict[str, str] = {}
    if place == "block":
        resources += f"terraform {{\n  encryption {{\n{ENCRYPTION}\n  }}\n}}\n"
    else:
        more["TF_ENCRYPTION"] = ENCRYPTION
    directory = TofuDirectory(tmp_path, resources)
    directory.apply(**more)
    turns = [
        (ours, ["state", "mv", "terraform_data.a", "terraform_data.x"]),
        (tofu, ["taint", "terraform_data.x"]),
        (ours, ["untaint", "terraform_data.x"]),
        (tofu, ["state", "rm", "terraform_data.b"]),
        (ours, ["state", "mv", "terraform_data.x", "terraform_data.a"]),
    ]
    for run, arguments in turns:
        done = run(directory, arguments, **more)
        assert done.code == 0, (arguments, done.err)
        assert "encrypted_data" in json.loads(directory.state.read_text())
    for run in (tofu, ours):
        assert run(directory, ["state", "list"], **more).out == "terraform_data.a\n"
    pulled = [run(directory, ["state", "pull"], **more).out for run in (tofu, ours)]
    assert json.loads(pulled[0]) == json.loads(pulled[1])


PROVIDERS: Final = {"random": "3.9.0", "local": "2.9.0", "time": "0.14.2"}
USING: Final = """
terraform {
  required_providers {
    random = {
      source  = "hashicorp/random"
      version = ">= 3.0, < 4.0.0"
    }
  }
}
resource "random_pet" "a" { length = 2 }
resource "random_password" "p" { length = 9 }
resource "local_file" "f" {
  filename = "out.txt"
  content  = random_pet.a.id
}
resource "time_static" "t" {}
"""


@pytest.fixture(scope="module")
def with_providers(tmp_path_factory: pytest.TempPathFactory) -> TofuDirectory:
    base = tmp_path_factory.mktemp("providers")
    for name, version in PROVIDERS.items():
        place = f"registry.opentofu.org/hashicorp/{name}/{version}/{current_platform()}"
        package = base / "mirror" / place
        package.mkdir(parents=True)
        shutil.copy(program(f"terraform-provider-{name}"), package)
    (base / "work").mkdir()
    directory = TofuDirectory(base / "work", USING)
    mirror = f'filesystem_mirror {{\n path = "{base / "mirror"}"\n}}'
    (directory.path / "cli.tofurc").write_text(f"provider_installation {{\n{mirror}\n}}\n")
    directory.apply()
    return directory


@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        ["show", "-json"],
        ["show", "-show-sensitive"],
        ["state", "show", "random_password.p"],
        ["state", "show", "local_file.f"],
    ],
    ids=" ".join,
)
def test_shown_with_real_schemas(with_providers: TofuDirectory, arguments: list[str]) -> None:
    wanted, got = tofu(with_providers, arguments), ours(with_providers, arguments)
    assert (got.code, got.out) == (0, wanted.out), got.err


def test_schemas_are_the_same(with_providers: TofuDirectory) -> None:
    arguments = ["providers", "schema", "-json"]
    wanted, got = tofu(with_providers, arguments), ours(with_providers, arguments)
    found = json.loads(got.out)
    for each in found["provider_schemas"].values():
        each.pop("action_schemas", None)  # OpenTofu 1.12 has no actions
    assert json.dumps(found) == json.dumps(json.loads(wanted.out)), got.err


def test_schemas_that_are_known_need_no_process(with_providers: TofuDirectory) -> None:
    commands = [["providers", "schema", "-json"], ["show", "-json"]]
    log = with_providers.path / "plugins.log"
    traced = {"TF_LOG_PROVIDER": "TRACE", "TF_LOG_PATH": str(log)}
    wanted = [ours(with_providers, arguments).out for arguments in commands]
    for arguments, before in zip(commands, wanted, strict=True):
        assert ours(with_providers, arguments, **traced).out == before
    assert not log.exists()
    shutil.rmtree(Path(os.environ["NIGARI_CACHE_DIR"]) / "schemas")
    for arguments, before in zip(commands, wanted, strict=True):
        assert ours(with_providers, arguments, **traced).out == before
    assert "provider.terraform-provider-random" in log.read_text()


def test_a_plan_uses_schemas_that_are_known(with_providers: TofuDirectory) -> None:
    for _ in range(2):
        done = ours(with_providers, ["plan", "-detailed-exitcode"])
        assert (done.code, done.err) == (0, "")
    assert (Path(os.environ["NIGARI_CACHE_DIR"]) / "schemas").is_dir()


def test_functions_are_the_same(applied: TofuDirectory) -> None:
    arguments = ["metadata", "functions", "-json"]
    wanted, got = (
        _undescribed(json.loads(run(applied, arguments).out)["function_signatures"])
        for run in (tofu, ours)
    )
    assert isinstance(wanted, dict)
    assert isinstance(got, dict)
    # Since OpenTofu 1.13, contains() finds null.
    differing = [name for name in wanted if got.get(name) != wanted[name]]
    assert differing == ["contains", "core::contains"]


def _undescribed(data: object) -> object:
    """The same without descriptions, which have words of their own."""
    if isinstance(data, list):
        return [_undescribed(each) for each in data]
    if isinstance(data, dict):
        return {name: _undescribed(each) for name, each in data.items() if name != "description"}
    return data


def test_versions_are_the_same(with_providers: TofuDirectory) -> None:
    documents = [json.loads(run(with_providers, ["version", "-json"]).out) for run in (tofu, ours)]
    for name in ("terraform_version", "platform", "provider_selections"):
        assert documents[0][name] == documents[1][name]


def test_lock_files_are_the_same(with_providers: TofuDirectory) -> None:
    path = with_providers.path / ".terraform.lock.hcl"
    initialized = path.read_text()
    mirror = f"-fs-mirror={with_providers.path.parent / 'mirror'}"
    path.unlink()
    assert tofu(with_providers, ["providers", "lock", mirror]).code == 0
    wanted = path.read_text()
    path.unlink()
    done = ours(with_providers, ["providers", "lock"])
    assert done.code == 0, done.err
    assert path.read_text() == wanted == initialized


def test_a_mirror_that_tofu_installs_from(with_providers: TofuDirectory, tmp_path: Path) -> None:
    done = ours(with_providers, ["providers", "mirror", str(tmp_path / "mirror")])
    assert done.code == 0, done.err
    (tmp_path / "work").mkdir()
    other = TofuDirectory(tmp_path / "work", USING)
    mirror = f'filesystem_mirror {{\n path = "{tmp_path / "mirror"}"\n}}'
    (other.path / "cli.tofurc").write_text(f"provider_installation {{\n{mirror}\n}}\n")
    other.run("init")
    lock = ".terraform.lock.hcl"
    assert (other.path / lock).read_text() == (with_providers.path / lock).read_text()


def _ask_for_another_version(directory: Path) -> None:
    (directory / "asks.tf").write_text(
        "terraform {\n  required_providers {\n"
        '    random = {\n      source = "hashicorp/random"\n      version = ">= 99"\n    }\n'
        "  }\n}\n"
    )


def _ask_for_another_provider(directory: Path) -> None:
    (directory / "asks.tf").write_text('provider "null" {}\n')


def _lock_another_package(directory: Path) -> None:
    path = directory / ".terraform.lock.hcl"
    path.write_text(path.read_text().replace('"h1:', '"h1:x'))


@pytest.mark.parametrize(
    "change", [_ask_for_another_version, _ask_for_another_provider, _lock_another_package]
)
@pytest.mark.parametrize(
    "arguments",
    [["providers", "schema", "-json"], ["plan"], ["graph"], ["validate"], ["providers"]],
    ids=" ".join,
)
def test_what_needs_a_lock_file_that_fits(
    with_providers: TofuDirectory,
    tmp_path: Path,
    arguments: list[str],
    change: Callable[[Path], None],
) -> None:
    path = shutil.copytree(with_providers.path, tmp_path / "w", symlinks=True)
    change(path)
    directory = TofuDirectory(path, USING)
    wanted, got = tofu(directory, arguments), ours(directory, arguments)
    assert got.code == wanted.code, got.out + got.err + wanted.out + wanted.err


WRONG: Final = """
resource "random_string" "s" { length = 0 }
resource "random_integer" "i" {}
resource "time_sleep" "t" { create_duration = "soon" }
resource "random_nothing" "n" {}
data "local_file" "f" {}
resource "random_pet" "b" {
  length = "x"
  size   = 1
}
"""


def test_validate_finds_what_tofu_finds(with_providers: TofuDirectory) -> None:
    assert ours(with_providers, ["validate"]).code == 0
    path = with_providers.path / "wrong.tf"
    path.write_text(WRONG)
    try:
        found = [
            {
                (each["severity"], each["range"]["filename"], each["range"]["start"]["line"])
                for each in json.loads(run(with_providers, ["validate", "-json"]).out)[
                    "diagnostics"
                ]
            }
            for run in (tofu, ours)
        ]
    finally:
        path.unlink()
    assert len(found[0]) > 5
    assert found[0] == found[1]
