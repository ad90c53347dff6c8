"""Pipes and devices where files are expected: nothing waits for them, and nothing replaces them."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import command, environment, inside

_MAIN = 'variable "v" { default = "d" }\noutput "v" { value = var.v }\n'


def _run(line: str, cwd: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-c", f"{shlex.join(command())} {line}"],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, " ".join(done.stdout.split())


@pytest.mark.parametrize(
    "line", ["init", "validate", "plan", "apply -auto-approve", "fmt", "state list", "output"]
)
def test_a_pipe_as_a_configuration_file(tmp_path: Path, line: str) -> None:
    (tmp_path / "main.tf").write_text(_MAIN)
    os.mkfifo(tmp_path / "more.tf")
    code, said = _run(line, tmp_path)
    assert code
    assert "it is a pipe, not a regular file" in said


@pytest.mark.parametrize("name", ["more.tf", "more.tofu", "more.tf.json", "x_override.tf"])
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_as_a_configuration_file(tmp_path: Path, name: str, device: str) -> None:
    (tmp_path / "main.tf").write_text(_MAIN)
    (tmp_path / name).symlink_to(device)
    code, said = _run("validate", tmp_path)
    assert code == 1
    assert "it is a device, not a regular file" in said


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("terraform.tfvars", ""),
        ("x.auto.tfvars", ""),
        ("f", 'output "f" { value = file("f") }\n'),
        ("f", 'output "f" { value = templatefile("f", {}) }\n'),
        ("f", 'output "f" { value = filemd5("f") }\n'),
    ],
)
def test_a_pipe_that_nobody_writes_to(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "main.tf").write_text(_MAIN + text)
    os.mkfifo(tmp_path / name)
    code, said = _run("plan", tmp_path)
    assert code == 1
    assert "is a pipe, not a regular file" in said


def test_a_pipe_of_variables_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_MAIN)
    code, said = _run("plan -var-file=<(echo 'v = \"piped\"')", tmp_path)
    assert code == 0
    assert '+ v = "piped"' in said


def test_a_device_that_is_empty(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('output "f" { value = "<${file("/dev/null")}>" }\n')
    code, said = _run("plan", tmp_path)
    assert code == 0
    assert '+ f = "<>"' in said


def test_a_device_as_the_backup(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "terraform_data" "a" {}\n')
    os.mkfifo(tmp_path / "pipe")
    assert _run("apply -auto-approve", tmp_path)[0] == 0
    replace = "apply -auto-approve -replace=terraform_data.a -backup=pipe"
    line = f"{replace} & cat pipe > copy; wait $!"
    assert _run(line, tmp_path)[0] == 0
    assert (tmp_path / "pipe").is_fifo()
    assert '"serial": 1' in (tmp_path / "copy").read_text()


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("terraform.tfvars", ["plan"]),
        ("terraform.tfvars.json", ["plan"]),
        ("b.tf", ["validate"]),
        ("b.tf.json", ["validate"]),
        (".terraform.lock.hcl", ["init"]),
        ("environments.hcl", ["-env=x", "plan"]),
        ("my.tfbackend", ["init", "-backend-config=my.tfbackend"]),
        ("my.tfbackend.json", ["init", "-backend-config=my.tfbackend.json"]),
        ("b.tf", ["fmt"]),
        ("b.tofu", ["fmt", "b.tofu"]),
        ("fleet.hcl", ["fleet", "list"]),
        (".nigari.lock.hcl", ["init", "-lock-modules"]),
        ("terraform.tfstate", ["plan"]),
        ("terraform.tfstate", ["state", "list"]),
        ("other.tfstate", ["show", "other.tfstate"]),
        ("other.tfstate", ["state", "push", "other.tfstate"]),
        ("cli.tfrc", ["init"]),
    ],
)
def test_files_that_are_not_text(
    name: str, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One error says so, as for a file that git-crypt has not decrypted."""
    monkeypatch.chdir(tmp_path)
    backend = 'terraform {\n  backend "local" {\n  }\n}\n' if "backend" in name else ""
    (tmp_path / "main.tf").write_text(f'{backend}variable "v" {{\n  default = 1\n}}\n')
    (tmp_path / name).write_bytes(b'\0GITCRYPT\0\xff{\n\xfe"\n' * 20)
    settings = {"TF_CLI_CONFIG_FILE": "cli.tfrc"} if name == "cli.tfrc" else {}
    done = inside(*command, settings=settings)
    status = 2 if command[0] == "fmt" else 1
    assert (done.code, done.err.count("Error:")) == (status, 1), done.err
    assert "contains binary data" in " ".join(done.err.split())


def test_an_attribute_that_is_named_like_a_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its secrets are searched for like those of a block."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.tf").write_text('variable = "x"\n')
    assert inside("validate").code == 1
