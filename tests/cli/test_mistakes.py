"""Mistakes that everybody makes once: where they are pointed at, and what to do about them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.init_world import write
from tests.cli.process import inside

SELF = "depends on itself"
ROWS: dict[str, tuple[dict[str, str], tuple[str, int, int], str]] = {
    "a resource that uses its own result": (
        {"main.tf": 'resource "terraform_data" "a" {\n  input = [terraform_data.a.id]\n}\n'},
        ("main.tf", 2, 12),
        f"terraform_data.a {SELF}",
    ),
    "an instance that uses another one of the same block": (
        {
            "main.tf": 'resource "terraform_data" "a" {\n  count = 2\n'
            "  input = terraform_data.a[0].id\n}\n"
        },
        ("main.tf", 3, 11),
        f"terraform_data.a {SELF}",
    ),
    "a count that counts itself": (
        {"main.tf": 'resource "terraform_data" "a" {\n  count = length(terraform_data.a)\n}\n'},
        ("main.tf", 2, 18),
        f"terraform_data.a {SELF}",
    ),
    "a resource of a module that uses its own result": (
        {
            "main.tf": 'module "m" {\n  source = "./m"\n}\n',
            "m/main.tf": 'resource "terraform_data" "a" {\n  input = terraform_data.a.id\n}\n',
        },
        ("m/main.tf", 2, 11),
        f"terraform_data.a of module.m {SELF}",
    ),
    "a local value that uses itself": (
        {"main.tf": "locals {\n  a = local.a\n}\n"},
        ("main.tf", 2, 3),
        f"local.a {SELF}",
    ),
    "two resources that use each other": (
        {
            "main.tf": 'resource "terraform_data" "a" {\n  input = terraform_data.b.id\n}\n'
            'resource "terraform_data" "b" {\n  input = terraform_data.a.id\n}\n'
        },
        ("main.tf", 5, 11),
        "terraform_data.b → terraform_data.a → terraform_data.b",
    ),
    "a variable that is declared where it is set": (
        {
            "main.tf": 'variable "a" {}\n',
            "terraform.tfvars": '\nvariable "a" {\n  default = 1\n}\n',
        },
        ("terraform.tfvars", 2, 1),
        "move this block to a .tf file",
    ),
    "text without quotes": (
        {"main.tf": 'variable "a" {}\n', "terraform.tfvars": "a = west\n"},
        ("terraform.tfvars", 1, 5),
        "double quotes",
    ),
    "a type in quotes that there is not": (
        {"main.tf": 'variable "a" {\n  type = "strng"\n}\n'},
        ("main.tf", 2, 10),
        'Did you mean "string"?',
    ),
    "a type in quotes": (
        {"main.tf": 'variable "a" {\n  type = "list(string)"\n}\n'},
        ("main.tf", 2, 10),
        "Write list(string).",
    ),
    "an argument without an equals sign": (
        {"main.tf": 'resource "terraform_data" "a" {\n  input "x"\n}\n'},
        ("main.tf", 2, 12),
        "an equals sign after its name",
    ),
    "a brace of an object that is missing": (
        {"main.tf": "locals {\n  a = {\n    b = 1\n}\n"},
        ("main.tf", 1, 8),
        "something inside the block",
    ),
    "a variable that is not declared": (
        {"main.tf": 'output "a" {\n  value = var.nothing\n}\n'},
        ("main.tf", 2, 11),
        'add a variable "nothing" block',
    ),
    "a local value that is not declared": (
        {"main.tf": 'output "a" {\n  value = local.nothing\n}\n'},
        ("main.tf", 2, 11),
        "add it to a locals block",
    ),
    "an operator of another language": (
        {"main.tf": "locals {\n  a = true and false\n}\n"},
        ("main.tf", 2, 12),
        "use &&",
    ),
    "a path with backslashes": (
        {"main.tf": 'locals {\n  a = "C:\\path"\n}\n'},
        ("main.tf", 2, 10),
        "To include a backslash, write \\\\.",
    ),
    "two arguments on one line": (
        {"main.tf": "locals { a = 1 b = 2 }\n"},
        ("main.tf", 1, 16),
        "put each on a line of its own",
    ),
    "a block without a name in JSON": (
        {"main.tf.json": '{"output": {}}\n'},
        ("main.tf.json", 1, 12),
        "An output block needs a name",
    ),
    "secret keys": (
        {"main.tf": 'resource "terraform_data" "a" {\n  for_each = sensitive(toset(["a"]))\n}\n'},
        ("main.tf", 2, 14),
        "nonsensitive()",
    ),
}


@pytest.mark.parametrize("mistake", ROWS)
def test_a_mistake(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files, place, words = ROWS[mistake]
    write(files)
    inside("init")
    done = inside("plan", "-json", "-input=false")
    assert done.code == 1
    events = [json.loads(line) for line in done.out.splitlines()]
    (told,) = [each["diagnostic"] for each in events if "diagnostic" in each]
    start = told["range"]["start"]
    assert (told["range"]["filename"], start["line"], start["column"]) == place
    assert words in told["detail"]
