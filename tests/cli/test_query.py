"""Searching for existing objects: `nigari query`, query files and `session.query`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nigari
from nigari.events import FoundObject
from tests.cli.process import Done, inside
from tests.plugins import running

_SERVE = f"""
import sys
sys.path[:0] = {sys.path!r}
from tests.providers.shelf import shelf_provider

shelf_provider().serve()
"""
_MAIN = """\
terraform {
  required_providers {
    shelf = { source = "local/test/shelf" }
  }
}
variable "word" {
  default = "m"
}
resource "terraform_data" "later" {}
"""
_ALL = (
    'list "shelf_book" "all" {\n  provider = shelf\n  config {\n    containing = var.word\n  }\n}\n'
)


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with running("local/test/shelf", _SERVE, tmp_path_factory.mktemp("p")) as e:
        yield e


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, plugin: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, value in plugin.items():
        monkeypatch.setenv(name, value)
    Path("main.tf").write_text(_MAIN)
    return tmp_path


def query(text: str, *args: str) -> Done:
    Path("all.tfquery.hcl").write_text(text)
    return run("query", *args)


def run(*args: str) -> Done:
    return inside(*args, "-no-color", settings=os.environ)


def events(done: Done, kind: str) -> list[Any]:
    lines = [json.loads(line) for line in done.out.splitlines()]
    return [line[kind] for line in lines if line["type"] == kind]


def block(arguments: str, name: str = "all", kind: str = "shelf_book") -> str:
    return f'list "{kind}" "{name}" {{\n  provider = shelf\n{arguments}\n}}\n'


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (_ALL, ["all Emma", "all Middlemarch"]),
        (block("limit = 3"), ["all Emma", "all Middlemarch", "all Persuasion"]),
        (block("limit = 0"), []),
        (block("count = 2\nlimit = count.index"), ["all[1] Emma"]),
        (
            block('for_each = toset(["E", "V"])\nconfig { containing = each.key }'),
            ['all["E"] Emma', 'all["V"] Villette'],
        ),
        (
            _ALL + block("config { containing = list.shelf_book.all.data[1].identity.title }", "b"),
            ["all Emma", "all Middlemarch", "b Middlemarch"],
        ),
        (
            'variable "more" { default = "Vil" }\nlocals { less = substr(var.more, 0, 1) }\n'
            + block("config { containing = local.less }"),
            ["all Villette"],
        ),
        (block("", kind="shelf_lamp"), ["all left", "all right"]),
    ],
)
def test_objects_are_found(text: str, names: list[str]) -> None:
    done = query(text, "-json")
    assert done.code == 0, done.out
    found = [
        f"{each['address'].split('.', 2)[2]} {next(iter(each['identity'].values()))}"
        for each in events(done, "list_resource_found")
    ]
    assert sorted(found) == names
    assert sum(each["total"] for each in events(done, "list_complete")) == len(names)


def test_a_line_for_each_object() -> None:
    done = query(_ALL + block('config { containing = "nothing" }', "none"))
    assert done.code == 0
    assert done.out == (
        "list.shelf_book.all   title=Emma   The novel Emma\n"
        "list.shelf_book.all   title=Middlemarch   The novel Middlemarch\n"
        "Nothing was found by list.shelf_book.none.\n"
    )


def test_whole_objects_are_included_on_request() -> None:
    done = query(block("include_resource = true\nlimit = 1"), "-json")
    [found] = events(done, "list_resource_found")
    assert found["resource_object"] == {"title": "Emma", "pages": 4}
    [bare] = events(query(block("limit = 1"), "-json"), "list_resource_found")
    assert "resource_object" not in bare


def test_generated_blocks_import_what_was_found() -> None:
    done = query(_ALL, "-generate-config-out=found.tf")
    assert done.code == 0, done.err
    applied = run("apply", "-auto-approve")
    assert "2 imported, 1 added, 0 changed, 0 destroyed" in applied.out
    assert "No changes." in run("plan").out
    again = query(_ALL, "-generate-config-out=found.tf")
    assert (again.code, "File already exists" in again.err) == (1, True)


def test_events_have_generated_blocks_as_the_file_has() -> None:
    done = query(block("limit = 1"), "-json", "-generate-config-out=found.tf")
    [found] = events(done, "list_resource_found")
    assert found["config"] == (
        'resource "shelf_book" "all_0" {\n  provider = shelf\n  title    = "Emma"\n}'
    )
    assert found["import_config"] == (
        "import {\n  to       = shelf_book.all_0\n  provider = shelf\n"
        '  identity = {\n    title = "Emma"\n  }\n}'
    )
    written = Path("found.tf").read_text()
    assert found["config"] in written
    assert found["import_config"] in written


def test_events_have_the_configuration_if_there_is_one() -> None:
    [bare] = events(query(block(""), "-json"), "list_start")
    assert "input_config" not in bare
    [given] = events(query(block('config { containing = "V" }'), "-json"), "list_start")
    assert given["input_config"] == {"containing": "V", "doubts": None, "stumbles_at": None}


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("", "", "No queries"),
        (block("limit = -1"), "line 3", "Invalid limit"),
        (block("limit = 1.5"), "line 3", "Invalid limit"),
        (block("config { nope = 2 }"), "line 3", "Unexpected argument"),
        (block('config { containing = "?" }'), "line 3", "No question marks"),
        (block('config { stumbles_at = "Emma" }'), "line 1", "Dropped"),
        (block("depends_on = []"), "line 3", "depends_on"),
        (block("config { containing = terraform_data.later.id }"), "line 1", "Query of unknown"),
        (block("", kind="shelf_cat"), "line 1", "Unknown list resource"),
        (block("config { containing = list.shelf_book.no.data }"), "line 3", "undeclared list"),
        (_ALL + _ALL, "line 7", "Duplicate list"),
        ('resource "terraform_data" "b" {}\n', "line 1", "Unexpected block"),
    ],
)
def test_invalid_queries_are_reported(text: str, where: str, words: str) -> None:
    done = query(text)
    assert done.code == 1
    assert words in done.err
    assert f"on all.tfquery.hcl {where}" in done.err if where else True


def test_validate_reads_query_files_on_request() -> None:
    Path("all.tfquery.hcl").write_text(block('config { containing = "?" }'))
    assert run("validate").code == 0
    done = run("validate", "-query")
    assert (done.code, "No question marks" in done.err) == (1, True)


def test_other_commands_do_not_read_query_files() -> None:
    Path("all.tfquery.hcl").write_text("not HCL {{{")
    assert run("plan").code == 0


def test_nothing_is_stored() -> None:
    query(_ALL)
    assert not Path("terraform.tfstate").exists()


def test_a_session_returns_what_was_found(directory: Path) -> None:
    Path("all.tfquery.hcl").write_text(_ALL)
    with nigari.open(directory) as session:
        found = session.query(generate=True)
    assert list(found) == ["list.shelf_book.all"]
    first, second = found["list.shelf_book.all"]
    assert isinstance(first, FoundObject)
    assert first.identity.to_python() == {"title": "Emma"}
    assert first.state.to_python() == {"title": "Emma", "pages": 4}
    assert (second.display_name, 'title    = "Middlemarch"' in second.config) == (
        "The novel Middlemarch",
        True,
    )
