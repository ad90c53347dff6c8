"""All of `nigari.config`, as a user's program has it: type checkers read this file, and it runs as
well.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import assert_type

import pytest

from nigari import config, cty, hcl
from nigari.config import Module, load_module
from nigari.diagnostics import Diagnostics

MAIN = """
terraform {
  required_version = ">= 1.8"
  required_providers {
    cloud = {
      source                = "example.com/test/cloud"
      version               = "~> 2.0"
      configuration_aliases = [cloud.far]
    }
  }
  provider_meta "cloud" { module = "m" }
  backend "local" { path = "x" }
  encryption {
    key_provider "pbkdf2" "k" { passphrase = var.size }
    method "aes_gcm" "m" { keys = key_provider.pbkdf2.k }
    state { method = method.aes_gcm.m }
  }
}
variable "size" {
  type        = object({ width = optional(number, 1) })
  description = "How large it is."
  validation {
    condition     = var.size.width > 0
    error_message = "Too small."
  }
}
locals { half = var.size.width / 2 }
output "half" { value = local.half }
provider "cloud" { region = "eu" }
module "near" {
  source    = "./near"
  for_each  = toset(["a"])
  providers = { cloud = cloud.far }
}
resource "cloud_box" "b" {
  provider = cloud.far
  name     = "b"

  depends_on = [var.size.width > 1 ? local.half : null]

  connection { host = self.name }
  provisioner "local-exec" { command = "true" }
  lifecycle { create_before_destroy = true }
}
check "c" {
  assert {
    condition     = local.half > 0
    error_message = "Nothing."
  }
}
moved {
  from = cloud_box.a
  to   = cloud_box.b
}
removed {
  from = cloud_box.old
}
import {
  to = cloud_box.b
  id = "b"
}
"""


@pytest.fixture
def module(tmp_path: Path) -> Module:
    (tmp_path / "main.tf").write_text(MAIN, encoding="utf-8")
    return load_module(tmp_path)


def test_values(module: Module) -> None:
    variables: Mapping[str, config.Variable] = module.variables
    size = variables["size"]
    assert (size.name, size.description) == ("size", "How large it is.")
    constraint: config.TypeConstraint = size.constraint
    defaults: config.Defaults | None = constraint.defaults
    assert defaults is not None
    assert constraint.convert(cty.Value.of({})).to_python() == {"width": 1}
    rules: tuple[config.CheckRule, ...] = size.validations
    assert_type(rules[0].condition, hcl.Expression)
    local: config.Local = module.locals["half"]
    output: config.Output = module.outputs["half"]
    assert (local.name, output.name) == ("half", "half")
    assert local.range.start.line < output.range.start.line


def test_resources(module: Module) -> None:
    ((address, resource),) = module.resources.items()
    assert_type(address, config.ResourceAddr)
    assert_type(resource, config.Resource)
    mode: config.ResourceMode = address.mode
    instance: config.ResourceInstance = address.instance("k")
    assert (str(address), mode.value, str(instance)) == (
        "cloud_box.b",
        "resource",
        'cloud_box.b["k"]',
    )
    repetition: config.Repetition = resource.repetition
    lifecycle: config.Lifecycle = resource.lifecycle
    provisioner: config.Provisioner = resource.provisioners[0]
    connection: config.Connection | None = resource.connection
    (dependency,) = resource.dependency_values
    value: config.DependencyValue = dependency
    assert value.names == ("var.size.width", "local.half")
    assert repetition.is_single
    assert lifecycle.create_before_destroy is not None
    assert connection is not None
    assert provisioner.type == "local-exec"
    provider: config.ProviderRef | None = resource.provider
    assert str(provider) == "cloud.far"


def test_calls_and_providers(module: Module) -> None:
    call: config.ModuleCall = module.calls["near"]
    passed: config.PassedProvider = call.providers[0]
    assert (str(passed.in_child), str(passed.in_parent)) == ("cloud", "cloud.far")
    ((name, block),) = module.provider_configs.items()
    assert_type(name, config.LocalProviderConfig)
    assert_type(block, config.ProviderConfig)
    required: config.RequiredProvider = module.required_providers["cloud"]
    provider: config.Provider | None = module.provider("cloud")
    assert (required.name, str(provider)) == ("cloud", "example.com/test/cloud")
    meta: config.ProviderMeta = module.provider_metas["cloud"]
    version: config.RequiredVersion = module.required_versions[0]
    assert (meta.provider, version.counts) == ("cloud", False)


def test_settings(module: Module) -> None:
    backend: config.BackendBlock | None = module.backend
    assert backend is not None
    assert backend.type == "local"
    encryption: config.EncryptionBlock | None = module.encryption
    assert encryption is not None
    keys: config.KeyProviderBlock = encryption.key_providers[0]
    method: config.MethodBlock = encryption.methods[0]
    target: config.EncryptionTarget | None = encryption.state
    assert target is not None
    assert (keys.type, method.name, target.name) == ("pbkdf2", "m", "state")


def test_other_blocks(module: Module) -> None:
    check: config.Check = module.checks["c"]
    moved: config.Moved = module.moved[0]
    removed: config.Removed = module.removed[0]
    taken: config.Import = module.imports[0]
    source: config.WrittenAddress = moved.source
    assert (check.name, len(source.steps), len(removed.source.keys)) == ("c", 2, 0)
    assert taken.target.range.start.line > removed.range.start.line


def test_mistakes_are_reported(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('variable "v" {\n  tpye = string\n}\n', encoding="utf-8")
    with pytest.raises(hcl.HclError, match="tpye"):
        load_module(tmp_path)
    found = Diagnostics()
    assert "v" in load_module(tmp_path, found).variables
    assert found.has_errors
    with pytest.raises(hcl.HclError, match="Cannot read the module directory"):
        load_module(tmp_path / "nowhere", found)
