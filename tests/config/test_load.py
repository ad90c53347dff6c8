"""Which files of a directory count, and what happens to those that cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nigari.config.file_names import config_files, has_module, is_config_file, is_test_file
from nigari.config.load import ModuleLoader
from nigari.diagnostics import Diagnostics, Pos, Range
from nigari.lang.files import DiskFiles, Entry, MemoryFiles
from tests.config.loading import load, load_valid, told


@pytest.mark.parametrize(
    ("names", "primary", "override"),
    [
        (["b.tf", "a.tf"], ["a.tf", "b.tf"], []),
        (["a.tf", "a.tf.json"], ["a.tf", "a.tf.json"], []),
        (["a.tf", "a.tofu"], ["a.tofu"], []),
        (["a.tf.json", "a.tofu.json"], ["a.tofu.json"], []),
        (["a.tf", "a.tofu.json"], ["a.tf", "a.tofu.json"], []),
        (["override.tf", "a_override.tf.json"], [], ["a_override.tf.json", "override.tf"]),
        (["override.tf", "override.tofu"], [], ["override.tofu"]),
        (["my-override.tf", "overrides.tf"], ["my-override.tf", "overrides.tf"], []),
        ([".a.tf", "a.tf~", "#a.tf#", "a.txt", "a.tfvars", "tf"], [], []),
        (["a.tftest.hcl", "a.tofutest.json"], [], []),
    ],
)
def test_files_that_count(names: list[str], primary: list[str], override: list[str]) -> None:
    assert config_files(names) == (primary, override)


def test_kinds_of_files() -> None:
    assert is_config_file("a.tofu.json")
    assert not is_config_file("a.tftest.hcl")
    assert is_test_file("a.tftest.json")
    assert not is_test_file(".a.tftest.hcl")


def test_a_directory_is_one_module() -> None:
    module = load_valid(
        {"a.tf": 'variable "a" {}', "b.tf.json": '{"variable": {"b": {}}}', "c/d.tf": "locals {}"}
    )
    assert list(module.variables) == ["a", "b"]
    assert module.files == ("a.tf", "b.tf.json")
    assert str(module.range) == "a.tf:1,1-1"


def test_an_empty_directory_is_an_empty_module() -> None:
    module = load_valid({"notes.txt": ""})
    assert module.files == ()
    assert module.range.filename == "."


class _CountingFiles(MemoryFiles):
    """Files that count how often they are read."""

    __slots__ = ("reads",)

    def __init__(self, contents: dict[str, bytes | str]) -> None:
        super().__init__(contents)
        self.reads = 0

    def read(self, path: str, limit: int | None = None) -> bytes:
        self.reads += 1
        return super().read(path, limit)

    def entries(self, path: str) -> list[Entry]:
        return super().entries(path)


def test_a_directory_is_decoded_once_and_its_problems_are_told_each_time() -> None:
    files = _CountingFiles({"m/main.tf": 'variable "a" {\n  tipe = string\n}\n'})
    loader = ModuleLoader(files)
    first, second = Diagnostics(), Diagnostics()
    assert loader.load("./m", first) is loader.load("m/../m", second)
    assert files.reads == 1
    assert told(first) == told(second) == [("error", "m/main.tf", 2, "Unexpected argument")]
    assert list(loader.sources) == ["m/main.tf"]


def test_a_directory_that_is_not_there() -> None:
    diags = Diagnostics()
    loader = ModuleLoader(DiskFiles())
    assert loader.load("no/such/directory", diags) is None
    assert told(diags) == [("error", "", 0, "Cannot read the module directory")]
    assert not has_module(DiskFiles(), "no/such/directory")


def test_bad_input_on_disk(tmp_path: Path) -> None:
    (tmp_path / "directory.tf").mkdir()
    (tmp_path / "loop.tf").symlink_to("loop.tf")
    (tmp_path / "gone.tf").symlink_to("nowhere")
    (tmp_path / "good.tf").write_text("locals {\n  a = 1\n}\n")
    (tmp_path / "link.tf").symlink_to("good.txt")
    (tmp_path / "good.txt").write_text('output "o" {\n  value = 1\n}\n')
    if os.getuid() != 0:
        (tmp_path / "secret.tf").write_text("")
        (tmp_path / "secret.tf").chmod(0)
    diags = Diagnostics()
    module = ModuleLoader(DiskFiles()).load(str(tmp_path), diags)
    assert module is not None
    assert list(module.locals) == ["a"]
    assert list(module.outputs) == ["o"]
    assert {each[3] for each in told(diags)} == {"Cannot read a file"}
    assert len(diags) == (2 if os.getuid() == 0 else 3)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tf.json", b"{"),
        ("a.tf.json", b""),
        ("a.tf.json", b'"text"'),
        ("a.tf.json", b'{"a": \xff}'),
        ("a.tf", b'locals { a = "\xff" }\n'),
        ("a.tf", b"\x00"),
        ("a.tf", b"{}"),
        ("a.tf", b"locals {"),
    ],
)
def test_bad_content(name: str, content: bytes) -> None:
    diags = Diagnostics()
    assert ModuleLoader(MemoryFiles({name: content})).load(".", diags) is not None
    assert diags.has_errors


def test_a_byte_order_mark_is_no_content() -> None:
    diags = Diagnostics()
    loader = ModuleLoader(MemoryFiles({"a.tf": b"\xef\xbb\xbflocals {\n  a = 1\n}\n"}))
    module = loader.load(".", diags)
    assert module is not None
    assert list(module.locals) == ["a"]
    assert not diags


def test_many_blocks() -> None:
    block = 'resource "terraform_data" "r{}" {{\n  input = terraform_data.r0.id\n}}\n'
    module = load_valid("".join([block.format(number) for number in range(5_000)]))
    assert len(module.resources) == 5_000


@pytest.mark.parametrize(
    ("byte", "context"),
    [
        (0, ""),  # the header itself is in nothing
        (9, 'resource "a_b" "c"'),
        (21, 'resource "a_b" "c"'),
        (23, ""),
        (33, ""),
        (41, "locals"),
    ],
)
def test_the_block_that_a_place_is_in(byte: int, context: str) -> None:
    text = 'resource "a_b" "c" {\n}\n# between\nlocals {}\n'
    loader = ModuleLoader(MemoryFiles({"main.tf": text}))
    loader.load(".", Diagnostics())
    at = Pos(1, 1, byte)
    assert loader.context_of(Range("main.tf", at, at)) == context


def test_the_object_that_a_place_is_in() -> None:
    text = '{"resource": {"a_b": {"c": {"nope": true, "count": 1, "for_each": {}}}}}'
    loader = ModuleLoader(MemoryFiles({"a.tf.json": text}))
    diags = Diagnostics()
    loader.load(".", diags)
    assert diags[0].subject is not None
    assert loader.context_of(diags[0].subject) == "resource.a_b.c"


def test_nothing_is_known_of_other_files() -> None:
    place = Range("other.tf", Pos(1, 1, 0), Pos(1, 1, 0))
    assert ModuleLoader(MemoryFiles({})).context_of(place) == ""


@pytest.mark.parametrize(
    ("name", "constraint", "summaries"),
    [
        ("a.tf", "< 1.0.0", []),
        ("a.tofu", ">= 1.6.0", []),
        ("a.tofu", "< 1.0.0", ["Incompatible module"]),
        ("a.tofu.json", "< 1.0.0", ["Incompatible module"]),
        ("a.tofu", ">= 1.6.0-beta1", ["Prerelease in a version constraint"]),
    ],
)
def test_required_version_counts_only_in_files_of_this_language(
    name: str, constraint: str, summaries: list[str]
) -> None:
    if name.endswith(".json"):
        text = f'{{"terraform": {{"required_version": "{constraint}"}}}}'
    else:
        text = f'terraform {{\n  required_version = "{constraint}"\n}}\n'
    module, diags = load({name: text})
    assert [each[3] for each in told(diags)] == summaries
    assert [each.counts for each in module.required_versions] == [name != "a.tf"]


def test_only_the_version_is_told_where_the_module_is_for_another() -> None:
    _, diags = load({"a.tofu": 'terraform {\n  required_version = "> 9"\n}\nfuture {}\n'})
    assert told(diags) == [("error", "a.tofu", 2, "Incompatible module")]
