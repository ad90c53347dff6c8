"""Secrets are nowhere in what the page is told, wherever they were written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from nigari.cty.values import object_value, string
from nigari.explore.document import fleet_document
from nigari.explore.event_stream import reduced
from nigari.explore.secrets import Secrets
from nigari.fleet.units.graph_loader import survey
from nigari.lang.marks import SENSITIVE
from nigari.workspace.plugins.providers import InstalledProviders
from tests.cli.rich import Rich
from tests.explore.explored import explored, explored_plan, write
from tests.providers_found import find_provider

SECRET = "planted-7f3a91"
_VARIABLE = 'variable "p" {\n  sensitive = true\n}\n'


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {"main.tf": _VARIABLE, "terraform.tfvars": f'p = "{SECRET}"\n'}, id="a file of values"
        ),
        pytest.param(
            {"main.tf": f'variable "p" {{\n  sensitive = true\n  default = "{SECRET}"\n}}\n'},
            id="a default",
        ),
        pytest.param(
            {
                "main.tf": f'variable "p" {{\n  sensitive = true\n  default = "{SECRET}"\n}}\n',
                "terraform.tfvars": 'p = "another-planted"\n',
            },
            id="a default that is not used",
        ),
        pytest.param({"main.tf": f'locals {{\n  p = sensitive("{SECRET}")\n}}\n'}, id="a function"),
        pytest.param(
            {"main.tf": f'locals {{\n  p = {{ a = 1, b = sensitive("{SECRET}") }}\n}}\n'},
            id="a part of a value",
        ),
        pytest.param(
            {
                "main.tf": f'module "m" {{\n  source = "./m"\n  p = "{SECRET}"\n}}\n',
                "m/main.tf": _VARIABLE,
            },
            id="an argument of a module",
        ),
        pytest.param(
            {"main.tf": f'variable "p" {{\n  ephemeral = true\n  default = "{SECRET}"\n}}\n'},
            id="ephemeral",
        ),
        pytest.param(
            {
                "main.tf": _VARIABLE + 'output "o" {\n  value = nonsensitive(var.p)\n}\n',
                "terraform.tfvars": f'p = "{SECRET}"\n',
            },
            id="disclosed elsewhere",
        ),
        pytest.param(
            {
                "main.tf": _VARIABLE + "locals {\n  bad = tonumber(var.p)\n}\n",
                "terraform.tfvars": f'p = "{SECRET}"\n',
            },
            id="an error",
        ),
        pytest.param(
            {"main.tf": _VARIABLE, "terraform.tfvars": f"p = <<EOT\nfirst\n  {SECRET}\nEOT\n"},
            id="several lines",
        ),
        pytest.param(
            {
                "main.tf": _VARIABLE + 'variable "q" {}\n',
                "terraform.tfvars": f'q = 1\np = "{SECRET}"\n',
                "z.auto.tfvars": 'p = "another-planted"\n',
            },
            id="a file of values that another overrides",
        ),
        pytest.param(
            {
                "main.tf": _VARIABLE + 'variable "q" {}\n',
                "terraform.tfvars.json": f'{{"q": 1, "p": "{SECRET}"}}\n',
                "z.auto.tfvars": 'p = "another-planted"\n',
            },
            id="a file of values in JSON that another overrides",
        ),
        pytest.param(
            {
                "main.tf": 'module "m" {\n  source = "./m"\n  p = { a = "another-planted" }\n}\n',
                "m/main.tf": 'variable "p" {\n  sensitive = true\n'
                f'  type = object({{ a = optional(string, "{SECRET}") }})\n}}\n',
            },
            id="a default within a type",
        ),
        pytest.param(
            {
                "main.tf": 'resource "terraform_data" "a" {\n  provisioner "remote-exec" {\n'
                '    inline = ["x"]\n    connection {\n      host = "visible"\n'
                f'      bastion_password = "{SECRET}"\n    }}\n  }}\n}}\n'
            },
            id="a connection",
        ),
        pytest.param(
            {
                "main.tf.json": '{"resource": {"terraform_data": {"a": {"connection": '
                f'{{"host": "h", "password": "{SECRET}"}}}}}}}}}}'
            },
            id="a connection in JSON",
        ),
        pytest.param(
            {
                "main.tf": 'terraform {\n  encryption {\n    key_provider "pbkdf2" "k" {\n'
                f'      passphrase = "{SECRET}-and-some-more"\n    }}\n  }}\n}}\nlocals {{\n  a = 1\n}}\n'
            },
            id="state encryption",
        ),
        pytest.param(
            {"main.tf": f'module "m" {{\n  source = "git::https://u:{SECRET}@h/x.git"\n}}\n'},
            id="the source of a module",
        ),
        pytest.param(
            {
                "main.tf": 'data "terraform_remote_state" "a" {\n  backend = "http"\n'
                f'  config = {{\n    address = "x"\n    password = "{SECRET}"\n  }}\n}}\n'
            },
            id="a state of others",
        ),
        pytest.param(
            {
                "main.tf": 'terraform { backend "pg" { conn_str = "anotherplanted", x = '
                f'"{SECRET}" }} }}\n'
            },
            id="a backend whose syntax is broken",
        ),
        *(
            pytest.param(
                {
                    "main.tf": f"terraform {{\n  {block} {{\n{lines}  }}\n}}\nlocals {{\n  a = 1\n}}\n"
                },
                id=block,
            )
            for block, lines in (
                ('backend "http"', f'    address = "x"\n    password = "{SECRET}"\n'),
                ('backend "pg"', f'    conn_str = "postgres://u:{SECRET}@h/x"\n'),
                ('backend "s3"', f'    bucket = "x"\n    secret_key = "{SECRET}"\n'),
                (
                    'backend "s3"',
                    f'    assume_role_with_web_identity {{\n      web_identity_token = "{SECRET}"\n    }}\n',
                ),
                ("cloud", f'    organization = "x"\n    token = "{SECRET}"\n'),
            )
        ),
    ],
)
def test_a_planted_secret_is_nowhere(tmp_path: Path, files: Mapping[str, str]) -> None:
    text = explored(tmp_path, files).json()
    assert SECRET not in text
    assert "another-planted" not in text
    assert "anotherplanted" not in text


def test_what_a_secret_refers_to_can_be_read(tmp_path: Path) -> None:
    files = {
        "main.tf": _VARIABLE + 'module "m" {\n  source = "./m"\n  p = "${var.p}-x"\n}\n'
        'output "o" {\n  sensitive = true\n  value = { key = upper(var.p), n = 12 }\n}\n',
        "m/main.tf": _VARIABLE,
        "terraform.tfvars": f'p = "{SECRET}"\n',
    }
    texts = cast(Any, explored(tmp_path, files).data)["files"]
    text = next(each["text"] for each in texts if each["name"] == "main.tf")
    assert 'p = "${var.p}••"' in text
    assert "value = { ••• = upper(var.p), • = •• }" in text


def test_what_test_files_give_is_not_told(tmp_path: Path) -> None:
    tests = f'run "r" {{\n  variables {{\n    p = "{SECRET}"\n  }}\n}}\n'
    found = explored(tmp_path, {"main.tf": _VARIABLE, "tests/a.tftest.hcl": tests})
    assert SECRET not in found.secrets.scrubbed(f"It is {SECRET}.")
    said = {
        "@timestamp": "2026-01-01T00:00:00Z",
        "@testrun": "r",
        "type": "diagnostic",
        "diagnostic": {
            "severity": "error",
            "summary": "Assertion failed",
            "snippet": {"code": 'condition = output.o == "planted-otherwise"'},
            "origins": ["<- output.o = (sensitive value)"],
        },
    }
    event = reduced(json.dumps(said), found.secrets.scrubbed)
    assert event is not None
    assert event["code"] == f'condition = output.o == "{"•" * 17}"'


def test_the_states_of_units_have_no_passwords(tmp_path: Path) -> None:
    backend = (
        f'terraform {{\n  backend "http" {{\n    address = "http://u:{SECRET}@h/x"\n  }}\n}}\n'
    )
    write(tmp_path, {"a/main.tf": backend, "fleet.hcl": 'unit "a" {\n  directory = "a"\n}\n'})
    text = fleet_document(survey(str(tmp_path), {}), {}).json()
    assert "http backend" in text
    assert SECRET not in text


def test_a_secret_of_a_plan_is_nowhere(tmp_path: Path) -> None:
    # The output of this resource has the secret in it without being sensitive.
    def files(secret: str) -> dict[str, str]:
        return {
            "main.tf": _VARIABLE
            + 'resource "terraform_data" "a" {\n  input = { x = 1, p = var.p }\n}\n'
            + 'output "o" {\n  value = terraform_data.a.input\n  sensitive = true\n}\n',
            "terraform.tfvars": f'p = "{secret}"\n',
        }

    text = explored_plan(tmp_path, files(SECRET), files("planted-before")).json()
    assert "planted" not in text


def test_positions_stay_where_they_are() -> None:
    secrets = Secrets()
    secrets.note(object_value({"p": string("sécret🧊!").mark(SENSITIVE)}))
    source = 'a = "sécret🧊!" # b'
    masked = secrets.masked("main.tf", source.encode())
    assert masked == 'a = "•••••••••" # b'
    assert len(masked) == len(source.encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("secret", "text", "scrubbed"),
    [
        ("hunter2", "the hunter2 password", "the ••••••• password"),
        ("abc", 'x = "abc" + abcdef', 'x = "•••" + abcdef'),
        ("ab", 'x = "ab"', 'x = "ab"'),
        ('quo"ted', r'["quo\"ted"]', '["••••••••"]'),
        ("hunter2", "http://me:word@h/ and a:b@c", "http://•••••••@h/ and a:b@c"),
        ("hunter2", "git::https://h/x?ref=1&sshkey=AbC", "git::https://h/x?ref=1&sshkey=•••"),
        ("hunter2", "https://me:${var.token}@h", "https://me:${var.token}@h"),
    ],
)
def test_a_text_is_scrubbed(secret: str, text: str, scrubbed: str) -> None:
    secrets = Secrets()
    secrets.note(string(secret).mark(SENSITIVE))
    assert secrets.scrubbed(text) == scrubbed


def test_many_secrets_are_found() -> None:
    secrets = Secrets()
    for number in range(2000):
        secrets.note(string(f"secret-{number:05}").mark(SENSITIVE))
    texts = [f"value {number} secret-{number:05}" for number in range(2000)]
    assert not any("secret" in each for each in secrets.scrubbed_all(texts))


@pytest.mark.parametrize(
    "written",
    [
        f'hush = "{SECRET}"',
        f'hush_map = {{ a = "{SECRET}" }}',
        f'written = "{SECRET}"',
        f'row {{\n    hush = "{SECRET}"\n  }}',
        f'dynamic "row" {{\n    for_each = [1]\n    content {{\n      hush = "{SECRET}"\n    }}\n  }}',
    ],
)
def test_a_schema_says_what_is_sensitive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    find_provider(monkeypatch, Rich)
    monkeypatch.setattr(InstalledProviders, "is_attached", lambda *_: True)
    text = f'resource "rich_thing" "a" {{\n  name = "visible"\n  {written}\n}}\n'
    found = explored(tmp_path, {"main.tf": text}).json()
    assert "visible" in found
    assert SECRET not in found
