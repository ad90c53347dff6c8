"""What `validate` says of whole directories: severity, file and line of every diagnostic."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from nigari.addrs.resource import DATA, MANAGED, Resource
from nigari.cty.types import STRING
from nigari.cty.values import list_value, object_value, string
from nigari.diagnostics import Pos, Range
from nigari.eval.core.deprecation import deprecated_value
from nigari.eval.nodes.resource import advised, marked_unknown
from nigari.lang.marks import SENSITIVE, Deprecated
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.workspace import Workspace
from nigari.workspace.configuration.check_directory import validate
from nigari.workspace.context.working_directory import WorkingDirectory

Files = dict[str, str]

_M: Final = 'module "m" {\n  source = "./m"\n'
_DATA: Final = 'resource "terraform_data" "x" {\n'
_STATE: Final = 'data "terraform_remote_state" "x" {\n  backend = "local"\n'

_ROWS: Final[list[tuple[str, Files | str, list[str]]]] = [
    (
        "the argument of a call is validated",
        {
            "main.tf": _M + '  x = "b"\n}\n',
            "m/main.tf": 'variable "x" {\n  validation {\n    condition     = var.x == "a"\n'
            '    error_message = "No."\n  }\n}\n',
        },
        ["error main.tf:3"],
    ),
    (
        "the arguments of a call are the variables of the module",
        {
            "main.tf": _M + "  y = 1\n}\n",
            "m/main.tf": 'variable "x" {}\nvariable "z" { default = 1 }\n',
        },
        ["error main.tf:1", "error main.tf:3"],
    ),
    (
        "the default of a called module's variable is validated",
        {
            "main.tf": _M + "}\n",
            "m/main.tf": 'variable "x" {\n  default = "b"\n  validation {\n'
            '    condition     = var.x == "a"\n    error_message = "No."\n  }\n}\n',
        },
        ["error m/main.tf:1"],
    ),
    (
        "other variables of the module are not known to a validation",
        {
            "main.tf": _M + '  x = "b"\n  y = "c"\n}\n',
            "m/main.tf": 'variable "y" {}\nvariable "x" {\n  validation {\n'
            '    condition     = var.x == var.y\n    error_message = "No."\n  }\n}\n',
        },
        [],
    ),
    (
        "a default calls a function that there is not",
        'variable "a" {\n  default = nope(1)\n}\n',
        ["error main.tf:2"],
    ),
    (
        "a default that the call does without is looked at",
        {
            "main.tf": _M + "  a = 5\n}\n",
            "m/main.tf": 'variable "a" {\n  default = string\n}\n',
        },
        ["error m/main.tf:2"],
    ),
    (
        "the root module has no ephemeral outputs",
        'output "a" {\n  value     = 1\n  ephemeral = true\n}\n',
        ["error main.tf:1"],
    ),
    (
        "a called module may have ephemeral outputs",
        {
            "main.tf": _M + "}\n",
            "m/main.tf": 'output "a" {\n  value     = 1\n  ephemeral = true\n}\n',
        },
        [],
    ),
    (
        "a name after a call with for_each is a key",
        {
            "main.tf": _M + '  for_each = { x = 1 }\n}\noutput "o" {\n  value = module.m.x\n}\n',
            "m/main.tf": 'output "a" {\n  value = 1\n}\n',
        },
        [],
    ),
    (
        "modules that depend on each other",
        {
            "main.tf": _M
            + '  depends_on = [module.n]\n}\nmodule "n" {\n  source     = "./m"\n'
            + "  depends_on = [module.m]\n}\n",
            "m/main.tf": _DATA + "}\n",
        },
        ["error main.tf:5"],
    ),
    (
        "a module that depends on what needs its output",
        {
            "main.tf": _M
            + "  depends_on = [terraform_data.x]\n}\n"
            + _DATA
            + "  input = module.m.y\n}\n",
            "m/main.tf": _DATA + '}\noutput "y" {\n  value = terraform_data.x.id\n}\n',
        },
        ["error main.tf:5"],
    ),
    (
        "what depends on a module waits for all of it",
        {
            "main.tf": _M + "}\n" + _DATA + "  depends_on = [module.m]\n}\n",
            "m/main.tf": 'module "n" {\n  source = "../n"\n}\n',
            "n/main.tf": _DATA + "}\n",
        },
        [],
    ),
    (
        "instances of a call with count are numbered",
        {
            "main.tf": _M + '  count = 2\n}\noutput "o" {\n  value = module.m["a"].x\n}\n',
            "m/main.tf": 'output "x" {\n  value = 1\n}\n',
        },
        ["error main.tf:6"],
    ),
    (
        "an output is complete without what overrides it",
        {"main.tf": 'output "a" {}\n', "a_override.tf": 'output "a" {\n  value = 1\n}\n'},
        ["error main.tf:1"],
    ),
    (
        "a module call is complete without what overrides it",
        {"main.tf": 'module "m" {}\n', "a_override.tf": _M + "}\n", "m/main.tf": ""},
        ["error main.tf:1"],
    ),
    (
        "prevent_destroy is true or false",
        _DATA + '  lifecycle {\n    prevent_destroy = "abc"\n  }\n}\n',
        ["error main.tf:3"],
    ),
    (
        "what the provider alone decides need not be ignored",
        _DATA + "  lifecycle {\n    ignore_changes = [input, id]\n  }\n}\n",
        ["warning main.tf:1"],
    ),
    (
        "replace_triggered_by names a resource that there is not",
        _DATA + "  lifecycle {\n    replace_triggered_by = [terraform_data.y]\n  }\n}\n",
        ["error main.tf:3"],
    ),
    (
        "replace_triggered_by names an attribute that there is not",
        _DATA
        + "  lifecycle {\n    replace_triggered_by = [terraform_data.y.nope]\n  }\n}\n"
        + 'resource "terraform_data" "y" {}\n',
        ["error main.tf:3"],
    ),
    (
        "replace_triggered_by may name the resource itself",
        _DATA + "  lifecycle {\n    replace_triggered_by = [terraform_data.x]\n  }\n}\n",
        [],
    ),
    (
        "replace_triggered_by names an attribute, but no instance",
        _DATA
        + "  lifecycle {\n    replace_triggered_by = [terraform_data.y.id]\n  }\n}\n"
        + 'resource "terraform_data" "y" {\n  count = 2\n}\n',
        ["warning main.tf:3"],
    ),
    (
        "a dependency on itself is none",
        _DATA + "  depends_on = [terraform_data.x]\n}\n",
        [],
    ),
    (
        "an instance may name another instance of the same resource",
        _DATA + "  count = 2\n  input = terraform_data.x[0].id\n}\n",
        [],
    ),
    (
        "a connection that no provisioner uses is not looked at",
        _DATA + "  connection {\n    foo = 1\n  }\n}\n",
        [],
    ),
    (
        "a local-exec provisioner runs something",
        _DATA + '  provisioner "local-exec" {\n    command = ""\n  }\n}\n',
        ["error main.tf:2"],
    ),
    (
        "a file provisioner has one source",
        _DATA
        + '  provisioner "file" {\n    source      = "a"\n    content     = "b"\n'
        + '    destination = "c"\n  }\n}\n',
        ["error main.tf:2"],
    ),
    (
        "a remote-exec provisioner has something to run",
        _DATA + '  provisioner "remote-exec" {}\n}\n',
        ["error main.tf:2"],
    ),
    (
        "there is no such backend to read from",
        'data "terraform_remote_state" "x" {\n  backend = "nope"\n}\n',
        ["error main.tf:2"],
    ),
    (
        "a backend that is read from has other arguments",
        _STATE + '  config  = { pathh = "x" }\n}\n',
        ["error main.tf:3"],
    ),
    (
        "the data source of a check is its own",
        (
            'check "a" {\n  data "terraform_remote_state" "x" {\n    backend = "local"\n  }\n'
            "  assert {\n    condition     = data.terraform_remote_state.x.outputs.a == 1\n"
            '    error_message = "No."\n  }\n}\n'
            'output "o" {\n  value = data.terraform_remote_state.x.outputs\n}\n'
        ),
        ["error main.tf:11"],
    ),
    (
        "the id of an import is not null",
        _DATA + "}\nimport {\n  to = terraform_data.x\n  id = null\n}\n",
        ["error main.tf:5"],
    ),
    (
        "the id of an import is a string",
        _DATA + "}\nimport {\n  to = terraform_data.x\n  id = []\n}\n",
        ["error main.tf:5"],
    ),
    (
        "the id of an import names something that there is not",
        _DATA + "}\nimport {\n  to = terraform_data.x\n  id = var.nope\n}\n",
        ["error main.tf:5"],
    ),
    (
        "an import has each only with for_each",
        _DATA + '}\nimport {\n  to = terraform_data.x["a"]\n  id = each.value\n}\n',
        ["error main.tf:5"],
    ),
    (
        "the for_each of an import may be a list",
        _DATA
        + '  for_each = { a = 1 }\n}\nimport {\n  for_each = ["a"]\n'
        + "  to       = terraform_data.x[each.value]\n  id       = each.value\n}\n",
        [],
    ),
    (
        "the for_each of an import is no string",
        _DATA
        + '  for_each = { a = 1 }\n}\nimport {\n  for_each = "a"\n'
        + "  to       = terraform_data.x[each.value]\n  id       = each.value\n}\n",
        ["error main.tf:5"],
    ),
    (
        "destroy of a removed block is static",
        (
            'variable "a" {}\nremoved {\n  from = terraform_data.x\n  lifecycle {\n'
            "    destroy = var.a\n  }\n}\nremoved {\n  from = terraform_data.y\n  lifecycle {\n"
            "    destroy = terraform_data.z.output\n  }\n}\nremoved {\n  from = terraform_data.w\n"
            '  lifecycle {\n    destroy = upper("no")\n  }\n}\nresource "terraform_data" "z" {}\n'
        ),
        ["error main.tf:11", "error main.tf:17"],
    ),
    (
        "a function of the built-in provider is called",
        (
            'terraform {\n  required_providers {\n    terraform = { source = "terraform.io/builtin/'
            'terraform" }\n  }\n}\nlocals {\n  a = provider::terraform::decode_tfvars("x = ")\n}\n'
        ),
        ["error main.tf:7"],
    ),
    (
        "what follows a closing brace too many is not looked at",
        'output "a" {\n  value = 1\n}\n}\nfoo = 1\nbar {\n',
        ["error main.tf:4"],
    ),
    (
        "braces that do not match after an error are part of it",
        'module "m"\n  source = "./m"\n  foo\n}\n',
        ["error main.tf:1", "error main.tf:2", "error main.tf:3"],
    ),
    (
        "a module repeated by itself",
        {"main.tf": _M + "  for_each = module.m\n}\n", "m/main.tf": ""},
        ["error main.tf:1"],
    ),
    (
        "a module repeated by one of its own outputs",
        {
            "main.tf": _M + '  for_each = toset([module.m["a"].o])\n}\n',
            "m/main.tf": 'output "o" {\n  value = "a"\n}\n',
        },
        ["error m/main.tf:1"],
    ),
    (
        "a module that depends on a value of its own",
        {
            "main.tf": _M + "  depends_on = [local.x]\n}\nlocals {\n  x = module.m.o\n}\n",
            "m/main.tf": 'output "o" {\n  value = "a"\n}\n',
        },
        ["error m/main.tf:1"],
    ),
    (
        "all of a module passed to itself",
        {
            "main.tf": _M + "  v = module.m\n}\n",
            "m/main.tf": 'variable "v" {}\noutput "o" {\n  value = 1\n}\n',
        },
        ["error m/main.tf:1"],
    ),
    (
        "one output of a module passed to itself",
        {
            "main.tf": _M + "  v = module.m.o\n}\n",
            "m/main.tf": 'variable "v" {}\noutput "o" {\n  value = 1\n}\n',
        },
        [],
    ),
    (
        "an import that needs what it imports",
        _DATA
        + "}\nlocals {\n  z = terraform_data.x.id\n}\n"
        + "import {\n  to = terraform_data.x\n  id = local.z\n}\n",
        ["error main.tf:1"],
    ),
    (
        "an import by identity of what has none",
        _DATA + '}\nimport {\n  to       = terraform_data.x\n  identity = { id = "a" }\n}\n',
        ["error main.tf:5"],
    ),
    (
        "the for_each of an import is not sensitive",
        _DATA
        + '  for_each = { a = 1 }\n}\nimport {\n  for_each = sensitive({ a = "x" })\n'
        + "  to       = terraform_data.x[each.key]\n  id       = each.key\n}\n",
        ["error main.tf:5"],
    ),
    (
        "a provisioner names its own resource",
        _DATA
        + '  provisioner "local-exec" {\n    command = "echo ${terraform_data.x.id}"\n  }\n}\n',
        [],
    ),
    (
        "what is wrong with a block stays so when it is overridden",
        {
            "main.tf": 'variable "x" {\n  type = foo\n}\n',
            "a_override.tf": 'variable "x" {\n  type = string\n}\n',
        },
        ["error main.tf:2"],
    ),
    (
        "the built-in provider is passed without being declared",
        {
            "main.tf": _M + "  providers = { terraform = terraform }\n}\n",
            "m/main.tf": "terraform {\n  required_providers {\n    terraform = { source = "
            '"terraform.io/builtin/terraform" }\n  }\n}\n',
        },
        ["error main.tf:3", "warning main.tf:3"],
    ),
    (
        "a key of a moved address is negative",
        _DATA
        + "  count = 2\n}\nmoved {\n  from = terraform_data.y[-1]\n"
        + "  to   = terraform_data.x[1]\n}\n",
        ["error main.tf:5"],
    ),
    (
        "a constant variable from a resource",
        {
            "main.tf": _M + "  v = terraform_data.x.id\n}\n" + _DATA + "}\n",
            "m/main.tf": 'variable "v" {\n  const = true\n}\n',
        },
        ["error main.tf:3"],
    ),
    (
        "defaults of variables that need each other",
        'variable "a" {\n  default = var.b\n}\nvariable "b" {\n  default = var.a\n}\n',
        ["error main.tf:1"],
    ),
    (
        "a default that changes from call to call",
        'variable "a" {\n  default = timestamp()\n}\n',
        ["error main.tf:2"],
    ),
    (
        "a default that a resource decides",
        'variable "a" {\n  default = [terraform_data.b.id]\n}\nresource "terraform_data" "b" {}\n',
        ["error main.tf:2"],
    ),
    (
        "a default that needs a variable without a value",
        'variable "a" {\n  default = var.b\n}\nvariable "b" {}\n',
        [],
    ),
    (
        "a given value breaks the circle of defaults",
        {
            "main.tf": _M + '  b = "x"\n}\n',
            "m/main.tf": 'variable "a" {\n  default = var.b\n}\n'
            'variable "b" {\n  default = var.a\n}\n',
        },
        [],
    ),
    (
        "a remote state in the cloud is not all said",
        'data "terraform_remote_state" "x" {\n  backend = "cloud"\n  config  = {}\n}\n',
        ["error main.tf:3"],
    ),
    (
        "the precondition of an output holds, as far as is known",
        (
            'locals {\n  x = "a"\n}\noutput "o" {\n  value = 1\n  precondition {\n'
            '    condition     = local.x == "b"\n    error_message = "No."\n  }\n}\n'
        ),
        ["error main.tf:7"],
    ),
    (
        "the precondition of an output is true or false",
        (
            'locals {\n  x = "a"\n}\noutput "o" {\n  value = 1\n  precondition {\n'
            '    condition     = local.x\n    error_message = "No."\n  }\n}\n'
        ),
        ["error main.tf:7"],
    ),
    (
        "the precondition of an output that is not known yet",
        (
            'variable "x" {}\noutput "o" {\n  value = 1\n  precondition {\n'
            '    condition     = var.x == "b"\n    error_message = "No."\n  }\n}\n'
        ),
        [],
    ),
    (
        "the message of a precondition is text, whether or not it is needed",
        (
            'locals {\n  x = "a"\n}\noutput "o" {\n  value = 1\n  precondition {\n'
            '    condition     = local.x == "a"\n    error_message = []\n  }\n}\n'
        ),
        ["error main.tf:8"],
    ),
    (
        "the message of a precondition is secret",
        (
            'locals {\n  x = "a"\n}\noutput "o" {\n  value = 1\n  precondition {\n'
            '    condition     = local.x == "a"\n    error_message = sensitive("No.")\n  }\n}\n'
        ),
        ["warning main.tf:8"],
    ),
    (
        "the message of an assertion is text",
        (
            'locals {\n  x = "a"\n}\ncheck "c" {\n  assert {\n    condition     = local.x == "b"\n'
            '    error_message = ["No."]\n  }\n}\n'
        ),
        ["error main.tf:7"],
    ),
    (
        "the message of an assertion is null",
        (
            'locals {\n  x = "a"\n}\ncheck "c" {\n  assert {\n    condition     = local.x == "b"\n'
            "    error_message = null\n  }\n}\n"
        ),
        ["error main.tf:7"],
    ),
    (
        "the workspace is known",
        _DATA + "  count = terraform.workspace\n}\n",
        ["error main.tf:2"],
    ),
    (
        "whether something is applied is ephemeral",
        _DATA + "  triggers_replace = terraform.applying\n}\n",
        ["error main.tf:2"],
    ),
    (
        "try does not hide an attribute that there is not",
        _DATA + '}\noutput "o" {\n  value = try(terraform_data.x.nope, 1)\n}\n',
        ["error main.tf:4"],
    ),
    (
        "what is wrong with a value says nothing of where it is used",
        {
            "main.tf": _M + '  x = "a${null}"\n}\n',
            "m/main.tf": 'variable "x" {\n  type = number\n}\n',
        },
        ["error main.tf:3"],
    ),
    (
        "a name that stands for nothing says nothing of its place",
        _STATE + "  config    = [local.nope]\n  workspace = {}\n}\n",
        ["error main.tf:3"],
    ),
    (
        "a deprecated variable with a wrong argument",
        {
            "main.tf": _M + "  x = local.nope\n}\n",
            "m/main.tf": 'variable "x" {\n  default    = 1\n  deprecated = "Old."\n}\n',
        },
        ["error main.tf:3"],
    ),
    (
        "a static default of the wrong type",
        'variable "x" {\n  type    = list(string)\n  default = path.module\n}\n',
        ["error main.tf:3"],
    ),
    (
        "the id of an import is secret",
        _DATA + '}\nimport {\n  to = terraform_data.x\n  id = sensitive("a")\n}\n',
        ["error main.tf:5"],
    ),
    (
        "an import is not repeated by a list",
        (
            'resource "terraform_data" "x" {\n  for_each = { a = 1 }\n}\nimport {\n'
            '  for_each = tolist(["a"])\n  to       = terraform_data.x[each.value]\n  id = "a"\n}\n'
        ),
        ["error main.tf:5"],
    ),
    (
        "instances of a provider from a repeated resource without a key",
        (
            'resource "terraform_data" "x" {\n  count = 2\n}\nprovider "terraform" {\n'
            '  alias    = "a"\n  for_each = terraform_data.x.id\n}\n'
        ),
        ["error main.tf:6"],
    ),
    (
        "whether encryption is enforced is known before anything runs",
        _DATA + '}\nterraform {\n  encryption {\n    method "unencrypted" "m" {}\n    state {\n'
        "      method   = method.unencrypted.m\n      enforced = terraform_data.x.id\n    }\n"
        "  }\n}\n",
        ["error main.tf:8"],
    ),
    (
        "a block is complete without what overrides it",
        {
            "main.tf": 'data "terraform_remote_state" "x" {\n}\n',
            "a_override.tf": 'data "terraform_remote_state" "x" {\n  backend = "local"\n}\n',
        },
        ["error main.tf:1"],
    ),
    (
        "a connection is complete without that of a provisioner",
        _DATA + '  connection {\n    type = "ssh"\n  }\n  provisioner "local-exec" {\n'
        '    command = "echo"\n    connection {\n      host = "h"\n    }\n  }\n}\n',
        ["error main.tf:2"],
    ),
    ("no configuration of a backend", _STATE + "  config = tostring(null)\n}\n", []),
    (
        "the id of an import is secret, and not known",
        'variable "a" {\n  sensitive = true\n}\n'
        + _DATA
        + "}\nimport {\n  to = terraform_data.x\n  id = var.a\n}\n",
        [],
    ),
]


@pytest.mark.parametrize(("files", "wanted"), [row[1:] for row in _ROWS], ids=[r[0] for r in _ROWS])
def test_validate(
    files: Files | str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in ({"main.tf": files} if isinstance(files, str) else files).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    found = validate(Workspace(WorkingDirectory({})), {}, with_plugins=False).in_order()
    places = {
        f"{each.severity.value} {Path(each.subject.filename).as_posix()}:{each.subject.start.line}"
        for each in found
        if each.subject is not None
    }
    assert sorted(places) == wanted, found


@pytest.mark.parametrize(
    ("message", "end"),
    [("use new", "has deprecated: use new"), ("", "has deprecated.")],
    ids=["with a word", "without"],
)
def test_advice_of_providers_against_attributes(message: str, end: str) -> None:
    old = Attribute(
        STRING, optional=True, sensitive=True, deprecated=True, deprecation_message=message
    )
    block = Block({"old": old, "new": Attribute(STRING, optional=True)})
    value = marked_unknown(block, Resource(MANAGED, "a", "b"))
    advice = Deprecated(message, "a.b.old", kind="attribute")
    assert value.attribute("old").marks == {SENSITIVE, advice}
    assert not value.attribute("new").marks
    somewhere = Range("main.tf", Pos(1, 1, 0), Pos(1, 2, 1))
    assert deprecated_value(advice, somewhere).detail == (
        f"This value comes from a.b.old, which the provider {end}"
    )


def test_advice_of_providers_against_blocks_and_data_sources() -> None:
    inner = Block({"x": Attribute(STRING, optional=True)}, deprecated=True, deprecation_message="y")
    block = Block(
        {"plain": Attribute(STRING, optional=True)},
        {"inner": NestedBlock(inner, Nesting.LIST)},
        deprecated=True,
    )
    addr = Resource(DATA, "a", "b")
    element = object_value({"x": string("s")})
    value = object_value({"plain": string("p"), "inner": list_value(element.type, [element])})
    marked = advised(block, value, addr)
    assert marked.marks == {Deprecated("", "data.a.b", kind="data source")}
    (found,) = marked.unmark()[0].attribute("inner").elements()
    assert found.marks == {Deprecated("y", "data.a.b.inner[0]", kind="block")}
    assert advised(Block(), value, addr) is value
