"""A configuration as Python programs see it."""

from __future__ import annotations

from pathlib import Path

import pytest

import nigari
from nigari.cty.errors import CtyError
from nigari.lang.files import DiskFiles
from nigari.lang.functions.table import function_table

CONFIGURATION = {
    "main.tf": """\
variable "env" {
  default = "prod"
}
variable "key" {
  type = number
}
resource "terraform_data" "x" {
  count = 2
  input = "${var.env}-${count.index}"
  provisioner "local-exec" {
    command = "echo ${var.env}"
  }
}
module "m" {
  source = "./m"
  name   = upper(var.env)
}
output "id" {
  value = terraform_data.x[0].id
}
""",
    "m/main.tf": 'variable "name" {}\ndata "aws_ami" "a" {\n  owners = [var.name]\n  filter {\n'
    '    name = "x-${var.name}"\n  }\n}\n',
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in CONFIGURATION.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_variables_have_their_values(directory: Path) -> None:
    root = nigari.load(directory, {"key": "5"}).root
    assert {name: each.to_python() for name, each in root.variables.items()} == {
        "env": "prod",
        "key": 5,
    }


def test_what_is_not_known_says_why(directory: Path) -> None:
    root = nigari.load(directory).root
    key = root.variables["key"]
    assert not key.is_known
    assert key.reasons == ["var.key, which has no value"]
    with pytest.raises(CtyError):
        key.to_python()
    assert root.outputs["id"].reasons == [
        "output.id ← terraform_data.x, which is known only after plan or apply"
    ]


def test_resources_are_told_by_what_is_written(directory: Path) -> None:
    configuration = nigari.load(directory)
    resource = configuration.root.resources["terraform_data.x"]
    assert (resource.address, resource.mode, resource.type) == (
        "terraform_data.x",
        "resource",
        "terraform_data",
    )
    assert not resource.arguments["input"].is_known
    (module,) = configuration.root.children
    data = module.resources["data.aws_ami.a"]
    assert data.address == "module.m.data.aws_ami.a"
    assert data.arguments["owners"].to_python() == ["PROD"]
    (block,) = data.blocks
    assert (block.type, block.arguments["name"].to_python()) == ("filter", "x-PROD")
    assert data.range.start.line == 2


def test_modules_in_order(directory: Path) -> None:
    configuration = nigari.load(directory)
    found = [(each.address, each.directory, each.files) for each in configuration.modules()]
    assert found == [("", ".", ("main.tf",)), ("module.m", "m", ("m/main.tf",))]
    assert configuration.path == str(directory)


def test_mistakes_are_diagnostics(directory: Path) -> None:
    (directory / "more.tf").write_text("locals {\n  a = local.nope\n}\n")
    configuration = nigari.load(directory, {"nope": 1})
    assert [each.summary for each in configuration.diagnostics] == [
        "Value for an undeclared variable"
    ]
    assert not configuration.root.locals["a"].is_known
    assert [each.summary for each in configuration.diagnostics.in_order()] == [
        "Value for an undeclared variable",
        "Reference to undeclared local value",
    ]


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        nigari.load(tmp_path / "nowhere")


def test_instances_have_their_own_values(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text('variable "v" {}\n')
    (tmp_path / "main.tf").write_text(
        'module "m" {\n  source = "./m"\n  for_each = { a = 1, b = 2 }\n  v = each.value\n}\n'
        'resource "terraform_data" "x" {\n  count = 2\n  input = count.index\n}\n'
        'resource "terraform_data" "none" {\n  count = 0\n  input = [][0]\n}\n'
    )
    configuration = nigari.load(tmp_path)
    modules = {each.address: each for each in configuration.modules()}
    assert list(modules) == ["", 'module.m["a"]', 'module.m["b"]']
    assert modules['module.m["b"]'].variables["v"].to_python() == 2
    resources = configuration.root.resources
    found = resources["terraform_data.x"].instances
    assert [each.address for each in found.values()] == [
        "terraform_data.x[0]",
        "terraform_data.x[1]",
    ]
    assert found[1].arguments["input"].to_python() == 1
    assert not resources["terraform_data.none"].instances
    missing = resources["terraform_data.none"].arguments["input"]
    assert missing.reasons == [
        "terraform_data.none.input ← terraform_data.none, which has no instances"
    ]
    assert not configuration.diagnostics


def test_reasons_of_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text("locals {\n  a = [][0]\n  b = local.a\n}\n")
    configuration = nigari.load(tmp_path)
    assert configuration.root.locals["b"].reasons == [
        "local.b ← local.a ← an error, which has been reported"
    ]


UNKNOWNS = ("var.u", "var.s", "var.l", "[var.u]", "{ a = var.s }")
FORMS = (
    "{0} ? 1 : 2",
    'true ? {0} : "x"',
    "[for x in {0} : x]",
    "[for x in [1] : x if {0}]",
    "{{ for k in [1] : {0} => k }}",
    "{0}[*]",
    "[1, 2][{0}]",
    '"a${{{0}}}"',
    '"%{{ for x in {0} }}a%{{ endfor }}"',
    "{0} == 1",
    "try({0}, 1)",
)


def calls_of(name: str, positions: int) -> list[str]:
    return [
        f"{name}({', '.join([*[other] * at, given, *[other] * (count - at - 1)])})"
        for count in range(1, positions + 1)
        for at in range(count)
        for given in UNKNOWNS
        for other in ('"x"', '["a"]')
    ]


def test_whatever_is_unknown_has_a_reason(tmp_path: Path) -> None:
    """Through every function at every argument, and every form of expression."""
    expressions = [form.format(given) for form in FORMS for given in UNKNOWNS]
    for name, function in function_table(DiskFiles(), ".").items():
        positions = max(1, len(function.parameters) + (function.variadic is not None))
        expressions += calls_of(name, positions) if "::" not in name else ()
    locals_ = "".join(f"  l{i} = {each}\n" for i, each in enumerate(expressions))
    (tmp_path / "main.tf").write_text(
        'variable "u" {}\nvariable "s" {\n  type = string\n}\n'
        f'variable "l" {{\n  type = list(string)\n}}\nlocals {{\n{locals_}}}\n'
    )
    found = nigari.load(tmp_path, usual=False).root.locals.values()
    unknown = [each for each in found if not each.is_known]
    assert len(unknown) > len(expressions) / 2
    assert [each.expr for each in unknown if not each.reasons] == []


def test_an_argument_of_a_repeated_block_differs(directory: Path) -> None:
    block = nigari.load(directory).root.resources["terraform_data.x"]
    assert block.arguments["input"].reasons == [
        "terraform_data.x.input ← count.index, which is different in each instance"
    ]
    assert block.repetition is not None
    assert block.repetition.to_python() == 2


WHOLE = {
    "main.tf": """\
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= ${local.major}"
    }
  }
  backend "s3" {
    bucket = "state-${var.env}"
    assume_role {
      role_arn = var.none
    }
  }
}
locals {
  major   = 5
  regions = toset(["eu", "us"])
}
variable "env" {
  type        = string
  description = "The environment."
  default     = "dev"
  sensitive   = false
  validation {
    condition     = length(var.env) > 2
    error_message = "Too short: ${var.env}"
  }
}
variable "none" {
  type      = object({ a = optional(string) })
  sensitive = true
}
provider "aws" {
  alias    = "by_region"
  for_each = local.regions
  region   = each.key
}
module "local" {
  source    = "./m"
  for_each  = local.regions
  name      = "${var.env}-${each.key}"
  providers = { aws = aws.by_region[each.key], aws.other = aws.by_region["eu"] }
}
module "git" {
  source   = "git::https://example.com/${each.key}.git?ref=${var.env}"
  for_each = local.regions
}
module "registry" {
  source  = "ns/name/aws"
  version = "~> ${local.major}.0"
}
resource "aws_security_group" "x" {
  dynamic "ingress" {
    for_each = [80, 443]
    content {
      port = ingress.value
      name = var.env
    }
  }
  dynamic "egress" {
    for_each = [80]
    iterator = it
    content {
      port = it.value
    }
  }
}
output "name" {
  value       = module.local["eu"].upper
  description = "A name."
  sensitive   = true
}
""",
    "m/main.tf": """\
terraform {
  required_providers {
    aws = {
      source                = "hashicorp/aws"
      configuration_aliases = [aws.other]
    }
  }
}
variable "name" {}
output "upper" {
  value = upper(var.name)
}
""",
    "terraform.tfvars": 'env = "prod"\n',
}


@pytest.fixture
def whole(tmp_path: Path) -> nigari.Configuration:
    for name, text in WHOLE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return nigari.load(tmp_path, environ={})


class TestWhole:
    def test_calls(self, whole: nigari.Configuration) -> None:
        calls = whole.root.calls
        assert list(calls) == ["local", "git", "registry"]
        registry = calls["registry"]
        assert registry.version is not None
        assert (registry.source.to_python(), registry.version.to_python()) == (
            "ns/name/aws",
            "~> 5.0",
        )
        assert (registry.module, registry.range.start.line) == (None, 48)
        assert calls["git"].source.reasons == [
            "module.git.source ← each.key, which is different in each instance"
        ]
        found = {key: each.source.to_python() for key, each in calls["git"].instances.items()}
        assert found == {
            "eu": "git::https://example.com/eu.git?ref=prod",
            "us": "git::https://example.com/us.git?ref=prod",
        }
        local = calls["local"].instances["us"]
        assert (local.address, local.arguments["name"].to_python()) == (
            'module.local["us"]',
            "prod-us",
        )
        assert local.module is not None
        assert local.module == whole.root.children[1]
        assert local.module.outputs["upper"].to_python() == "PROD-US"
        assert local.providers == {
            "aws": "aws.by_region[each.key]",
            "aws.other": 'aws.by_region["eu"]',
        }

    def test_declarations(self, whole: nigari.Configuration) -> None:
        env, none = whole.root.variables.values()
        assert (str(env.type), env.description, env.giver) == (
            "string",
            "The environment.",
            "terraform.tfvars",
        )
        assert env.default is not None
        assert env.default.to_python() == "dev"
        (rule,) = env.validations
        assert (rule.condition.expr, rule.condition.to_python()) == ("length(var.env) > 2", True)
        assert rule.error_message.to_python() == "Too short: prod"
        assert (none.default, none.giver, none.is_sensitive, env.is_sensitive) == (
            None,
            "none",
            True,
            False,
        )
        output = whole.root.outputs["name"]
        assert (output.description, output.is_sensitive) == ("A name.", True)
        assert output.range is not None
        assert output.range.start.line == 68

    def test_providers(self, whole: nigari.Configuration) -> None:
        (block,) = whole.root.providers.values()
        assert (block.name, block.alias, block.provider) == (
            "aws",
            "by_region",
            "registry.opentofu.org/hashicorp/aws",
        )
        regions = {key: each.arguments["region"] for key, each in block.instances.items()}
        assert [each.to_python() for each in regions.values()] == ["eu", "us"]
        assert block.arguments["region"].reasons == [
            "provider.aws.by_region.region ← each.key, which is different in each instance"
        ]
        child = whole.root.children[1]
        passed = child.providers["aws"]
        assert (passed.address, passed.passed) == ("aws", "aws.by_region[each.key]")
        assert passed.arguments["region"].to_python() == "us"
        assert child.providers["aws.other"].arguments["region"].to_python() == "eu"

    def test_required_providers(self, whole: nigari.Configuration) -> None:
        required = whole.root.required_providers["aws"]
        assert required.source == "registry.opentofu.org/hashicorp/aws"
        assert required.version is not None
        assert required.version.to_python() == ">= 5"
        assert whole.root.children[0].required_providers["aws"].aliases == ("aws.other",)

    def test_backend(self, whole: nigari.Configuration) -> None:
        backend = whole.backend
        assert backend is not None
        assert (backend.type, backend.arguments["bucket"].to_python()) == ("s3", "state-prod")
        (block,) = backend.blocks
        assert block.arguments["role_arn"].reasons == [
            "backend.assume_role.role_arn ← var.none, which has no value"
        ]

    def test_dynamic_blocks_are_shown_as_they_are_written(
        self, whole: nigari.Configuration
    ) -> None:
        before = len(whole.diagnostics)
        ingress, egress = whole.root.resources["aws_security_group.x"].blocks
        assert (ingress.type, ingress.labels) == ("dynamic", ("ingress",))
        assert ingress.arguments["for_each"].to_python() == [80, 443]
        (content,) = ingress.blocks
        assert content.arguments["name"].to_python() == "prod"
        (reason,) = content.arguments["port"].reasons
        assert reason.endswith(".port ← ingress.value, which is different in each instance")
        assert list(egress.arguments) == ["for_each"]
        assert not egress.blocks[0].arguments["port"].is_known
        assert len(whole.diagnostics) == before

    def test_what_a_value_comes_from(self, whole: nigari.Configuration) -> None:
        source = whole.root.calls["git"].instances["eu"].source
        assert source.expr == '"git::https://example.com/${each.key}.git?ref=${var.env}"'
        assert [str(each) for each in source.references] == ["each.key", "var.env"]
        places = {each.name: (each.giver, str(each.range)) for each in source.origins}
        assert places == {
            "var.env": ("terraform.tfvars", "terraform.tfvars:1,7-13"),
            "local.regions": ("", "main.tf:17,13-32"),
        }
        assert str(source.explain()).splitlines()[:3] == [
            'module.git["eu"].source = "git::https://example.com/eu.git?ref=prod"',
            "  known before anything runs",
            f"  main.tf line 45: source   = {source.expr}",
        ]

    def test_explaining_and_evaluating(self, whole: nigari.Configuration) -> None:
        before = list(whole.diagnostics)
        known = whole.explain('module.local["eu"].var.name')
        assert (known.value.to_python(), known.phase) == ("prod-eu", "static")
        assert [each.name for each in known.parts] == ["var.env", "each.key"]
        assert (
            whole.evaluate("upper(var.name)", 'module.local["eu"]').value.to_python() == "PROD-EU"
        )
        for wrong in ("local.nope", "1 +", "module.nope.x"):
            with pytest.raises(nigari.SessionError) as failure:
                whole.evaluate(wrong)
            assert "<expression> line 1" in str(failure.value)
        with pytest.raises(nigari.SessionError, match=r'\["eu"\] and \["us"\]'):
            whole.explain('module.local["asia"].var.name')
        assert list(whole.diagnostics) == before

    def test_errors_are_raised(self, whole: nigari.Configuration) -> None:
        with pytest.raises(nigari.SessionError) as failure:
            whole.raise_for_errors()
        assert {each.summary for each in failure.value.errors} == {"Module not installed"}
        assert 'source  = "ns/name/aws"' in str(failure.value)


def test_validating(tmp_path: Path) -> None:
    text = 'resource "terraform_data" "x" {\n  inptu = 1\n}\n'
    (tmp_path / "main.tf").write_text(text)
    configuration = nigari.load(tmp_path)
    configuration.raise_for_errors()
    assert [each.summary for each in configuration.validate()] == ["Unexpected argument"]
    (tmp_path / "main.tf").write_text(text.replace("inptu", "input"))
    assert nigari.load(tmp_path).validate() == ()


@pytest.mark.parametrize(
    ("count", "reason"),
    [
        ("0", "module.m.v ← module.m, which has no instances"),
        ("2", "module.m.v ← count.index, which is different in each instance"),
        ('"x"', "module.m.v ← an error, which has been reported"),
        ("var.n", "module.m.v ← count.index ← var.n, which has no value"),
    ],
)
def test_why_an_argument_of_a_repeated_call_has_no_value(
    tmp_path: Path, count: str, reason: str
) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text('variable "v" {}\n')
    (tmp_path / "main.tf").write_text(
        f'variable "n" {{}}\nmodule "m" {{\n  source = "./m"\n  count = {count}\n'
        "  v = count.index\n}\n"
    )
    call = nigari.load(tmp_path, usual=False).root.calls["m"]
    assert call.arguments["v"].reasons == [reason]
    assert call.source.to_python() == "./m"


@pytest.mark.parametrize(
    ("repetition", "value"), [("count = 2", "count.index"), ('for_each = toset(["x"])', "each.key")]
)
def test_a_value_of_a_repeated_call_without_a_key(
    tmp_path: Path, repetition: str, value: str
) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text('variable "v" {}\noutput "o" {\n  value = var.v\n}\n')
    (tmp_path / "main.tf").write_text(
        f'module "m" {{\n  source = "./m"\n  {repetition}\n  v = {value}\n}}\n'
    )
    found = nigari.load(tmp_path, usual=False).explain("module.m.o")
    assert found.chains == ("module.m.o ← module.m, whose instances may differ",)


def test_who_gives_a_variable_that_is_not_const_its_value(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text(
        'variable "a" {\n  const = false\n}\nvariable "b" {\n  const = false\n  default = 1\n}\n'
    )
    (tmp_path / "main.tf").write_text('module "m" {\n  source = "./m"\n  a = 1\n}\n')
    (module,) = nigari.load(tmp_path, usual=False).root.children
    assert [each.giver for each in module.variables.values()] == ["argument", "default"]


def test_modules_that_are_not_installed_are_explained(whole: nigari.Configuration) -> None:
    known = whole.explain('module.git["us"].source')
    assert known.value.to_python() == "git::https://example.com/us.git?ref=prod"
    assert whole.explain("module.git.source").chains == (
        "module.git.source ← each.key, which is different in each instance",
    )
    with pytest.raises(nigari.SessionError, match=r'\["eu"\] and \["us"\]'):
        whole.explain('module.git["asia"].source')
