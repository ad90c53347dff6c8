"""What is wrong with the CLI configuration stops init before anything is downloaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from nigari.packages.content.platforms import current_platform
from tests.cli.init_world import directory, write
from tests.cli.process import inside

__all__ = ["directory"]

MAIN = 'terraform {\n  required_providers {\n    thing = { source = "acme/thing" }\n  }\n}\n'
BROKEN = {
    "a missing brace": ("provider_installation {\n  direct {\n", "no } that closes"),
    "two installations": (
        "provider_installation {\n  direct {}\n}\nprovider_installation {\n  direct {}\n}\n",
        "another provider_installation block",
    ),
    "a pattern": (
        'provider_installation {\n  direct {\n    include = ["a/b/c/d/e"]\n  }\n}\n',
        "include has",
    ),
    "a type": ("plugin_cache_dir = [1]\n", "plugin_cache_dir must be a string"),
    "a list": (
        'provider_installation {\n  direct {\n    exclude = "a/b"\n  }\n}\n',
        "exclude must be a list of strings",
    ),
    "a switch": (
        'plugin_cache_may_break_dependency_lock_file = "true"\n',
        "must be true or false",
    ),
    "two helpers": (
        'credentials_helper "a" {}\ncredentials_helper "b" {}\n',
        "another credentials_helper block",
    ),
    "no block": ("credentials = 5\n", "credentials must be a block with a label"),
    "a mirror": (
        'provider_installation {\n  network_mirror {\n    url = "http://h/"\n  }\n}\n',
        "url of network_mirror must be https",
    ),
    "a host": ('credentials "not a host" {\n  token = "t"\n}\n', "is not a hostname"),
}


@pytest.mark.parametrize("command", ["init", "init -json", "init -get=false", "get"])
@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("main", ["", MAIN], ids=["no providers", "a provider"])
def test_errors_stop_init(directory: Path, name: str, command: str, main: str) -> None:
    text, words = BROKEN[name]
    write({"main.tf": f'{main}output "x" {{\n  value = 1\n}}\n', "cli.tfrc": text})
    done = inside(*command.split(), settings={"TF_CLI_CONFIG_FILE": "cli.tfrc"})
    said = " ".join((done.out + done.err).split())
    assert done.code == 1
    assert "Invalid CLI configuration" in said
    assert words in said
    assert not Path(".terraform", "modules").exists()
    assert not Path(".terraform.lock.hcl").exists()


def test_errors_stop_a_copied_module(directory: Path) -> None:
    write({"../source/main.tf": "", "../cli.tfrc": BROKEN["a missing brace"][0]})
    settings = {"TF_CLI_CONFIG_FILE": "../cli.tfrc"}
    done = inside("init", "-from-module=../source", settings=settings)
    assert (done.code, list(directory.iterdir())) == (1, [])
    assert "Invalid CLI configuration" in done.err


@pytest.mark.parametrize("command", ["init", "get"])
def test_warnings_are_shown(directory: Path, command: str) -> None:
    write({"main.tf": 'output "x" {\n  value = 1\n}\n'})
    for _ in range(2):
        done = inside(command, settings={"TF_CLI_CONFIG_FILE": "nowhere.tfrc"})
        assert done.code == 0
        assert done.out.count("CLI configuration file not found") == 1


@pytest.mark.parametrize("text", ["provider_instalation {\n}\n", 'plugin_cach_dir = "x"\n'])
def test_a_misspelled_setting_is_a_warning(directory: Path, text: str) -> None:
    write({"main.tf": 'output "x" {\n  value = 1\n}\n', "cli.tfrc": f"unheard_of = 1\n{text}"})
    done = inside("init", settings={"TF_CLI_CONFIG_FILE": "cli.tfrc"})
    assert done.code == 0
    assert done.out.count("Unknown setting in the CLI configuration") == 1
    assert f"In line 2 of cli.tfrc: {text.split(maxsplit=1)[0]} is not a setting" in done.out


def test_a_missing_cache_is_created(directory: Path) -> None:
    package = Path("../mirror/registry.opentofu.org/acme/thing/1.0.0", current_platform())
    write({"main.tf": MAIN, str(package / "terraform-provider-thing"): "a program\n"})
    (package / "terraform-provider-thing").chmod(0o755)
    mirror = 'provider_installation {\n  filesystem_mirror {\n    path = "../mirror"\n  }\n}\n'
    write({"cli.tfrc": mirror})
    settings = {"TF_CLI_CONFIG_FILE": "cli.tfrc", "TF_PLUGIN_CACHE_DIR": "../new/cache"}
    done = inside("init", settings=settings)
    assert done.code == 0, done.err
    assert Path("../new/cache").is_dir()
    write({"../file": ""})
    done = inside("init", "-upgrade", settings={**settings, "TF_PLUGIN_CACHE_DIR": "../file/x"})
    assert done.code == 1
    assert "Cannot create the plugin cache directory" in done.err
