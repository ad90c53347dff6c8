"""`nigari import`, import blocks and generated blocks: what people see of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.import_cases import ENOUGH, NOT_ENOUGH, A
from tests.cli.process import Done, inside

BLOCK = 'import {\n  to = terraform_data.a\n  id = "x"\n}\n'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def words(done: Done) -> str:
    return " ".join((done.out + done.err).replace("│", " ").split())


def test_command() -> None:
    Path("main.tf").write_text('variable "n" {}\n' + A.replace("{}", "{\n  count = var.n\n}"))
    done = inside("import", "-var", "n=2", "terraform_data.a[1]", "given")
    assert done.code == 0, done.out + done.err
    assert "Import successful! terraform_data.a[1] is now in the state" in words(done)
    assert inside("state", "list").out.split() == ["terraform_data.a[1]"]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["terraform_data.a", "x"], "already an object at terraform_data.a"),
        (["terraform_data.b", "x"], "does not declare terraform_data.b"),
        (["data.terraform_data.a", "x"], "Only managed resources"),
        (["terraform_data", "x"], "address"),
        (["terraform_data.a"], "needs an address and an ID"),
    ],
)
def test_command_refuses(arguments: list[str], wanted: str) -> None:
    Path("main.tf").write_text(A)
    assert inside("import", "terraform_data.a", "first").code == 0
    before = Path("terraform.tfstate").read_text()
    done = inside("import", "-no-color", *arguments)
    assert done.code == 1
    assert wanted in words(done)
    assert Path("terraform.tfstate").read_text() == before


def test_blocks_are_followed() -> None:
    Path("main.tf").write_text(A + BLOCK)
    said = inside("apply", "-auto-approve", "-no-color").out
    assert "a: Importing... [id=x]\nterraform_data.a: Import complete [id=x]\n" in said
    assert "1 imported" in said
    assert "No changes." in inside("plan", "-no-color").out


def test_generated_blocks() -> None:
    Path("main.tf").write_text(BLOCK)
    done = inside("plan", "-no-color", "-generate-config-out=made.tf", "-out=p")
    assert done.code == 0, done.out + done.err
    assert "Generated blocks were written to made.tf" in words(done)
    assert "Plan: 1 to import, 0 to add, 0 to change, 0 to destroy." in done.out
    again = inside("plan", "-no-color", "-generate-config-out=made.tf")
    assert again.code == 1
    assert "already exists" in words(again)


@pytest.mark.parametrize("text", ENOUGH.values(), ids=ENOUGH)
def test_incomplete_configurations(text: str) -> None:
    Path("main.tf").write_text(text)
    assert inside("validate").code == 1
    done = inside("import", "-input=false", "terraform_data.a", "given")
    assert done.code == 0, done.err
    assert inside("state", "list").out.split() == ["terraform_data.a"]


@pytest.mark.parametrize("text", NOT_ENOUGH.values(), ids=NOT_ENOUGH)
def test_mistakes_in_the_way_of_an_import(text: str) -> None:
    Path("main.tf").write_text(text)
    assert inside("import", "-input=false", "terraform_data.a", "given").code == 1
    assert not Path("terraform.tfstate").exists()
