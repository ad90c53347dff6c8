"""What OpenTofu's own tests say about static evaluation, asked of the static phase.

The rows name things in configurations that are not part of them; those are written here. Where a
row tells an error, ours must be one too, in the same line where the row says which: the words are
our own. What is accepted here on purpose is among the reasons of `not_applicable`.
"""

from typing import cast

import pytest

from nigari.addrs.module_source import LocalSource
from nigari.config.blocks.module_call import parse_source
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import InputKind, Inputs, InputValue
from nigari.eval.static.run import StaticRun
from nigari.hcl.source import Source
from nigari.lang.files import MemoryFiles
from nigari.lang.marks import SENSITIVE
from nigari.workspace import Workspace
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.states.backend import find_arguments
from tests.conformance import Row, needs_conformance, table
from tests.conformance.not_applicable import STATIC
from tests.conformance.values import matches, the_value

pytestmark = needs_conformance
TABLES = "tables/tofu-tables.jsonl"

LOCALS = """
variable "str" {}
variable "str_map" { type = map(string) }
variable "str_def" { default = "sane default" }
variable "secret" {
  default   = "hidden"
  sensitive = true
}
locals {
  static             = "static"
  static_fn          = md5(local.static)
  path_root          = path.root
  path_module        = path.module
  var_str_def_ref    = var.str_def
  var_str_ref        = var.str
  var_map_access     = var.str_map["keyA"]
  circular           = local.circular
  circular_a         = local.circular_b
  circular_b         = local.circular_a
  local_missing      = local.missing
  my_sensitive_local = var.secret
}
"""

VARIABLES = {
    "string": "type = string",
    "string_from_number": "type = string",
    "list_from_tuple": "type = list(string)",
    "set_from_tuple": "type = set(string)",
    "object_with_optional": (
        'type = object({a = optional(string), b = optional(string, "b default"), c = string})'
    ),
    "nullable_null_string": 'type = string\ndefault = "other"',
    "sensitive_string": "type = string\nsensitive = true",
}

CALLS = {
    "path.tf": 'variable "path" {}',
    "path_const.tf": 'variable "path" { const = true }',
    "path_notconst.tf": 'variable "path" { const = false }',
}


def _rows(*tests: str) -> list[object]:
    return [
        pytest.param(row, id=f"{row['test']}-{index}")
        for index, row in enumerate(table(TABLES, tests))
    ]


def _fields(row: Row) -> Row:
    return cast(Row, row["fields"])


def _static(
    files: dict[str, str], inputs: Inputs, directory: str = "."
) -> tuple[StaticRun, Diagnostics]:
    run, diags = Workspace(WorkingDirectory({}, directory), files=MemoryFiles(files)).static(inputs)
    assert run is not None
    known = len(run.diags)
    find_arguments(run)
    run.evaluate([*run.root.locals.values(), *run.root.variables.values()])
    diags.extend(list(run.diags)[known:])
    return run, diags


def _given(**values: object) -> Inputs:
    return {
        name: InputValue(InputKind.CALLER, "the test", value=Value.of(value))
        for name, value in values.items()
    }


@pytest.mark.parametrize("row", _rows("TestStaticEvaluator_Evaluate"))
def test_locals(row: Row) -> None:
    fields = _fields(row)
    name = str(fields["ident"])
    run, diags = _static(
        {"dir/eval.tf": LOCALS}, _given(str="vara", str_map={"keyA": "mapa"}), "dir"
    )
    if "value" in fields:
        # There is no other root than the directory of the root module here.
        wanted = "dir" if name == "path_root" else fields["value"]
        assert run.root.locals[name].value == Value.of(wanted)
        return
    line = next(i for i, text in enumerate(LOCALS.splitlines(), 1) if text.split()[:1] == [name])
    lines = {each.subject.start.line for each in diags if each.subject is not None}
    assert line in lines or any(f"local.{name}" in each.detail for each in diags)


@pytest.mark.parametrize("row", _rows("TestStaticEvaluator_DecodeExpression"))
def test_expressions_in_a_static_place(row: Row) -> None:
    expression = str(_fields(row)["expr"])
    if expression in STATIC:
        pytest.skip(STATIC[expression])
    call = f'module "m" {{\n  source = {expression}\n}}\n'
    _, diags = _static({"eval.tf": LOCALS, "m.tf": call}, _given(str="x", str_map={"keyA": "y"}))
    assert [each.subject.filename for each in diags if each.subject is not None].count("m.tf") == 1


@pytest.mark.parametrize("row", _rows("TestStaticEvaluator_DecodeBlock"))
def test_backends(row: Row) -> None:
    fields = _fields(row)
    body = str(fields["body"]).replace(f'"{fields["ident"]}"', '"local"').replace("thing", "path")
    _, diags = _static({"eval.tf": body}, {})
    told = [each.subject.start.line for each in diags if each.subject is not None]
    assert told == [4]


@pytest.mark.parametrize("row", _rows("TestStaticScope_GetInputVariable"))
def test_variables(row: Row) -> None:
    fields, name = _fields(row), str(row["name"])
    value = the_value(fields["callerVal"])
    given = {name: InputValue(InputKind.CALLER, "the test", value=value)}
    run, diags = _static({"test.tf": f'variable "{name}" {{\n{VARIABLES[name]}\n}}\n'}, given)
    assert not diags.has_errors
    marks = {"marks.Sensitive": SENSITIVE}
    assert matches(run.root.variables[name].value, fields["wantFinalVal"], marks)


@pytest.mark.parametrize("row", _rows("TestModuleSourceAddrEntersNewPackage"))
def test_sources_with_packages_of_their_own(row: Row) -> None:
    fields = _fields(row)
    where = Source("test.tf", "").range(0, 0)
    source = parse_source(str(fields["Addr"]), False, where, Diagnostics())
    assert isinstance(source, LocalSource) != fields["Want"]


@pytest.mark.parametrize("row", _rows("TestModuleCallWithSource"))
def test_sources_from_variables(row: Row) -> None:
    fields = _fields(row)
    files = {name: CALLS.get(name, "") for name in cast("list[str]", fields["files"])}
    files["mod.tf"] = 'module "m" {\n  source = var.path\n}\n'
    files["child/main.tf"] = ""
    _, diags = _static(files, _given(path="./child"))
    assert diags.has_errors == bool(fields.get("err"))
