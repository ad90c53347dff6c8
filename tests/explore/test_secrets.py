"""Secrets are nowhere in what the page is told, wherever they were written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari.cty.values import object_value, string
from nigari.explore.secrets import Secrets
from nigari.lang.marks import SENSITIVE
from nigari.workspace.plugins.providers import InstalledProviders
from tests.cli.rich import Rich
from tests.explore.explored import explored, explored_plan
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
    ],
)
def test_a_planted_secret_is_nowhere(tmp_path: Path, files: Mapping[str, str]) -> None:
    text = explored(tmp_path, files).json()
    assert SECRET not in text
    assert "another-planted" not in text


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
