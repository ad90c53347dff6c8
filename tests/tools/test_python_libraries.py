"""Python libraries that run `tofu`: what a program sees through them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from nigari.cli.main import main
from tests.real import program

pytestmark = pytest.mark.tools

_CONFIGURATION: Final = """
variable "name" {
  default = "a"
}
resource "terraform_data" "it" {
  count = 2
  input = { name = var.name, index = count.index }
}
output "names" {
  value = terraform_data.it[*].output.name
}
output "secret" {
  value     = "hidden"
  sensitive = true
}
"""
_SCRIPTS: Final = {
    "tftest": """
import tftest
t = tftest.TerraformTest(directory, binary=binary)
t.setup()
plan = t.plan(output=True, tf_vars={"name": "b"})
seen("plan", {k: sorted(v["values"]) for k, v in plan.resources.items()})
seen("changes", {k: v["change"]["actions"] for k, v in plan.resource_changes.items()})
seen("variables", plan.variables)
seen("sensitive", plan.outputs)
t.apply(tf_vars={"name": "b"})
seen("output", t.output())
t.refresh(tf_vars={"name": "b"})
state = t.state_pull()
seen("state", {k: len(v["instances"]) for k, v in state.resources.items()})
seen("again", list(t.plan(output=True, tf_vars={"name": "b"}).resource_changes.values()))
t.destroy(tf_vars={"name": "b"})
seen("destroyed", t.output())
try:
    t.plan(tf_vars={"other": "x"})
except tftest.TerraformTestError as error:
    seen("failed", True)
""",
    "tofupy": """
import dataclasses, tofupy
t = tofupy.Tofu(cwd=directory, binary=binary)
seen("init", t.init())
seen("valid", t.validate().valid)
log, plan = t.plan(variables={"name": "b"})
seen("log", [log.added, log.changed, log.removed, len(log.errors), log.operation])
seen("plan", {k: [str(each) for each in v.change.actions] for k, v in plan.resource_changes.items()})
log = t.apply(variables={"name": "b"})
seen("apply", [log.added, log.changed, log.removed, len(log.errors), log.operation])
seen("output", {k: [v.value, v.sensitive] for k, v in t.output().items()})
seen("state", [sorted(t.state().outputs), t.state().version])
log = t.destroy()
seen("destroy", [log.added, log.changed, log.removed, len(log.errors), log.operation])
open(directory + "/broken.tf", "w").write('output "x" { value = var.none }')
checked = t.validate()
seen("invalid", [checked.valid, checked.error_count, checked.warning_count])
""",
    "python-terraform": """
import python_terraform
t = python_terraform.Terraform(working_dir=directory, terraform_bin_path=binary)
seen("init", t.init()[0])
seen("plan", t.plan(var={"name": "b"})[0])
seen("apply", t.apply(skip_plan=True, var={"name": "b"})[0])
seen("output", t.output())
seen("empty plan", t.plan(var={"name": "b"})[0])
seen("workspaces", [t.create_workspace("w")[0], t.set_workspace("default")[0]])
seen("deleted", t.delete_workspace("w")[0])
t.read_state_file()
seen("state", sorted(each["name"] for each in t.tfstate.resources))
seen("failed", t.plan(var={"other": "x"})[0])
seen("destroy", t.cmd("destroy", "-auto-approve", var={"name": "b"})[0])
""",
}
_FRAME: Final = """
import json, sys, warnings
warnings.simplefilter("ignore")
directory, binary, report = sys.argv[1:]
found = {}
def seen(what, value):
    found[what] = value
%s
json.dump(found, open(report, "w"), default=str, sort_keys=True)
"""
_MOMENT: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}")


def _seen(library: str, folder: Path, binary: Path) -> object:
    """What a script sees through a library, without what differs from run to run."""
    directory = folder / "configuration"
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text(_CONFIGURATION)
    settings = folder / "none.tfrc"
    settings.touch()
    report = folder / "report.json"
    script = _FRAME % _SCRIPTS[library]
    done = subprocess.run(
        [program(f"python-{library}"), "-c", script, str(directory), str(binary), str(report)],
        env={**os.environ, "TF_CLI_CONFIG_FILE": str(settings)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(_MOMENT.sub("ID", report.read_text()))


@pytest.mark.parametrize("library", _SCRIPTS)
def test_library(tmp_path: Path, library: str) -> None:
    assert main(["shim", str(tmp_path / "shims")]) == 0
    theirs = _seen(library, tmp_path / "theirs", program("tofu"))
    ours = _seen(library, tmp_path / "ours", tmp_path / "shims" / "tofu")
    assert ours == theirs
    assert theirs
