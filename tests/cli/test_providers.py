"""The `providers` commands, and `validate` and `version` where providers matter."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from nigari.packages.content.platforms import current_platform
from tests.cli.process import inside
from tests.cli.states import resource, usual_state, write_state
from tests.plugins import write_program

EXAMPLE = Path(__file__).parents[2] / "examples" / "python-provider" / "terraform-provider-files"
NAME = "example.com/demo/files"
CONFIGURATION = """\
terraform {
  required_providers {
    files = {
      source  = "example.com/demo/files"
      version = ">= 1.0"
    }
  }
}
"""
USE = """\
resource "files_text" "hello" {
  name = "hello.txt"
}
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    Path("main.tf").write_text(CONFIGURATION)
    Path("use.tf").write_text(USE)
    package = Path("../mirror", NAME, "1.2.0", current_platform())
    package.mkdir(parents=True)
    write_program(package / "terraform-provider-files", sys.executable, EXAMPLE)


def settings(text: str) -> dict[str, str]:
    """An environment whose CLI configuration says how providers are installed."""
    Path("../cli.tofurc").write_text(f"provider_installation {{\n{text}\n}}\n")
    return {"TF_CLI_CONFIG_FILE": "../cli.tofurc", "HOME": str(Path("..").resolve())}


def mirrored() -> dict[str, str]:
    return settings('filesystem_mirror {\n  path = "../mirror"\n}')


def overridden() -> dict[str, str]:
    package = Path("../mirror", NAME, "1.2.0", current_platform()).resolve()
    return settings(f'dev_overrides {{\n  "{NAME}" = "{package}"\n}}\ndirect {{}}')


def install() -> None:
    """Do what init does for the one provider."""
    assert inside("providers", "lock", "-fs-mirror=../mirror").code == 0
    shutil.copytree(Path("../mirror"), Path(".terraform/providers"))


def test_tree() -> None:
    Path("calls.tf").write_text(
        'module "b" {\n  source = "./b"\n}\nmodule "a" {\n  source = "./b"\n  count = 2\n}\n'
    )
    Path("b").mkdir()
    Path("b/main.tf").write_text('resource "terraform_data" "x" {}\nresource "other_y" "z" {}\n')
    write_state(Path("terraform.tfstate"), resource("a"))
    done = inside("providers")
    assert done.code == 0, done.err
    assert done.out == (
        "\nProviders required by configuration:\n.\n"
        "├── provider[example.com/demo/files] >= 1.0.0\n"
        "├── module.a\n"
        "│   ├── provider[registry.opentofu.org/hashicorp/other]\n"
        "│   └── provider[terraform.io/builtin/terraform]\n"
        "└── module.b\n"
        "    ├── provider[registry.opentofu.org/hashicorp/other]\n"
        "    └── provider[terraform.io/builtin/terraform]\n"
        "\nProviders required by state:\n\n"
        "    provider[terraform.io/builtin/terraform]\n\n"
    )


def test_an_import_without_a_resource_needs_its_provider() -> None:
    Path("main.tf").write_text('import {\n  to = local_file.made\n  id = "made"\n}\n')
    Path("use.tf").unlink()
    done = inside("providers")
    assert done.code == 0, done.err
    assert "hashicorp/local" in done.out


def test_lock() -> None:
    done = inside("providers", "lock", settings=mirrored())
    assert done.code == 0, done.err
    assert (
        f"- Obtained {NAME} checksums for {current_platform()} (unauthenticated); new provider"
        in done.out
    )
    text = Path(".terraform.lock.hcl").read_text()
    assert f'provider "{NAME}" {{\n  version     = "1.2.0"' in text
    assert 'constraints = ">= 1.0.0"' in text
    again = inside("providers", "lock", NAME, settings=mirrored())
    assert "checksums for this platform already in the lock file" in again.out
    assert Path(".terraform.lock.hcl").read_text() == text


def test_lock_for_another_platform() -> None:
    package = Path("../mirror", NAME, "1.2.0", "plan9_mips")
    package.mkdir()
    (package / "terraform-provider-files").write_text("another program\n")
    here = inside("providers", "lock", "-fs-mirror=../mirror")
    assert here.code == 0
    both = inside("providers", "lock", "-platform=plan9_mips", "-fs-mirror=../mirror")
    assert "checksums for this platform added" in both.out
    assert Path(".terraform.lock.hcl").read_text().count('"h1:') == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["-platform=nonsense"],
        ["-platform=plan9_mips", "-fs-mirror=../mirror"],
        ["-fs-mirror=../mirror", "demo/unneeded"],
        ["-fs-mirror=../nowhere"],
        ["-net-mirror=https://example.com/"],
    ],
)
def test_lock_refuses(arguments: list[str]) -> None:
    assert inside("providers", "lock", *arguments).code == 1
    assert not Path(".terraform.lock.hcl").exists()


def test_mirror() -> None:
    done = inside("providers", "mirror", "../copy", settings=mirrored())
    assert done.code == 0, done.err
    assert done.out.startswith(f"- Mirroring {NAME}...\n")
    directory = Path("../copy", NAME)
    archive = directory / f"terraform-provider-files_1.2.0_{current_platform()}.zip"
    assert archive.is_file()
    assert json.loads((directory / "index.json").read_text()) == {"versions": {"1.2.0": {}}}
    locked = inside("providers", "lock", "-fs-mirror=../copy")
    first = Path(".terraform.lock.hcl").read_text()
    assert locked.code == 0
    Path(".terraform.lock.hcl").unlink()
    inside("providers", "lock", "-fs-mirror=../mirror")
    assert Path(".terraform.lock.hcl").read_text() == first
    assert inside("providers", "mirror").code == 1


