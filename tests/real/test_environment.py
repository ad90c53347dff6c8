"""Variables of the environment that both programs know: the same verdicts, outputs and files.

Those for logs, for providers that run already and for the depth of templates are on the page of
differences.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.cli.process import command
from tests.cli.surroundings import SEEN, WORKING_DIRECTORIES, linked_directory
from tests.real import program

pytestmark = pytest.mark.real

MAIN: Final = """
variable "v" {
  default = "default"
}
resource "terraform_data" "r" {
  input = var.v
}
output "all" {
  value = [var.v, terraform.workspace, terraform_data.r.output]
}
"""
ENCRYPTION: Final = """
key_provider "pbkdf2" "k" {
  passphrase = "correct horse battery"
}
method "aes_gcm" "m" {
  keys = key_provider.pbkdf2.k
}
state {
  method = method.aes_gcm.m
}
"""
APPLY: Final = ("apply", "-auto-approve")
WHOLE: Final = (("init",), APPLY, ("output", "-json"))


@dataclass(frozen=True)
class Row:
    name: str
    environ: dict[str, str]
    commands: tuple[tuple[str, ...], ...] = WHOLE
    text: str = MAIN
    files: dict[str, str] = field(default_factory=dict)


ROWS: Final = [
    Row("nothing", {}),
    Row("a value", {"TF_VAR_v": "given"}),
    Row("a value of no variable", {"TF_VAR_other": "given"}),
    Row("arguments of all commands", {"TF_CLI_ARGS": "-no-color"}),
    Row("an argument that some commands do not have", {"TF_CLI_ARGS": "-auto-approve"}),
    Row("arguments of one command", {"TF_CLI_ARGS_apply": "-var v='two words'"}),
    Row("arguments of an unknown command", {"TF_CLI_ARGS_nope": "-x"}),
    Row(
        "the command line comes last",
        {"TF_CLI_ARGS_output": "-json"},
        (("init",), APPLY, ("output",)),
    ),
    Row("arguments that end within quotes", {"TF_CLI_ARGS_init": "-upgrade 'x"}),
    Row("another data directory", {"TF_DATA_DIR": "data/here"}),
    Row("a workspace", {"TF_WORKSPACE": "other"}),
    Row("a workspace of no good name", {"TF_WORKSPACE": "a/b"}),
    Row("no input", {"TF_INPUT": "0"}, (("init",), ("apply",))),
    Row("input that is no number", {"TF_INPUT": "x"}),
    Row("automation", {"TF_IN_AUTOMATION": "1"}),
    Row("encryption", {"TF_ENCRYPTION": ENCRYPTION}),
    Row("encryption that makes no sense", {"TF_ENCRYPTION": "x {"}),
    Row("encryption of blanks", {"TF_ENCRYPTION": " "}),
    Row("an interval", {"TF_STATE_PERSIST_INTERVAL": "60"}),
    Row(
        "templates within templates",
        {"TF_TEMPLATE_RECURSION_DEPTH": "3"},
        text='output "x" {\n  value = templatefile("t", {})\n}\n',
        files={"t": '${templatefile("t", {})}'},
    ),
    Row("colors", {"NO_COLOR": "1"}),
    Row("errors of outputs as warnings", {"TF_WARN_OUTPUT_ERRORS": "1"}),
    Row("no encryption between plugins", {"TF_DISABLE_PLUGIN_TLS": "1"}),
    Row("local runs", {"TF_FORCE_LOCAL_BACKEND": "1"}),
    Row("a service that no block names", {"TF_CLOUD_ORGANIZATION": "o", "TF_CLOUD_PROJECT": "p"}),
    Row("no tracing", {"OTEL_TRACES_EXPORTER": "none"}),
    Row("addresses of providers", {"OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION": "0"}),
]


def run(row: Row, work: Path, is_ours: bool) -> tuple[list[int], str, list[str], str]:
    work.mkdir()
    for name, text in {"main.tf": row.text, **row.files}.items():
        (work / name).write_text(text)
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("TF_", "XDG_", "NO_COLOR"))}
    environ = {**kept, "TF_CLI_CONFIG_FILE": os.devnull, "PYTHONPATH": os.pathsep.join(sys.path)}
    codes, last, said = [], "", ""
    for words in row.commands:
        done = subprocess.run(
            command(*words) if is_ours else [str(program("tofu")), *words],
            cwd=work,
            env={**environ, **row.environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        codes.append(done.returncode)
        last = done.stdout if words[0] == "output" and done.returncode == 0 else ""
        said += done.stdout + done.stderr
    made = sorted(
        str(path.relative_to(work))
        for path in work.rglob("*")
        if path.is_file() and not path.name.startswith(("nigari.", "modules.json"))
    )
    return codes, last, made, said


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_variables(row: Row, tmp_path: Path) -> None:
    theirs = run(row, tmp_path / "theirs", False)
    ours = run(row, tmp_path / "ours", True)
    about = f"{theirs}\n---\n{theirs[3]}\n---\n{ours[3]}"
    assert ours[0] == theirs[0], about
    assert ours[1] == theirs[1], about
    assert ours[2] == theirs[2], about


@pytest.mark.parametrize(("pwd", "changed", "current", "absolute"), WORKING_DIRECTORIES)
def test_linked_directories(
    pwd: str, changed: str, current: str, absolute: str, tmp_path: Path
) -> None:
    link = linked_directory(tmp_path)
    environ = {**os.environ, "TF_CLI_CONFIG_FILE": os.devnull, "PWD": pwd.format(tmp_path)}
    words = [str(program("tofu")), f"-chdir={changed}", "console"]
    done = subprocess.run(
        words, cwd=link, env=environ, input=SEEN, capture_output=True, text=True, check=True
    )
    found = [current.format(tmp_path), absolute.format(tmp_path)]
    assert done.stdout.splitlines()[:2] == [f'"{each}"' for each in found]
