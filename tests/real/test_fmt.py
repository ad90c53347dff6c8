"""`fmt` beside the real `tofu`: the same files, lists, differences and exit status."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real import program

pytestmark = pytest.mark.real

FILES = {
    "a.tf": 'resource a "b" {\nx=1\n  yy="${z}" # c\n}\n',
    "b.tfvars": "a  =  1\n",
    "c.tofu": "a = 1\n",
    "d.tf.json": "{ }",
    "sub/e.tftest.hcl": "run x {\n}\n",
    ".hidden.tf": "a=1\n",
}


def _run(command: list[str], directory: Path, stdin: str = "") -> tuple[int, str]:
    settings = directory / "settings.tfrc"
    settings.touch()
    environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        command,
        cwd=directory,
        env=environ,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def _fill(directory: Path) -> Path:
    for name, text in FILES.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    return directory


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["-recursive"],
        ["-check"],
        ["-check", "-recursive", "-list=false"],
        ["-diff", "-write=false"],
        ["-check", "-diff"],
        ["-list=false", "-write=false", "b.tfvars"],
        ["a.tf", "sub"],
        ["missing.tf"],
        ["d.tf.json"],
    ],
)
def test_same_as_tofu(tmp_path: Path, args: list[str]) -> None:
    ours = _fill(tmp_path / "ours")
    theirs = _fill(tmp_path / "theirs")
    want = _run([str(program("tofu")), "fmt", *args], theirs)
    assert _run([sys.executable, "-m", "nigari", "fmt", *args], ours) == want
    for name in FILES:
        assert (ours / name).read_text() == (theirs / name).read_text()


@pytest.mark.parametrize("args", [["-"], ["-check", "-"], ["-diff", "-"]])
def test_standard_input(tmp_path: Path, args: list[str]) -> None:
    for text in FILES.values():
        want = _run([str(program("tofu")), "fmt", *args], tmp_path, text)
        assert _run([sys.executable, "-m", "nigari", "fmt", *args], tmp_path, text) == want
