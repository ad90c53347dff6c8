"""Configurations that look like what a rule is about, and are right."""

from pathlib import Path

import pytest

from tests.lint.documented import found

_RIGHT = {
    # Local values that fail if something is wrong, from before there were preconditions.
    "assertions": (
        "core:unused-local",
        (
            'variable "a" {\n  type = string\n}\nlocals {\n  matches = regex("^x", var.a)\n'
            '  assert_a = var.a == "x" ? true : tobool("no")\n  a-validation = length(var.a)\n'
            '  _validate = core::regex("y", var.a)\n}\n'
        ),
    ),
    # An output that is only read through the whole object, a splat or an index.
    "whole module": (
        "nigari:unused-output",
        (
            'module "a" {\n  source = "./a"\n}\noutput "o" { value = module.a }\n'
            '# FILE: a/main.tf\noutput "x" { value = 1 }\n'
        ),
    ),
    "splat of a module": (
        "nigari:unused-output",
        (
            'module "a" {\n  source = "./a"\n  count = 2\n}\noutput "o" { value = module.a[*].x }\n'
            '# FILE: a/main.tf\noutput "x" { value = 1 }\n'
        ),
    ),
    "caller outside of the tree": (
        "nigari:unused-output",
        (
            'module "a" {\n  source = "./a"\n}\n# FILE: a/main.tf\noutput "x" { value = 1 }\n'
            '# FILE: examples/e/main.tf\nmodule "a" {\n  source = "../../a"\n}\n'
        ),
    ),
    "module with tests": (
        "nigari:unused-output",
        (
            'module "a" {\n  source = "./a"\n}\n# FILE: a/main.tf\noutput "x" { value = 1 }\n'
            '# FILE: a/tests/x.tftest.hcl\nrun "r" {\n  command = plan\n}\n'
        ),
    ),
    # Data sources that check something, or order something.
    "data that waits": (
        "nigari:unused-data",
        (
            'resource "terraform_data" "cluster" {}\n'
            'data "talos_cluster_health" "this" {\n  depends_on = [terraform_data.cluster]\n}\n'
        ),
    ),
    "data in depends_on": (
        "nigari:unused-data",
        (
            'data "terraform_remote_state" "a" {\n  backend = "local"\n}\n'
            'resource "terraform_data" "b" {\n  depends_on = [data.terraform_remote_state.a]\n}\n'
        ),
    ),
    "data with a condition": (
        "nigari:unused-data",
        (
            'data "terraform_remote_state" "a" {\n  backend = "local"\n  lifecycle {\n'
            "    postcondition {\n      condition = self.outputs != null\n"
            '      error_message = "x"\n    }\n  }\n}\n'
        ),
    ),
    # Providers that are used in another way than by resources.
    "provider block": (
        "nigari:unused-provider",
        (
            'terraform {\n  required_providers {\n    aws = { source = "hashicorp/aws" }\n  }\n}\n'
            'provider "aws" {}\n'
        ),
    ),
    "provider of a module without instances": (
        "nigari:unused-provider",
        (
            'terraform {\n  required_providers {\n    aws = { source = "hashicorp/aws" }\n  }\n}\n'
            'module "a" {\n  source = "./a"\n  count = var.on ? 1 : 0\n}\n'
            'variable "on" {\n  type = bool\n  default = false\n}\n'
            '# FILE: a/main.tf\nresource "aws_vpc" "main" {}\n'
        ),
    ),
    "provider of an uninstalled module": (
        "nigari:unused-provider",
        (
            'terraform {\n  required_providers {\n    aws = { source = "hashicorp/aws" }\n  }\n}\n'
            'module "a" {\n  source = "example/a/aws"\n  version = "1.0.0"\n}\n'
        ),
    ),
    "alias in an import": (
        "nigari:unused-provider-configuration",
        'provider "aws" {\n  alias = "w"\n}\nresource "aws_vpc" "v" {\n  provider = aws.w\n}\n',
    ),
    "alias that is passed": (
        "nigari:unused-provider-configuration",
        (
            'provider "aws" {\n  alias = "w"\n}\n'
            'module "a" {\n  source = "./a"\n  providers = { aws = aws.w }\n}\n'
            '# FILE: a/main.tf\nresource "aws_vpc" "v" {}\n'
        ),
    ),
    # Conditions that something can still change.
    "root variable": (
        "nigari:constant-condition",
        'variable "a" {\n  type    = bool\n  default = true\n}\noutput "o" { value = var.a ? 1 : 2 }\n',
    ),
    "root variable through a local": (
        "nigari:constant-condition",
        (
            'variable "a" {\n  type    = string\n  default = "x"\n}\nlocals {\n  b = var.a == "x"\n}\n'
            'output "o" { value = !local.b || var.a == "y" ? 1 : 2 }\n'
        ),
    ),
    "one caller": (
        "nigari:unused-branch",
        (
            'module "a" {\n  source = "./a"\n  b = true\n}\n'
            '# FILE: a/main.tf\nvariable "b" {\n  type = bool\n}\noutput "o" { value = var.b ? 1 : 2 }\n'
        ),
    ),
    "switch": (
        "nigari:constant-condition",
        'locals {\n  on = true\n}\noutput "o" { value = local.on ? 1 : 2 }\n',
    ),
    "workspace": (
        "nigari:constant-condition",
        'output "o" { value = terraform.workspace == "default" ? 1 : 2 }\n',
    ),
    "file": (
        "nigari:constant-condition",
        'output "o" { value = fileexists("x") ? 1 : 2 }\n',
    ),
    "element of a table": (
        "nigari:constant-condition",
        (
            "locals {\n  t = { a = { on = true }, b = { on = true } }\n}\n"
            'output "o" { value = [for k, v in local.t : v.on ? 1 : 2] }\n'
            'resource "terraform_data" "d" {\n  for_each = local.t\n  input = each.value.on ? 1 : 2\n}\n'
        ),
    ),
    "module output that differs": (
        "nigari:constant-condition",
        (
            'variable "a" {\n  type    = bool\n  default = true\n}\n'
            'module "m" {\n  source = "./m"\n  a = var.a\n}\noutput "o" { value = module.m.a ? 1 : 2 }\n'
            '# FILE: m/main.tf\nvariable "a" {\n  type = bool\n}\noutput "a" { value = var.a }\n'
        ),
    ),
    "argument of a called module": (
        "nigari:constant-condition",
        (
            'module "a" {\n  source = "./a"\n  b = true\n}\n'
            'module "c" {\n  source = "./a"\n  b = true\n}\n'
            '# FILE: a/main.tf\nvariable "b" {\n  type = bool\n}\noutput "o" { value = var.b ? 1 : 2 }\n'
        ),
    ),
    # Comparisons whose types are not settled.
    "comparison with null": (
        "nigari:type-comparison",
        (
            'variable "a" {\n  type    = list(string)\n  default = null\n}\n'
            'output "o" { value = var.a == null }\n'
        ),
    ),
    "variable of any type": (
        "nigari:type-comparison",
        'variable "a" {\n  type    = any\n  default = ""\n}\noutput "o" { value = var.a == 1 }\n',
    ),
    "attribute of a resource": (
        "nigari:type-comparison",
        'resource "aws_vpc" "a" {}\noutput "o" { value = aws_vpc.a.id == 1 }\n',
    ),
    "bool that may be null": (
        "nigari:redundant-bool",
        'variable "a" {\n  type    = bool\n  default = null\n}\noutput "o" { value = var.a == true }\n',
    ),
    # Lists that nobody edits.
    "instances of another resource": (
        "nigari:shifting-keys",
        (
            'resource "terraform_data" "a" {\n  count = 2\n}\nresource "terraform_data" "b" {\n'
            "  count = length(terraform_data.a)\n  input = terraform_data.a[count.index].id\n}\n"
        ),
    ),
    "keys that are written": (
        "nigari:computed-keys",
        (
            'resource "aws_vpc" "a" {\n  id = "x"\n}\nresource "terraform_data" "b" {\n'
            "  for_each = toset([aws_vpc.a.id])\n}\n"
        ),
    ),
    "chained for_each": (
        "nigari:computed-keys",
        (
            'resource "terraform_data" "a" {\n  for_each = toset(["x"])\n}\n'
            'resource "terraform_data" "b" {\n  for_each = terraform_data.a\n}\n'
        ),
    ),
    # Dependencies that mean more than a reference.
    "data source": (
        "nigari:implied-depends-on",
        (
            'resource "terraform_data" "a" {}\ndata "terraform_remote_state" "b" {\n  backend = "local"\n'
            "  config = { path = terraform_data.a.id }\n  depends_on = [terraform_data.a]\n}\n"
        ),
    ),
    "module": (
        "nigari:implied-depends-on",
        (
            'module "m" {\n  source = "./m"\n}\nresource "terraform_data" "a" {\n'
            "  input = module.m.o\n  depends_on = [module.m]\n}\n"
            '# FILE: m/main.tf\noutput "o" { value = 1 }\nresource "terraform_data" "x" {}\n'
        ),
    ),
    "reference in ignore_changes": (
        "nigari:implied-depends-on",
        (
            'resource "terraform_data" "a" {}\nresource "terraform_data" "b" {\n'
            "  depends_on = [terraform_data.a]\n  lifecycle {\n"
            "    replace_triggered_by = [terraform_data.a]\n  }\n}\n"
        ),
    ),
    "trigger": (
        "nigari:unsettled-value",
        'resource "null_resource" "a" {\n  triggers = { now = timestamp() }\n}\n',
    ),
    "local that ends up nowhere": (
        "nigari:unsettled-value",
        'locals {\n  now = timestamp()\n}\noutput "o" { value = local.now }\n',
    ),
    "name of a secret": (
        "nigari:unmarked-secret",
        (
            'variable "password_length" {\n  type = number\n}\nvariable "api_key_name" {\n  type = string\n}\n'
            'variable "db_secret_key" {\n  type = bool\n}\n'
        ),
    ),
    "secret that is compared": (
        "nigari:removed-mark",
        (
            'variable "a" {\n  type      = string\n  sensitive = true\n}\n'
            'output "o" { value = nonsensitive(var.a) == "" }\n'
        ),
    ),
    "tag": (
        "nigari:unpinned-module",
        (
            'module "a" {\n  source = "git::https://example.com/a.git?ref=release-2"\n}\n'
            'module "b" {\n  source = "git::https://example.com/a.git?ref=0123abc"\n}\n'
            'module "c" {\n  source = "./c"\n}\n# FILE: c/main.tf\n'
        ),
    ),
    "key of an object": (
        "nigari:wrapped-expression",
        'variable "a" {\n  type = string\n}\noutput "o" { value = { "${var.a}" = 1 } }\n',
    ),
    "splat with an index": (
        "nigari:dotted-index",
        (
            'resource "terraform_data" "a" {\n  count = 2\n}\n'
            'output "o" { value = terraform_data.a.*.id[0] }\n'
        ),
    ),
    "address in a text": (
        "nigari:comment-syntax",
        'output "o" {\n  value = <<-EOT\n    // no comment\n    http://example.com\n  EOT\n}\n',
    ),
}


