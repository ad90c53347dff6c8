"""Source files as diagnostics quote them."""

import json

import pytest

from nigari.workspace.context.shown_sources import ShownSources

S = "hidden-7"
"""What must not be quoted."""

_HIDDEN = {
    "a backend": f'terraform {{\n  backend "pg" {{\n    conn_str = "{S}"\n    other = "{S}"\n  }}\n}}',
    "a block in a backend": (
        f'terraform {{\n  backend "kubernetes" {{\n    exec {{\n      args = ["{S}"]\n    }}\n  }}\n}}'
    ),
    "headers": f'terraform {{\n  backend "http" {{\n    headers = {{ X = "{S}" }}\n  }}\n}}',
    "a cloud block": f'terraform {{\n  cloud {{\n    token = "{S}"\n  }}\n}}',
    "a key provider": f'terraform {{\n  encryption {{\n    key_provider "x" "y" {{\n      a = "{S}"\n    }}\n  }}\n}}',
    "a remote state": f'data "terraform_remote_state" "a" {{\n  config = {{ conn_str = "{S}" }}\n}}',
    "a provider": f'provider "x" {{\n  api_key = "{S}"\n}}',
    "a nested object": f'resource "a" "b" {{\n  env = merge({{ DB_PASSWORD = "{S}" }}, {{}})\n}}',
    "a list of objects": f'resource "a" "b" {{\n  env = [{{ name = 1, authToken = "{S}" }}]\n}}',
    "a connection": f'resource "a" "b" {{\n  connection {{\n    password = "{S}"\n  }}\n}}',
    "a default": f'variable "v" {{\n  sensitive = true\n  default = {{ a = "{S}" }}\n}}',
    "a heredoc": f'provider "x" {{\n  token = <<E\n{S}\nE\n}}',
    "a template": f'provider "x" {{\n  token = "{S}-${{var.a}}-{S}"\n}}',
    "a URL": f'module "a" {{\n  source = "git::https://u:{S}@h/x?token={S}"\n}}',
    "one line": f'terraform {{ backend "pg" {{ conn_str = "{S}", more = "{S}" }} }}',
    "an open string": f'terraform {{\n  backend "pg" {{\n    more = "{S}\n  }}\n}}',
    "an open block": f'terraform {{\n  backend "pg" {{\n    more = "{S}"\n',
}


@pytest.mark.parametrize("name", _HIDDEN)
def test_secrets_are_masked_in_place(name: str) -> None:
    data = _HIDDEN[name].encode()
    shown = ShownSources({"main.tf": data}).get("main.tf")
    assert shown is not None
    assert S.encode() not in shown
    assert len(shown) == len(data)
    assert [len(each) for each in shown.split(b"\n")] == [len(each) for each in data.split(b"\n")]


@pytest.mark.parametrize(
    "text",
    [
        'terraform {\n  backend "s3" {\n    bucket = "b"\n    key = "k"\n    encrypt = true\n  }\n}',
        'terraform {\n  backend "pg" {\n    conn_str = var.conn\n  }\n}',
        'terraform {\n  cloud {\n    workspaces {\n      name = "w"\n    }\n  }\n}',
        'provider "x" {\n  token  = var.token\n  region = "eu"\n}',
        'resource "vault_token" "token" {\n  name = "a"\n}',
        'module "a" {\n  source = "git::https://h/x?ref=v1"\n}',
        'module "a" {\n  source = "git::https://u:${var.p}@h/x?token=${var.t}"\n}',
        'variable "v" {\n  default = "shown"\n}',
        "",
    ],
)
def test_everything_else_stays(text: str) -> None:
    assert ShownSources({"main.tf": text.encode()}).get("main.tf") == text.encode()


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("a.tfvars", f'v = ["{S}"]\nw = "shown"', 'v = ["********"]\nw = "shown"'),
        ("a.tfvars", f'db_password = "{S}"', 'db_password = "********"'),
        ("a.tfvars.json", json.dumps({"v": S, "w": "x"}), '{"v": "********", "w": "x"}'),
        (
            "prod.tfbackend",
            f'conn_str = "{S}"\nbucket = "b"',
            'conn_str = "********"\nbucket = "b"',
        ),
        (
            "environments.hcl",
            f'environment "a" {{\n  variables = {{ v = "{S}", password = "{S}", w = "x" }}\n}}',
            'environment "a" {\n  variables = { v = "********", password = "********", w = "x" }\n}',
        ),
        (
            "environments.hcl",
            f'environment "a" {{\n  backend = {{ key = "k", conn_str = "{S}" }}\n}}',
            'environment "a" {\n  backend = { key = "k", conn_str = "********" }\n}',
        ),
        (
            "fleet.hcl",
            f'unit "a" {{\n  backend_config = {{ key = "k", other = "{S}" }} x\n}}',
            'unit "a" {\n  backend_config = { key = "k", other = "********" } x\n}',
        ),
        (
            "more.tf.json",
            json.dumps({"terraform": {"backend": {"s3": {"bucket": "b", "x": S}}}}),
            '{"terraform": {"backend": {"s3": {"bucket": "b", "x": "********"}}}}',
        ),
        (
            "tests/a.tftest.hcl",
            f'variables {{\n  v = "{S}"\n}}',
            'variables {\n  v = "********"\n}',
        ),
        ("a.tfvars", f"\0GITCRYPT {S}", "********* ********"),
    ],
)
def test_other_files(name: str, text: str, shown: str) -> None:
    sources = {"main.tf": b'variable "v" {\n  sensitive = true\n}\n', name: text.encode()}
    found = ShownSources(sources).get(name)
    assert found is not None
    assert found.decode() == shown


def test_positions_stay_in_other_encodings() -> None:
    data = f'# é🧊\nprovider "x" {{\n  token = "é{S}" # ü\n}}\n'.encode() + b"# \xff\n"
    shown = ShownSources({"main.tf": b"\xef\xbb\xbf" + data}).get("main.tf")
    assert shown == b"\xef\xbb\xbf" + data.replace(f"é{S}".encode(), b"*" * 10)
