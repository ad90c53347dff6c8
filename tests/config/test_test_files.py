"""Test files: what each block may say, and where what is wrong with it is reported."""

from __future__ import annotations

import pytest

from nigari.config import file_names, load
from nigari.config.test_files import TestFile
from nigari.diagnostics import Diagnostics
from nigari.lang.files import MemoryFiles

_RUN = 'run "a" {{\n{}\n}}\n'


def _read(text: str, **others: str) -> tuple[TestFile, list[str]]:
    """The file, and where something is wrong: severity, line, column."""
    files = {
        "t.tftest.hcl": text.encode(),
        **{name: each.encode() for name, each in others.items()},
    }
    diags = Diagnostics()
    (file,) = load.ModuleLoader(MemoryFiles(files)).tests(".", "tests", diags)
    found = []
    for each in diags:
        assert each.subject is not None
        start = each.subject.start
        found.append(f"{each.severity.value} {start.line}:{start.column}")
    return file, found


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["a.tftest.hcl", "b.tofutest.hcl"], ["a.tftest.hcl", "b.tofutest.hcl"]),
        (["a.tftest.hcl", "a.tofutest.hcl"], ["a.tofutest.hcl"]),
        (["a.tftest.json", "a.tofutest.hcl"], ["a.tftest.json", "a.tofutest.hcl"]),
        ([".a.tftest.hcl", "#b.tftest.hcl#", "c.tftest.hcl~", "d.test.hcl"], []),
    ],
)
def test_which_names_count(names: list[str], found: list[str]) -> None:
    assert file_names.test_files(names) == found


def test_everything_at_once() -> None:
    file, wrong = _read(
        """
variables {
  a = 1
}
provider "test" {
  alias = "x"
}
mock_provider "other" {
  mock_resource "other_thing" {
    defaults = { id = "i" }
  }
  override_data {
    target = module.m.data.other_thing.d
    values = { id = "d" }
  }
}
override_module {
  target  = module.m.module.n
  outputs = { o = 1 }
}
run "plan" {
  command = plan
  providers = { test = test.x }
  expect_failures = [var.a, test_thing.t[0]]
  plan_options {
    mode    = refresh-only
    target  = [test_thing.t]
    replace = [test_thing.t[0]]
  }
  override_resource {
    target = test_thing.t[0]
  }
  override_resource {
    target = test_thing.u[*]
  }
}
run "apply" {
  module {
    source = "./m"
  }
  assert {
    condition     = output.x
    error_message = "no"
  }
}
"""
    )
    assert wrong == []
    plan, apply = file.runs
    assert plan.is_plan
    assert not apply.is_plan
    assert plan.options.is_refresh_only
    assert apply.options.refreshes
    assert [each.name for each in plan.overrides.resources] == ["test_thing.t[0]", "test_thing.u"]
    assert [str(each.in_parent) for each in plan.providers] == ["test.x"]
    assert apply.module is not None
    assert apply.module.source == "./m"
    assert file.module_path(apply) == ("test", "t", "apply")
    assert list(file.providers) == ["test.x"]
    assert list(file.mocks) == ["other"]
    (override,) = file.mocks["other"].resources
    assert override.name == "module.m.data.other_thing.d"
    assert [str(each.target) for each in file.overrides.modules] == ["module.m.module.n"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('resource "a" "b" {}\n', ["error 1:1"]),
        ("variables {\n  b {}\n}\n", ["error 2:3"]),
        ("variables {}\nvariables {}\n", ["error 2:1"]),
        ('run "0" {}\n', ["error 1:5"]),
        (_RUN.format("  command = destroy"), ["error 2:13"]),
        (_RUN.format('  command = "plan"'), ["error 2:13"]),
        (_RUN.format("  plan_options {\n    mode = none\n  }"), ["error 3:12"]),
        (
            _RUN.format("  plan_options {\n    mode = refresh-only\n    refresh = false\n  }"),
            ["error 4:5"],
        ),
        (_RUN.format("  module {}"), ["error 2:3"]),
        (_RUN.format("  module {\n    source = var.x\n  }"), ["error 3:14"]),
        (_RUN.format('  expect_failures = ["var.x"]'), ["warning 2:22"]),
        (
            _RUN.format("  assert {\n    condition = true\n    error_message = 1\n  }"),
            ["error 3:17"],
        ),
        ("override_resource {}\n", ["error 1:19"]),
        ("override_resource {\n  target = module.m\n}\n", ["error 2:12"]),
        ("override_module {\n  target = a.b\n}\n", ["error 2:12"]),
        ("override_data {\n  target = data.a.b\n  values = [1]\n}\n", ["error 3:3"]),
        ("override_data {\n  target = data.a.b\n  values = { a = var.x }\n}\n", ["error 3:18"]),
        ('mock_provider "a" {}\nmock_provider "a" {}\n', ["error 2:1"]),
        ('mock_provider "a" {\n  for_each = {}\n}\n', ["error 2:14"]),
        ('mock_provider "a" {\n  alias = "1"\n}\n', ["error 2:11"]),
        ('mock_provider "a" {\n  source = "./none"\n}\n', ["error 2:12"]),
        ('mock_provider "a" {\n  mock_data "x" {}\n  mock_data "x" {}\n}\n', ["error 1:1"]),
    ],
)
def test_what_is_wrong(text: str, wrong: list[str]) -> None:
    assert _read(text)[1] == wrong


def test_mocks_in_a_directory() -> None:
    """What the block itself says of a type counts, whatever the directory says."""
    file, wrong = _read(
        'mock_provider "a" {\n  source = "./mocks"\n  mock_resource "a_x" {\n'
        '    defaults = { id = "own" }\n  }\n}\n',
        **{
            "mocks/one.tfmock.hcl": 'mock_resource "a_x" {\n  defaults = { id = "theirs" }\n}\n'
            'mock_data "a_y" {\n  defaults = { id = "y" }\n}\n',
            "mocks/ignored.hcl": "nonsense",
        },
    )
    assert wrong == []
    values = {key[1]: each["id"].as_string() for key, each in file.mocks["a"].defaults.items()}
    assert values == {"a_x": "own", "a_y": "y"}