def test_schema() -> None:
    assert inside("providers", "schema").code == 1
    refused = inside("providers", "schema", "-json")
    assert refused.code == 1
    assert NAME in refused.err
    install()
    document = json.loads(inside("providers", "schema", "-json").out)
    assert list(document["provider_schemas"]) == [NAME]
    offered = document["provider_schemas"][NAME]
    assert set(offered["resource_schemas"]) == {"files_text"}
    assert set(offered["functions"]) == {"shout"}


def test_show_with_a_plugin() -> None:
    install()
    attributes = {"name": "a", "content": "b", "sha256": "c"}
    shown: dict[str, object] = {
        "mode": "managed",
        "type": "files_text",
        "name": "hello",
        "provider": f'provider["{NAME}"]',
        "instances": [{"schema_version": 0, "attributes": attributes}],
    }
    write_state(Path("terraform.tfstate"), shown)
    done = inside("state", "show", "files_text.hello")
    assert done.code == 0, done.err
    assert '    content = "b"\n    name    = "a"\n' in done.out


def test_a_changed_program_is_not_started() -> None:
    install()
    program = next(Path(".terraform/providers").rglob("terraform-provider-files"))
    program.write_text(program.read_text() + "\n")
    done = inside("providers", "schema", "-json")
    assert done.code == 1
    assert "checksum" in done.err


@pytest.mark.parametrize("how", ["installed", "development"])
def test_validate_asks_providers(how: str) -> None:
    environ: dict[str, str] = {}
    if how == "installed":
        install()
    else:
        environ = overridden()
    valid = inside("validate", settings=environ)
    assert valid.code == 0, valid.err
    assert valid.out.count("Providers under development") == (how == "development")
    Path("wrong.tf").write_text(
        'provider "files" {\n  folder = "x"\n}\n'
        'resource "files_text" "a" {}\n'
        'resource "files_txt" "b" {}\n'
        'output "o" {\n  value = files_text.hello.size\n}\n'
    )
    document = json.loads(inside("validate", "-json", settings=environ).out)
    found = {each["range"]["start"]["line"] for each in document["diagnostics"] if "range" in each}
    assert found == {2, 4, 5, 7}
    assert document["error_count"] == 4


def test_a_program_that_nobody_needs_may_be_changed() -> None:
    install()
    program = Path(".terraform/providers", NAME, "1.2.0", current_platform())
    (program / "terraform-provider-files").write_text("evil\n")
    Path("main.tf").write_text("")
    Path("use.tf").unlink()
    done = inside("providers", "schema", "-json")
    assert (done.code, done.out) == (0, '{"format_version":"1.0"}\n')


@pytest.mark.parametrize(
    "command", [("providers", "schema", "-json"), ("plan",), ("graph",)], ids=" ".join
)
def test_a_lock_that_the_configuration_has_left_behind(command: tuple[str, ...]) -> None:
    install()
    Path("main.tf").write_text(CONFIGURATION.replace(">= 1.0", ">= 2.0"))
    done = inside(*command)
    assert done.code == 1
    assert "Locked provider version not allowed" in done.out + done.err
    assert "the root module requires >= 2.0.0" in done.out + done.err
    # Where the provider comes from elsewhere, its version does not matter.
    assert inside(*command, settings=overridden()).code == 0


@pytest.mark.parametrize(
    "command", [("providers", "schema", "-json"), ("plan",), ("graph",)], ids=" ".join
)
def test_all_that_is_locked_must_be_installed(command: tuple[str, ...]) -> None:
    install()
    Path("main.tf").write_text("")
    Path("use.tf").unlink()
    assert inside(*command).code == 0
    shutil.rmtree(".terraform/providers")
    done = inside(*command)
    assert done.code == 1
    assert "1.2.0 is not installed" in done.out + done.err


def test_a_lock_file_that_cannot_be_read_is_told() -> None:
    install()
    Path(".terraform.lock.hcl").write_text("provider {\n")
    for command in (("providers", "schema", "-json"), ("plan",)):
        done = inside(*command)
        assert done.code == 1
        assert ".terraform.lock.hcl line 1" in done.out + done.err


def test_providers_under_development_are_told() -> None:
    environ = overridden()
    for arguments in (["init"], ["plan"], ["apply", "-auto-approve"], ["destroy", "-auto-approve"]):
        done = inside(*arguments, settings=environ)
        assert done.code == 0, done.err
        assert done.out.count("Providers under development") == 1, arguments
    assert "development" not in inside("state", "list", settings=environ).out


def test_validate_into_a_file() -> None:
    install()
    wanted = inside("validate", "-json").out
    done = inside("validate", "-json-into=result.json")
    assert "Success" in done.out
    assert Path("result.json").read_text() == wanted
    assert inside("validate", "-json-into=no/such/place").code == 1


def test_validate_wants_providers_installed() -> None:
    done = inside("validate")
    assert done.code == 1
    assert f"{NAME} is not installed" in done.err
    assert "nigari init" in done.err.replace("\n", " ")
    Path("main.tf").unlink()
    Path("use.tf").write_text('resource "terraform_data" "x" {}\n')
    assert inside("validate").code == 0


def test_version_tells_what_is_locked() -> None:
    install()
    assert f"+ provider {NAME} v1.2.0\n" in inside("version").out
    assert json.loads(inside("version", "-json").out)["provider_selections"] == {NAME: "1.2.0"}


def test_a_configuration_with_errors_has_no_tree() -> None:
    usual_state()
    Path("wrong.tf").write_text("resource {\n")
    done = inside("providers")
    assert (done.code, done.out) == (1, "")
