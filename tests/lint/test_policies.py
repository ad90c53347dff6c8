"""The policies in `examples/policies`: what each forbids, and what it allows."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

import nigari
from nigari.lint.python_rules import ConfigurationRule, PlanRule, Violation
from tests.lint.documented import write_files

POLICIES: Final = Path(__file__).parents[2] / "examples" / "policies"


def _loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"policies_{name}", POLICIES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_MODULES: Final = [_loaded(each) for each in ("resources", "structure", "changes")]
_EVERYTHING: Final = [each for module in _MODULES for each in vars(module).values()]
CONFIGURATION: Final = {
    each.id: each for each in _EVERYTHING if isinstance(each, ConfigurationRule)
}
PLAN: Final = {each.id: each for each in _EVERYTHING if isinstance(each, PlanRule)}

_TAGS: Final = 'tags = { owner = "a", "cost-centre" = "b" }'
_TABLE: Final[Mapping[str, tuple[str, str]]] = {
    # What is forbidden comes through locals, for_each and modules.
    "acme:required-tags": (
        (
            'locals {\n  all = { a = { owner = "x" }, b = {} }\n}\n'
            'resource "aws_s3_bucket" "b" {\n  for_each = local.all\n  tags = each.value\n}\n'
        ),
        (
            f'resource "aws_s3_bucket" "b" {{\n  {_TAGS}\n}}\n'
            'variable "tags" {\n  type = map(string)\n}\n'
            'resource "aws_s3_bucket" "c" {\n  tags = var.tags\n}\n'
        ),
    ),
    "acme:public-bucket": (
        (
            'module "m" {\n  source = "./m"\n  acl = "public-read"\n}\n'
            '# FILE: m/main.tf\nvariable "acl" {\n  type = string\n}\n'
            'resource "aws_s3_bucket_acl" "b" {\n  acl = var.acl\n}\n'
        ),
        'resource "aws_s3_bucket_acl" "b" {\n  acl = "private"\n}\n',
    ),
    "acme:open-admin-port": (
        (
            'locals {\n  anywhere = "0.0.0.0/0"\n}\nresource "aws_security_group" "g" {\n  ingress {\n'
            "    from_port   = 0\n    to_port     = 1000\n    cidr_blocks = [local.anywhere]\n  }\n}\n"
        ),
        (
            'resource "aws_security_group_rule" "g" {\n  type = "ingress"\n  from_port   = 443\n'
            '  to_port     = 443\n  cidr_blocks = ["0.0.0.0/0"]\n}\n'
        ),
    ),
    "acme:unencrypted-storage": (
        'resource "aws_ebs_volume" "v" {\n  encrypted = !true\n}\n',
        (
            'resource "aws_ebs_volume" "v" {\n  encrypted = true\n}\n'
            'variable "e" {\n  type = bool\n}\nresource "aws_db_instance" "d" {\n'
            "  storage_encrypted = var.e\n}\n"
        ),
    ),
    "acme:public-database": (
        'resource "aws_db_instance" "d" {\n  publicly_accessible = true\n}\n',
        'resource "aws_db_instance" "d" {}\n',
    ),
    "acme:deletion-protection": (
        'resource "aws_db_instance" "d" {}\n',
        'resource "aws_db_instance" "d" {\n  deletion_protection = true\n}\n',
    ),
    "acme:instance-type": (
        (
            'locals {\n  sizes = { a = "t3.micro", b = "p4d.24xlarge" }\n}\n'
            'resource "aws_instance" "i" {\n  for_each = local.sizes\n  instance_type = each.value\n}\n'
        ),
        'resource "aws_instance" "i" {\n  instance_type = "t3.small"\n}\n',
    ),
    "acme:metadata-tokens": (
        'resource "aws_instance" "i" {}\n',
        'resource "aws_instance" "i" {\n  metadata_options {\n    http_tokens = "required"\n  }\n}\n',
    ),
    "acme:log-retention": (
        'resource "aws_cloudwatch_log_group" "g" {\n  retention_in_days = 7\n}\n',
        (
            'resource "aws_cloudwatch_log_group" "g" {\n  retention_in_days = 365\n}\n'
            'resource "aws_cloudwatch_log_group" "h" {}\n'
        ),
    ),
    "acme:wildcard-policy": (
        (
            'resource "aws_iam_policy" "p" {\n  policy = jsonencode({ Statement = [{\n'
            '    Effect = "Allow", Action = "*", Resource = "*" }] })\n}\n'
        ),
        (
            'resource "aws_iam_policy" "p" {\n  policy = jsonencode({ Statement = [{\n'
            '    Effect = "Allow", Action = "s3:Get*", Resource = "*" }] })\n}\n'
            'resource "aws_iam_policy" "q" {\n  policy = terraform_data.x.output\n}\n'
            'resource "terraform_data" "x" {}\n'
        ),
    ),
    "acme:image-tag": (
        'resource "docker_image" "i" {\n  name = "nginx:latest"\n}\n',
        'resource "docker_image" "i" {\n  name = "nginx:1.27"\n}\n',
    ),
    "acme:region": (
        'provider "aws" {\n  region = "us-east-1"\n}\n',
        'locals {\n  region = "eu-west-1"\n}\nprovider "aws" {\n  region = local.region\n}\n',
    ),
    "acme:module-source": (
        'module "m" {\n  source  = "stranger/thing/aws"\n  version = "1.0.0"\n}\n',
        'module "m" {\n  source = "./m"\n}\n# FILE: m/main.tf\n',
    ),
    "acme:remote-state": (
        'terraform {\n  backend "local" {}\n}\n',
        'terraform {\n  backend "s3" {\n    bucket = "b"\n  }\n}\n',
    ),
    "acme:forbidden-type": (
        'resource "aws_iam_user" "u" {}\n',
        'resource "aws_iam_role" "r" {}\n',
    ),
    "acme:small-modules": (
        "".join(f'resource "terraform_data" "r{number}" {{}}\n' for number in range(51)),
        'resource "terraform_data" "r" {}\n',
    ),
}


def test_there_are_twenty_policies() -> None:
    assert set(_TABLE) == set(CONFIGURATION)
    assert len(CONFIGURATION) + len(PLAN) >= 20


@pytest.mark.parametrize("name", _TABLE)
def test_a_policy_for_configurations(name: str, tmp_path: Path) -> None:
    for text, is_right in zip(_TABLE[name], (False, True), strict=True):
        place = tmp_path / str(is_right)
        place.mkdir()
        write_files(text, place)
        found = CONFIGURATION[name](nigari.load(place, usual=False))
        assert bool(found) is not is_right, found


def test_every_instance_is_looked_at(tmp_path: Path) -> None:
    write_files(_TABLE["acme:instance-type"][0], tmp_path)
    (found,) = CONFIGURATION["acme:instance-type"](nigari.load(tmp_path, usual=False))
    assert 'aws_instance.i["b"]' in found.detail


_DATABASES: Final = 'resource "terraform_data" "database" {\n  triggers_replace = ["%s"]\n}\n'
_MANY: Final = 'resource "terraform_data" "x" {\n  count = %d\n}\n'


@pytest.mark.parametrize(
    ("name", "before", "after", "count"),
    [
        ("acme:protected-objects", _DATABASES % "a", _DATABASES % "b", 1),
        ("acme:protected-objects", _DATABASES % "a", "", 1),
        ("acme:protected-objects", "", _DATABASES % "a", 0),
        ("acme:many-destroys", _MANY % 5, _MANY % 1, 1),
        ("acme:many-destroys", _MANY % 5, _MANY % 2, 0),
        ("acme:known-providers", "", _MANY % 2, 0),
        ("acme:nothing-deferred", "", _MANY % 2, 0),
        ("acme:stable-outputs", 'output "o" { value = 1 }\n', 'output "o" { value = null }\n', 1),
        ("acme:stable-outputs", 'output "o" { value = 1 }\n', 'output "o" { value = 2 }\n', 0),
    ],
)
def test_a_policy_for_plans(name: str, before: str, after: str, count: int, tmp_path: Path) -> None:
    found: tuple[Violation, ...] = ()
    for text in (before, after):
        (tmp_path / "main.tf").write_text(text)
        session = nigari.open(tmp_path, environ={})
        session.init()
        plan = session.plan()
        found = PLAN[name](plan)
        if text is before:
            session.apply(plan)
    assert len(found) == count, found


def test_a_provider_that_is_not_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_MODULES[2], "PROVIDERS", ())
    (tmp_path / "main.tf").write_text(_MANY % 2)
    session = nigari.open(tmp_path, environ={})
    session.init()
    found = PLAN["acme:known-providers"](session.plan())
    assert [each.address for each in found] == ["terraform_data.x[0]", "terraform_data.x[1]"]


def test_something_that_is_deferred(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'resource "terraform_data" "a" {\n  input = 1\n}\n'
        'resource "terraform_data" "b" {\n  count = terraform_data.a.output\n}\n'
    )
    session = nigari.open(tmp_path, environ={})
    session.init()
    (found,) = PLAN["acme:nothing-deferred"](session.plan(allow_deferral=True))
    assert "terraform_data.a" in found.detail
