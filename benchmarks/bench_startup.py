"""How long short commands take beside `tofu`: those that only say something, those that look at a
small directory, and those that find out that their providers are missing.

All are whole processes. Without the real program (`make peers`) there are no cases.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.harness import Case
from scripts.peers import cache

_PEERS: Final = cache()
_OWN: Final = "import sys; from nigari.__main__ import main; sys.exit(main())"
"""What the script says that installing the package writes."""
_AT_MOST: Final = 0.77
"""A short command takes at most 1.3 times as long as the real one."""
_VALIDATED: Final = 0.7
"""The real `validate` opens no backend before it finds that providers are missing."""
_SMALL: Final = """\
variable "n" { default = 2 }
resource "terraform_data" "a" {
  count = var.n
  input = "x${count.index}"
}
output "o" { value = terraform_data.a[*].output }
output "p" { value = "plain" }
"""
_MISSING: Final = """\
variable "v%(number)d" { default = "x" }
resource "aws_instance" "a%(number)d" {
  ami  = var.v%(number)d
  tags = { Name = "web-%(number)d" }
}
output "o%(number)d" { value = aws_instance.a%(number)d.id }
"""


def cases() -> list[Case]:
    """All comparisons."""
    tofu = _PEERS / "bin" / "tofu"
    if not tofu.is_file():
        return []
    own, real = [sys.executable, "-c", _OWN], [str(tofu)]
    base = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    small, missing = base / "small", base / "missing"
    _write(small, {"main.tf": _SMALL})
    for arguments in ("init", "apply -auto-approve"):
        _run(real, arguments, small)()
    _write(missing, {f"{number}.tf": _MISSING % {"number": number} for number in range(20)})
    return [
        _case("version", own, real, base, 1.0),
        _case("-help", own, real, base, 1.0),
        Case("completion", _complete(own), "tofu", _complete(real), 1.0, 1.0),
        *(
            _case(each, own, real, small, _AT_MOST)
            for each in ("output", "state list", "show", "fmt", "init")
        ),
        *(
            _case(each, own, real, missing, wanted, ", 20 files, no providers")
            for each, wanted in (
                ("plan", _AT_MOST),
                ("apply", _AT_MOST),
                ("refresh", _AT_MOST),
                ("providers schema -json", _AT_MOST),
                ("validate", _VALIDATED),
            )
        ),
    ]


def _case(
    arguments: str, own: list[str], real: list[str], where: Path, wanted: float, about: str = ""
) -> Case:
    ours, theirs = _run(own, arguments, where), _run(real, arguments, where)
    return Case(f"{arguments}{about}", ours, "tofu", theirs, wanted, wanted)


def _write(directory: Path, files: dict[str, str]) -> None:
    directory.mkdir()
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")


def _environment() -> dict[str, str]:
    # The real program complains where this names no file, and a slow disk must not be measured.
    settings = Path(tempfile.gettempdir()) / "nigari-bench-tofurc"
    settings.touch()
    return {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}


def _run(command: list[str], arguments: str, where: Path) -> Callable[[], int]:
    environment, whole = _environment(), [*command, *arguments.split()]

    def run() -> int:
        done = subprocess.run(whole, cwd=where, env=environment, capture_output=True, check=False)
        return done.returncode

    return run


def _complete(command: list[str]) -> Callable[[], bytes]:
    environment = {**_environment(), "COMP_LINE": "tofu ver", "COMP_POINT": "8"}
    return lambda: subprocess.run(command, env=environment, capture_output=True, check=True).stdout
