"""Modules are read once by who works with many directories, as long as their files stay the same."""

from __future__ import annotations

import pytest

from nigari.config.load import ModuleLoader
from nigari.config.module import Module
from nigari.config.module_cache import ModuleCache, ReadModule, caching_modules
from nigari.diagnostics import Diagnostics
from nigari.lang.files import MemoryFiles

PLAIN = b'variable "a" {}\n'
WRONG = b'variable "a" {}\nvariable "a" {}\n'


def load(files: dict[str, bytes], directory: str = "m") -> tuple[Module, list[str]]:
    diags = Diagnostics()
    loader = ModuleLoader(MemoryFiles(files))
    module = loader.load(directory, diags)
    assert module is not None
    assert loader.sources == files
    for each in diags:
        assert each.subject is not None
        assert loader.context_of(each.subject) == ""
    return module, [each.summary for each in diags]


@pytest.mark.parametrize(
    ("first", "second", "is_kept"),
    [
        ({"m/a.tf": PLAIN}, {"m/a.tf": PLAIN}, True),
        ({"m/a.tf": PLAIN}, {"m/a.tf": PLAIN + b"\n"}, False),
        ({"m/a.tf": PLAIN}, {"m/b.tf": PLAIN}, False),
        ({"m/a.tf": PLAIN}, {"m/a.tf": PLAIN, "m/b.tf": b""}, False),
        ({"m/a.tf": PLAIN}, {"m/a.tf": PLAIN, "m/a_override.tf": b""}, False),
        ({"m/a.tf.json": b"{}"}, {"m/a.tf.json": b"{}"}, True),
        ({"m/a.tf": WRONG}, {"m/a.tf": WRONG}, True),
    ],
)
def test_the_same_files_are_the_same_module(
    first: dict[str, bytes], second: dict[str, bytes], is_kept: bool
) -> None:
    with caching_modules():
        module, problems = load(first)
        other, again = load(second)
    assert (other is module) is is_kept
    assert again == problems
    assert load(second)[0] is not other


def test_another_directory_is_another_module() -> None:
    with caching_modules():
        one, _ = load({"m/a.tf": PLAIN})
        two, _ = load({"n/a.tf": PLAIN}, "n")
    assert (one.directory, two.directory) == ("m", "n")
    assert two.variables["a"].range.filename == "n/a.tf"


def test_so_many_are_kept() -> None:
    module, _ = load({"m/a.tf": PLAIN})
    kept, read = ModuleCache(2), ReadModule(module, (), {})
    for name in ("a", "b"):
        kept.add((name, ()), read)
    assert kept.find(("a", ())) is read
    kept.add(("c", ()), read)
    assert kept.find(("b", ())) is None
    assert kept.find(("a", ())) is read
