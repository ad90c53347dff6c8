"""What Nigari shows of a state that `tofu` wrote, beside what `tofu` shows of it."""

import asyncio
import json
from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostics
from nigari.state.files import format_state
from nigari.state.show.show_json import state_to_json
from nigari.state.show.show_outputs import outputs_to_json
from nigari.state.show.show_text import state_to_text
from tests.state.schemas import builtin_schemas
from tests.state.tofu import TofuDirectory

pytestmark = pytest.mark.real

CONFIGURATION = r"""
variable "secret" {
  default   = "s<e>c&r\u2028et"
  sensitive = true
}
resource "terraform_data" "a" {
  input = {
    n    = null, m = tomap({ "a b" = 1, longer = 2 }), s = "multi\nline", l = [null, [1]], e = ""
    j    = jsonencode({ a = 1, b = [1, "x"] }), t = true, "odd key" = 1, em = {}, el = []
    st   = toset(["b", "a"]), q = "a\"b$${x}\\", sens = sensitive({ a = 1 }), tab = "a\tb"
    mm   = tomap({ x = { y = 1 } }), j2 = jsonencode("str"), j3 = "[]", j4 = "{}", trail = "x\n"
    j5   = jsonencode([{}]), ml = ["a\nb", { z = "c\nd" }], jn = jsonencode(null), big = 1e100
    frac = 1.5, huge = 12345678901234567890123456789, secret = var.secret, html = "x<y>"
    "k\u0007" = "\u0001\u001b\u007f\u00ad\u200b\ue000\u00e9", "$${k}" = "%%{x}"
  }
}
resource "terraform_data" "b" {
  count            = 12
  input            = terraform_data.a.output.frac
  triggers_replace = [terraform_data.a.id]
}
resource "terraform_data" "c" {
  for_each = { "x y" = 1, "q\"z" = 2, "é" = 3 }
  input    = each.value
  lifecycle {
    create_before_destroy = true
    precondition {
      condition     = each.value > 0
      error_message = "bad"
    }
  }
}
module "m" {
  source = "./m"
  count  = 2
}
output "map" { value = tomap({ "a b" = 1, longer = 2 }) }
output "json" { value = jsonencode({ a = 1 }) }
output "lines" { value = "a\nb" }
output "list" { value = [{ a = 1, bb = "x" }] }
output "number" { value = 1.5 }
output "secret" {
  value     = var.secret
  sensitive = true
}
check "c" {
  assert {
    condition     = terraform_data.a.id == "x"
    error_message = "not x"
  }
}
"""
MODULE = """
resource "terraform_data" "z" {}
module "n" { source = "./n" }
output "id" {
  value = terraform_data.z.id
  precondition {
    condition     = terraform_data.z.id != ""
    error_message = "bad"
  }
}
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> TofuDirectory:
    path: Path = tmp_path_factory.mktemp("show")
    (path / "m" / "n").mkdir(parents=True)
    (path / "m" / "main.tf").write_text(MODULE)
    (path / "m" / "n" / "main.tf").write_text('resource "terraform_data" "deep" {}')
    directory = TofuDirectory(path, CONFIGURATION)
    directory.apply()
    directory.run("taint", "terraform_data.b[3]")
    return directory


def test_the_file_is_read_and_written_byte_for_byte(directory: TofuDirectory) -> None:
    file = directory.read().file
    assert file is not None
    assert format_state(file, is_for_people=True) == directory.state.read_bytes()


def test_pull(directory: TofuDirectory) -> None:
    file = directory.read().file
    assert file is not None
    ours = format_state(file, is_for_people=False).decode() + "\n"
    theirs = directory.run("state", "pull")
    before_checks = slice(0, ours.index('"check_results"'))  # in which `tofu` knows no order
    assert ours[before_checks] == theirs[before_checks]
    assert len(ours) == len(theirs)


def test_show_json(directory: TofuDirectory) -> None:
    diags = Diagnostics()
    ours = state_to_json(directory.read().file, builtin_schemas, diags)
    assert list(diags) == []
    assert ours is not None
    assert ours + "\n" == directory.run("show", "-json")


def test_show(directory: TofuDirectory) -> None:
    diags = Diagnostics()
    ours = state_to_text(directory.read().state, builtin_schemas, diags)
    assert list(diags) == []
    assert ours == directory.run("show", "-no-color")


def test_output_json(directory: TofuDirectory) -> None:
    ours = outputs_to_json(directory.read().state.outputs)
    assert ours + "\n" == directory.run("output", "-json")


def test_state_list(directory: TofuDirectory) -> None:
    ours = [address.text for address, _ in directory.read().state.instances()]
    assert ours == directory.run("state", "list").splitlines()


def test_what_we_write_means_no_changes_to_tofu(directory: TofuDirectory) -> None:
    directory.run("untaint", "terraform_data.b[3]")
    snapshots = directory.read()
    file = snapshots.file
    assert file is not None
    directory.state.write_bytes(format_state(file, is_for_people=False))
    code, output = directory.try_run("plan", "-detailed-exitcode", "-no-color")
    assert code == 0, output
    again = directory.snapshots()
    assert asyncio.run(again.read(Diagnostics()))
    assert again.state == snapshots.state
    assert json.loads(directory.state.read_text())["serial"] == file.serial
