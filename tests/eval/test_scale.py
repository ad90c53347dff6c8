"""Long chains, wide diamonds and deep trees cost in proportion to their size."""

from __future__ import annotations

from nigari.cty.values import Value, number, string
from nigari.lang.files import MemoryFiles
from nigari.workspace import Workspace
from nigari.workspace.context.working_directory import WorkingDirectory


def output(files: dict[str, str], name: str) -> Value:
    run, diags = Workspace(WorkingDirectory({}), files=MemoryFiles(files)).static({})
    assert run is not None
    assert not diags.has_errors, list(diags)
    run.evaluate([run.root.outputs[name]])
    assert not run.diags.has_errors, list(run.diags)
    return run.root.outputs[name].value


def test_a_chain_of_locals() -> None:
    count = 20_000
    lines = [f"  a{n} = local.a{n + 1}" for n in range(count)]
    text = "\n".join(["locals {", *lines, f"  a{count} = 1", "}", 'output "o" {'])
    assert output({"main.tf": f"{text}\n  value = local.a0\n}}\n"}, "o") == number(1)


def test_a_diamond_of_locals() -> None:
    count = 1000
    lines = [f"  a{n + 1} = length([local.a{n}, local.a{n}])" for n in range(count)]
    text = "\n".join(["locals {", "  a0 = 1", *lines, "}", 'output "o" {'])
    assert output({"main.tf": f"{text}\n  value = local.a{count}\n}}\n"}, "o") == number(2)


def test_nested_modules() -> None:
    depth = 200
    files = {}
    directory = "."
    for level in range(depth):
        call = 'module "m" {\n  source = "./m"\n  x      = local.x\n}\n'
        given = '"deep"' if level == 0 else "var.x"
        variable = "" if level == 0 else 'variable "x" {}\n'
        files[f"{directory}/main.tf"] = (
            f'{variable}locals {{\n  x = {given}\n}}\n{call}output "o" {{\n  value = module.m.o\n}}\n'
        )
        directory += "/m"
    files[f"{directory}/main.tf"] = 'variable "x" {}\noutput "o" {\n  value = var.x\n}\n'
    assert output(files, "o") == string("deep")
