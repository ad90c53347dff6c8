"""Completion in the shell."""

import stat
from pathlib import Path

import pytest

from tests.cli.process import inside


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("nigari vers", ["version"]),
        ("nigari -ver", ["-version"]),
        ("nigari -", ["-chdir=", "-env=", "-help", "-version"]),
        ("nigari version -", ["-help", "-json"]),
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
    assert done.out.splitlines() == found


def test_only_what_is_before_the_cursor_counts() -> None:
    done = inside(settings={"COMP_LINE": "nigari vers -json", "COMP_POINT": "11"})
    assert done.out == "version\n"


def test_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    bash, zsh = tmp_path / ".bashrc", tmp_path / ".zshrc"
    assert inside("-install-autocomplete").code == 1
    bash.write_text("alias a=b\n")
    bash.chmod(0o600)
    zsh.write_text("")
    assert inside("-install-autocomplete").code == 0
    assert bash.read_text() == "alias a=b\ncomplete -C nigari nigari\n"
    assert "bashcompinit" in zsh.read_text()
    assert "Nothing" in inside("-install-autocomplete").out
    assert inside("-uninstall-autocomplete").code == 0
    assert bash.read_text() == "alias a=b\n"
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
    assert done.out.splitlines() == found
