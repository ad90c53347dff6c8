"""A tree of modules that is written out is the one that the static phase finds, and nothing is lost."""

from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostics
from nigari.lang.files import MemoryFiles
from nigari.workspace import Workspace
from nigari.workspace.configuration.requirements import find_requirements, written_requirements
from nigari.workspace.context.working_directory import WorkingDirectory
from tests.cases import read_cases
from tests.real.directory_cases import read_directories

TESTS = Path(__file__).parents[1]
CASES = {str(case): case.files for case in read_cases(TESTS / "eval" / "cases")}
DIRECTORIES = {
    f"{kind}: {directory.name}": dict(step for step in directory.steps if isinstance(step, tuple))
    for kind in ("init", "validate")
    for directory in read_directories(kind)
}
CALLED = 'resource "example_thing" "a" {}\nvariable "x" {\n  default = 1\n}\n'


def opened(files: dict[str, str]) -> Workspace:
    return Workspace(WorkingDirectory({}), files=MemoryFiles(files))


@pytest.mark.parametrize("name", [*CASES, *DIRECTORIES])
def test_a_written_tree_is_the_one_that_is_evaluated(name: str) -> None:
    files = {**CASES, **DIRECTORIES}[name]
    workspace, warnings = opened(files), Diagnostics()
    tree = workspace.written_tree(warnings)
    run, diags = opened(files).static({})
    assert workspace.static({})[1].in_order() == diags.in_order()
    if tree is None:
        return
    assert run is not None
    assert warnings.in_order() == diags.in_order()
    assert [(each.addr, each.module.directory) for each in tree] == [
        (frame.instance.addr, frame.module.directory) for frame in run.frames()
    ]
    assert written_requirements(tree) == find_requirements(run)


def test_most_directories_are_written_out() -> None:
    written = [
        files
        for files in DIRECTORIES.values()
        if opened(files).written_tree(Diagnostics()) is not None
    ]
    assert len(written) > len(DIRECTORIES) / 3


@pytest.mark.parametrize(
    ("text", "is_written"),
    [
        ('resource "example_thing" "a" { x = var.y }', True),
        ("locals { a = 1 + nothing.else }", True),
        ('module "m" { source = "./m" }', True),
        ('module "m" {\n  source = "./m"\n  for_each = local.x\n  x = each.value\n}', True),
        ('module "m" {\n  source = "./m"\n  version = "1.0"\n}', False),
        ('module "m" { source = var.x }', False),
        ('module "m" { source = "./none" }', False),
        ('module "m" { source = "./" }', False),
        ('variable "v" {}', True),
        ('variable "v" { default = { a = [1] } }', True),
        ('variable "v" { default = upper("a") }', False),
        ('variable "v" { const = true }', False),
        ('provider "example" { region = var.r }', True),
        ('provider "example" { version = "1.0" }', True),
        ('provider "example" { version = var.x }', False),
        ('provider "example" {\n  alias = "x"\n  for_each = var.r\n}', False),
        ('terraform {\n  required_providers {\n    a = { version = "~> 1.0" }\n  }\n}', True),
        ("terraform {\n  required_providers {\n    a = { version = var.v }\n  }\n}", False),
        ("terraform {\n  required_providers {\n    a = { source = var.v }\n  }\n}", False),
        ('terraform { required_version = ">= 1.0" }', True),
        ('resource "example_thing" "a" {\n  lifecycle {\n    ignore_changes = [x]\n  }\n}', True),
        (
            'resource "example_thing" "a" {\n  lifecycle {\n    create_before_destroy = true\n  }\n}',
            True,
        ),
        (
            'resource "example_thing" "a" {\n  lifecycle {\n    create_before_destroy = var.x\n  }\n}',
            False,
        ),
        (
            (
                'resource "example_thing" "a" {\n'
                '  provisioner "local-exec" {\n    when = destroy\n    command = "x"\n  }\n}'
            ),
            True,
        ),
        (
            (
                'resource "example_thing" "a" {\n'
                '  provisioner "local-exec" {\n    when = var.x\n    command = "x"\n  }\n}'
            ),
            False,
        ),
        ("moved {\n  from = example_thing.a[0]\n  to = example_thing.b\n}", True),
        ("moved {\n  from = example_thing.a[var.x]\n  to = example_thing.b\n}", False),
        ("removed {\n  from = example_thing.a\n  lifecycle {\n    destroy = true\n  }\n}", True),
        ("removed { from = example_thing.a }", True),
        ("removed {\n  from = example_thing.a\n  lifecycle {\n    destroy = var.x\n  }\n}", False),
        ('resource "example_thing" "a" { provider = example.here }', True),
    ],
)
def test_what_is_written_out(text: str, is_written: bool) -> None:
    workspace = opened({"main.tf": text, "m/main.tf": CALLED})
    assert (workspace.written_tree(Diagnostics()) is not None) == is_written


def test_a_module_that_calls_itself_is_left_to_the_static_phase() -> None:
    call = 'module "m" {\n  source = "../m"\n  count = 0\n}\n'
    workspace = opened({"main.tf": 'module "m" { source = "./m" }', "m/main.tf": call})
    assert workspace.modules.compiled("m", Diagnostics()) is not None
    assert workspace.written_tree(Diagnostics()) is None
