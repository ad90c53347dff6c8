"""Completion in the shell."""

import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cli.process import inside
from tests.cli.typist import Typist


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("nigari vers", ["version"]),
        ("nigari -ver", ["-version"]),
        ("nigari -", ["-chdir=", "-env=", "-help", "-version"]),
        ("nigari version -h", ["-help"]),
        ("nigari version -cons", ["-consolidate-errors", "-consolidate-warnings=false"]),
        ("nigari version -d", ["-deprecation=module:"]),
        ("nigari version -j", ["-json"]),
        ("nigari stat", ["state"]),
        ("nigari state m", ["mv"]),
        ("nigari zzz", []),
        ("nigari console -var-f", ["-var-file="]),
        ("nigari console -var-file=a", ["a.tfvars"]),
        ("nigari fmt ", ["a.tfvars", "inner/"]),
        ("nigari fmt .h", [".hidden"]),
        ("nigari fmt inner/", ["inner/b.tf"]),
        ("nigari fmt nothing/", []),
        ("nigari -chdir=inner fmt ", ["b.tf"]),
        ("nigari -chdir=i", ["inner/"]),
    ],
)
def test_candidates(
    line: str, found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.tfvars").touch()
    (tmp_path / ".hidden").touch()
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.tf").touch()
    monkeypatch.chdir(tmp_path)
    done = inside(settings={"COMP_LINE": line})
    assert (done.code, done.err) == (0, "")
    assert words(done.out) == found


def words(output: str) -> list[str]:
    """The candidates; bash inserts the space after a whole word as it is printed."""
    lines = output.splitlines()
    assert [line.endswith(" ") for line in lines] == [line[-1] not in "=/:" for line in lines]
    return [line.removesuffix(" ") for line in lines]


def test_only_what_is_before_the_cursor_counts() -> None:
    done = inside(settings={"COMP_LINE": "nigari vers -json", "COMP_POINT": "11"})
    assert words(done.out) == ["version"]


def test_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    bash, zsh = tmp_path / ".bashrc", tmp_path / ".zshrc"
    assert inside("-install-autocomplete").code == 1
    bash.write_text("alias a=b\n")
    bash.chmod(0o600)
    zsh.write_text("")
    fish = tmp_path / ".config" / "fish"
    fish.mkdir(parents=True)
    assert inside("-install-autocomplete").code == 0
    assert bash.read_text().startswith("alias a=b\n# >>>")
    assert "complete -o nospace -C nigari nigari" in bash.read_text()
    assert "#compdef" in zsh.read_text()
    assert [path.name for path in fish.rglob("*")] == ["completions", "nigari.fish"]
    assert "Nothing" in inside("-install-autocomplete").out
    assert inside("-uninstall-autocomplete").code == 0
    assert bash.read_text() == "alias a=b\n"
    assert (zsh.read_text(), list(fish.glob("*/*"))) == ("", [])
    assert stat.S_IMODE(bash.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("nigari workspace select ", ["default", "dev", "prod"]),
        ("nigari workspace delete p", ["prod"]),
        ("nigari state show terraform_data.a", [r"terraform_data.a\[\"x\"\]"]),
        ("nigari state rm ", [r"terraform_data.a\[\"x\"\]"]),
        ("nigari output ", ["o"]),
        ("nigari import m", ["module.m"]),
        (
            "nigari plan -target=",
            ["module.m", "terraform_data.a", r"terraform_data.a\[\"x\"\]", "terraform_data.b"],
        ),
        ("nigari apply -replace=terraform_data.b", ["terraform_data.b"]),
        ("nigari -chdir=nothing state show ", []),
        ("nigari -env=", ["dev", "live"]),
        ("nigari -env=l", ["live"]),
        ("nigari -env=live state sh", ["show"]),
        ("nigari -env=live workspace select ", ["default", "dev", "prod"]),
        ("nigari -env=wrong workspace select ", []),
    ],
)
def test_names(
    line: str, found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir()
    Path("m/main.tf").touch()
    Path("main.tf").write_text(
        'resource "terraform_data" "a" { for_each = toset(["x"]) }\n'
        'resource "terraform_data" "b" { count = 0 }\n'
        'module "m" { source = "./m" }\noutput "o" { value = 1 }\n'
    )
    Path("environments.hcl").write_text('environment "dev" {}\nenvironment "live" {}\n')
    assert inside("apply", "-auto-approve").code == 0
    for name in ("dev", "prod"):
        Path("terraform.tfstate.d", name).mkdir(parents=True)
    done = inside(settings={"COMP_LINE": line})
    assert (done.code, done.err) == (0, "")
    assert words(done.out) == found


SHELLS: Final = {"bash": ["-i"], "zsh": ["-i"], "fish": ["-i"]}


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete_what_is_typed(shell: str, tmp_path: Path) -> None:
    """Types with the tab key at each shell that this machine has."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    home, tools, work = (tmp_path / name for name in ("home", "tools", "work"))
    for path in (home / ".config" / "fish", tools, work):
        path.mkdir(parents=True)
    (home / ".bashrc").write_text("PS1='> '\n")
    (home / ".zshrc").write_text("PS1='> '\n")
    (work / "main.tf").write_text('resource "terraform_data" "a" { for_each = toset(["x"]) }\n')
    (work / "values.tfvars").touch()
    (tools / "nigari").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nigari "$@"\n')
    (tools / "nigari").chmod(0o755)
    settings = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        assert inside("-install-autocomplete").code == 0
    with Typist(*SHELLS[shell], cwd=work, settings=settings, program=[program]) as typist:
        typist.type("nigari vers\t-js\t\n")
        typist.wait_for('"terraform_version"')
        typist.type("nigari apply -auto-a\t-conc\t\n")
        typist.wait_for("1 added")
        typist.type("nigari state sh\tterraform_d\t\n")
        typist.wait_for('resource "terraform_data" "a" {')
        typist.type("nigari validate -var-fi\tva\t\n")
        typist.wait_for("Success!")
