"""`nigari show`: a state, for people or as JSON."""

import json
from pathlib import Path

import pytest

from tests.cli.process import inside
from tests.cli.states import resource, usual_state, write_state


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    usual_state()


def test_for_people() -> None:
    done = inside("show")
    assert done.code == 0
    assert done.out.startswith('# terraform_data.a:\nresource "terraform_data" "a" {\n')
    assert "secret = (sensitive value)\n" in done.out
    assert inside("show", "-show-sensitive").out.endswith('secret = "hidden"\ntext = "hello"\n')


def test_as_json() -> None:
    document = json.loads(inside("show", "-json").out)
    assert document["format_version"] == "1.0"
    root = document["values"]["root_module"]
    assert [each["address"] for each in root["resources"]][:2] == [
        "terraform_data.a",
        "terraform_data.c[0]",
    ]
    assert root["child_modules"][0]["address"] == 'module.m["p"]'


def test_of_a_file() -> None:
    write_state(Path("other.tfstate"), resource("only"))
    assert inside("show", "other.tfstate").out.startswith("# terraform_data.only:\n")
    assert inside("show", "missing.tfstate").code == 1


def test_of_nothing() -> None:
    write_state(Path("terraform.tfstate"))
    assert inside("show").out == "The state file is empty. No resources are represented.\n"
    Path("terraform.tfstate").unlink()
    assert inside("show").out == "No state.\n"
    assert inside("show", "-json").out == '{"format_version":"1.0"}\n'


def test_providers_must_be_installed() -> None:
    other = resource("x", provider='provider["registry.opentofu.org/acme/other"]')
    write_state(Path("terraform.tfstate"), other)
    done = inside("show")
    assert done.code == 1
    assert "acme/other" in done.err
    assert "nigari init" in done.err.replace("\n", " ")


def test_what_terraform_wrote_is_shown_with_our_providers() -> None:
    other = resource("x", provider='provider["registry.terraform.io/hashicorp/other"]')
    write_state(Path("terraform.tfstate"), other)
    assert "\nhashicorp/other is not" in inside("show").err
    off = {"OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION": "0"}
    assert "registry.terraform.io/hashicorp/other" in inside("show", settings=off).err
    Path("main.tf").write_text(
        "terraform {\n  required_providers {\n    other = {\n"
        '      source = "registry.terraform.io/hashicorp/other"\n    }\n  }\n}\n'
    )
    assert "registry.terraform.io/hashicorp/other" in inside("show").err
