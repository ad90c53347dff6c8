"""The console beside the real one: the same lines in, the same answers and exit codes out."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import nigari
from tests.real import program

pytestmark = pytest.mark.real

CONFIGURATION = """
variable "us" {
  type = string
}
variable "secret" {
  default   = "s3cret"
  sensitive = true
}
variable "passing" {
  default   = "by"
  ephemeral = true
}
locals {
  mixed = { a = [1, "two", null, true], b = var.us, c = var.secret }
}
"""

SESSIONS = [
    "1 + 1\n\n   \n2\n",
    "1\nexit\n2\n",
    "1 +\\\n2\n",
    "[\n1,\n\n# comment\n2,\n]\n",
    "{\n  a = 1\n  b = {\n    c = [\n      1\n    ]\n  }\n}\n",
    "1)\n2\n",
    "foo(\n1\n)\n2\n",
    "1\n2 +\n3\n",
    '"a\\tb\\u0001\\u00a0é\\u200b😀\\U000e0001\\"\\\\"\n',
    '"a\\nb"\n{ a = "x\\ny" }\n["EOT\\nEOT_\\n"]\n',
    "0.1\n1/3\n-0\n1e400\n1/0\n123456789012345678901234567890.5\n-1.50\n1e-10\n",
    "null\ntostring(null)\ntolist(null)\ntoset(null)\ntomap(null)\n[null]\ntrue ? null : [1]\n",
    '{}\n[]\ntoset([])\ntolist([])\ntomap({})\n{ "a b" = 1, "é" = null, 1 = 2 }\n',
    'toset(["b", "a", 1])\ntolist([[1], [2]])\ntomap({ a = { b = 1 } })\n',
    "local.mixed\nvar.us\nvar.secret\nvar.passing\n[var.secret, var.passing, var.us]\n",
    "type(local.mixed)\ntype(var.us)\ntype(toset([[1]]))\ntype(null)\ntype([])\ntype({})\n",
    "type(type(1))\n",
    "[type(1)]\n",
    "type(1) == type(1)\n",
    'sensitive("a")\n[sensitive("a")]\nnonsensitive(var.secret)\n"x${var.secret}"\n',
    "var.nothing\n",
    "local.nothing\n",
    "nothing\n",
    "nothing(1)\n",
    "each.key\n",
    "self\n",
    "path.module\npath.root\nterraform.workspace\ntofu.workspace\n",
    "1\r\n2\r\n",
    '"abc\n',
    "@\n",
    "1 # comment\n// comment\n",
    "  [for i in range(3) : i * i if i > 0]  \n",
    '[for k, v in { a = 1 } : "${k}=${v}"]\n',
    'jsonencode({ a = "<>&é" })\nyamlencode({ a = [1, "x"] })\n',
    "plantimestamp()\n",
    'urldecode("%e9")\n',
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("console")
    (directory / "main.tf").write_text(CONFIGURATION)
    return directory


@pytest.mark.parametrize("text", SESSIONS)
def test_same_answers(text: str, directory: Path) -> None:
    settings = directory.parent / "tofurc"
    settings.touch()
    real = subprocess.run(
        [program("tofu"), "console", "-no-color"],
        cwd=directory,
        env={**os.environ, "TF_CLI_CONFIG_FILE": str(settings)},
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    own = nigari("console", "-no-color", cwd=directory, stdin=text)
    assert own.out == real.stdout.decode("utf-8", "surrogateescape")
    assert own.code == real.returncode
    assert bool(own.err) == bool(real.stderr)
