"""Configurations that CDK Terrain writes, the successor of CDK for Terraform."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.real import program
from tests.tools.beside import sides, without_moments

pytestmark = pytest.mark.tools

_STACK: Final = """
const { App, Fn, LocalBackend, TerraformModule, TerraformOutput, TerraformResource, TerraformStack,
  TerraformVariable, TerraformIterator } = require("cdktn");
class Resource extends TerraformResource {
  constructor(scope, id, fields, config) {
    super(scope, id, { terraformResourceType: "terraform_data", ...config });
    this.fields = fields;
  }
  synthesizeAttributes() {
    return this.fields;
  }
}
class Module extends TerraformModule {
  synthesizeAttributes() {
    return { name: "x" };
  }
}
const app = new App({ outdir: "out", analyticsReporting: false });
const stack = new TerraformStack(app, "stack");
new LocalBackend(stack, { path: "cdk.tfstate" });
const name = new TerraformVariable(stack, "name", { type: "string", default: "a" });
const one = new Resource(stack, "one", { input: Fn.upper(name.stringValue) },
  { lifecycle: { createBeforeDestroy: true } });
const iterator = TerraformIterator.fromList(["x", "y"]);
new Resource(stack, "many", { input: iterator.value }, { forEach: iterator, dependsOn: [one] });
const inner = new Module(stack, "inner",
  { source: "./inner", skipAssetCreationFromLocalModules: true });
new TerraformOutput(stack, "text", { value: Fn.join("-", [name.stringValue, "${1 + 1}"]) });
new TerraformOutput(stack, "secret", { value: "hidden", sensitive: true });
new TerraformOutput(stack, "inner_name", { value: inner.interpolationForOutput("name") });
app.synth();
"""
_INNER: Final = 'variable "name" {}\noutput "name" {\n  value = "inner ${var.name}"\n}\n'


def test_configuration_of_a_stack(tmp_path: Path) -> None:
    (tmp_path / "stack.js").write_text(_STACK)
    subprocess.run([program("node-cdktn"), "stack.js"], cwd=tmp_path, check=True)
    text = (tmp_path / "out" / "stacks" / "stack" / "cdk.tf.json").read_text()
    plans: list[object] = []
    for side in sides(tmp_path, "tofu", {"cdk.tf.json": text, "inner/main.tf": _INNER}):
        side.run("plan", "-input=false", "-out=plan")
        plan = json.loads(without_moments(side.run("show", "-json", "plan")))
        side.run("apply", "-input=false", "plan")
        plans.append([plan, json.loads(side.run("output", "-json"))])
        assert (side.directory / "cdk.tfstate").exists()
        assert "No changes." in side.run("plan", "-no-color", "-input=false")
    assert plans[0] == plans[1]