@pytest.mark.parametrize(("rule", "text"), _RIGHT.values(), ids=_RIGHT)
def test_nothing_is_found(rule: str, text: str, tmp_path: Path) -> None:
    assert not [each for each in found(text, tmp_path, rule) if each.startswith(rule)]


_WRONG = {
    "every environment": (
        "nigari:constant-condition",
        (
            'variable "a" {\n  type = number\n}\noutput "o" { value = var.a > 0 ? 1 : 2 }\n'
            '# FILE: environments.hcl\nenvironment "x" {\n  variables = { a = 1 }\n}\n'
            'environment "y" {\n  variables = { a = 2 }\n}\n'
        ),
        "main.tf:4",
    ),
    "literals through locals": (
        "nigari:constant-condition",
        'locals {\n  a = "x"\n  b = local.a == "y"\n}\noutput "o" { value = local.a == "x" ? 1 : 2 }\n',
        "main.tf:5",
    ),
    "number and string": (
        "nigari:type-comparison",
        'variable "a" {\n  type = number\n}\noutput "o" { value = var.a == "80" }\n',
        "main.tf:4",
    ),
    "through a resource and a local": (
        "nigari:implied-depends-on",
        (
            'resource "terraform_data" "a" {}\nlocals {\n  id = terraform_data.a.id\n}\n'
            'resource "terraform_data" "b" {\n  input = local.id\n}\nresource "terraform_data" "c" {\n'
            "  input = terraform_data.b.id\n  depends_on = [terraform_data.a]\n}\n"
        ),
        "main.tf:10",
    ),
    "position as a key": (
        "nigari:shifting-keys",
        (
            'variable "a" {\n  type = list(string)\n}\nresource "terraform_data" "b" {\n'
            "  for_each = { for i, v in var.a : i => v }\n}\n"
        ),
        "main.tf:5",
    ),
    "local that is no assertion": (
        "core:unused-local",
        "locals {\n  invalidated = 1\n}\n",
        "main.tf:2",
    ),
    "inverted bool": (
        "nigari:redundant-bool",
        'variable "a" {\n  type     = bool\n  nullable = false\n}\noutput "o" { value = var.a == false }\n',
        "main.tf:5",
    ),
    "branch of a source that is evaluated": (
        "nigari:unpinned-module",
        (
            'locals {\n  ref = "main"\n}\nmodule "a" {\n'
            '  source = "git::https://example.com/a.git?ref=${local.ref}"\n}\n'
        ),
        "main.tf:5",
    ),
    "module version": (
        "nigari:impossible-version",
        'module "a" {\n  source  = "example/a/aws"\n  version = ">= 2.0, < 1.5"\n}\n',
        "main.tf:3",
    ),
}


@pytest.mark.parametrize(("rule", "text", "place"), _WRONG.values(), ids=_WRONG)
def test_something_is_found(rule: str, text: str, place: str, tmp_path: Path) -> None:
    assert f"{rule} {place}" in found(text, tmp_path, rule)
