"""What waits for what where modules are involved: calls as a whole, and instances among themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.in_process import applied
from tests.cli.process import inside

_MODULE = """\
variable "v" { default = null }
variable "unused" { default = null }
resource "terraform_data" "used" { input = var.v }
resource "terraform_data" "alone" {}
locals { nobody = var.unused }
check "c" {
  assert {
    condition     = terraform_data.alone.id != ""
    error_message = "no"
  }
}
module "deep" { source = "../deep" }
output "id" { value = terraform_data.used.id }
output "one" { value = 1 }
"""
_DEEP = 'resource "terraform_data" "deep" {}\n'
_CALL = """\
resource "terraform_data" "arg" {}
resource "terraform_data" "other" {}
module "m" {
  source   = "./m"
  for_each = toset(["a", "b"])
  v        = terraform_data.arg.id
  unused   = terraform_data.other.id
}
"""
_USED = ["module.m.terraform_data.used", "terraform_data.arg"]
_ALL = sorted(
    [
        *_USED,
        "module.m.module.deep.terraform_data.deep",
        "module.m.terraform_data.alone",
        "terraform_data.other",
    ]
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(text: str, **modules: str) -> None:
    Path("main.tf").write_text(text)
    for name, content in modules.items():
        Path(name).mkdir(exist_ok=True)
        Path(name, "main.tf").write_text(content)
    assert inside("get").code == 0


def _apply(*args: str, code: int = 0) -> str:
    done = inside("apply", "-auto-approve", "-no-color", *args)
    assert done.code == code, done.out + done.err
    return done.out + done.err


@pytest.mark.parametrize(
    ("expr", "wanted"),
    [
        ("input = { for k, m in module.m : k => m.id }", _ALL),
        ("input = module.m", _ALL),
        ('input = module.m["a"]', _ALL),
        ("input = values(module.m)[*].id", _ALL),
        ('input = module.m["a"].id', _USED),
        ('input = module.m["a"].one', []),
        ("depends_on = [module.m]", _ALL),
        ('depends_on = [module.m["a"]]', _ALL),
        ('depends_on = [module.m["a"].id]', _USED),
    ],
)
def test_who_names_a_call_as_a_whole_waits_for_all_of_it(expr: str, wanted: list[str]) -> None:
    _write(_CALL + f'resource "terraform_data" "w" {{ {expr} }}\n', m=_MODULE, deep=_DEEP)
    _apply()
    data = json.loads(Path("terraform.tfstate").read_text())
    (stored,) = (each["instances"][0] for each in data["resources"] if each["name"] == "w")
    assert stored.get("dependencies", []) == wanted


# -- instances among themselves ---------------------------------------------------------------

_CHAIN = """\
variable "key" {}
variable "t" { default = 0 }
variable "prev" { default = null }
resource "terraform_data" "x" { triggers_replace = var.t }
resource "terraform_data" "y" {
  triggers_replace = [terraform_data.x.id, var.prev]
  input            = var.key
  provisioner "local-exec" {
    when    = destroy
    command = "test ! -e stuck-${self.input} && echo gone ${self.input} >> log"
  }
}
output "key" { value = var.key }
output "x" { value = terraform_data.x.id }
"""
_KEYS = """\
variable "keys" {
  type    = list(string)
  default = ["a", "b"]
}
variable "t" { default = 0 }
resource "terraform_data" "first" {}
module "m" {
  source   = "./m"
  for_each = toset(var.keys)
  key      = each.key
  t        = var.t
  prev     = terraform_data.first.id
}
"""


def _left() -> set[str]:
    data = json.loads(Path("terraform.tfstate").read_text())
    return {
        f"{each.get('module', '')}.{each['name']}"
        for each in data["resources"]
        if each["instances"]
    }


@pytest.mark.parametrize("flags", [["-destroy"], ['-var=keys=["c"]']])
def test_what_fails_in_one_instance_does_not_stop_the_others(flags: list[str]) -> None:
    _write(_KEYS, m=_CHAIN)
    _apply()
    Path("stuck-a").touch()
    _apply(*flags, code=1)
    stuck = {".first", 'module.m["a"].x', 'module.m["a"].y'}
    more = set() if "-destroy" in flags else {'module.m["c"].x', 'module.m["c"].y'}
    assert _left() == stuck | more
    Path("stuck-a").unlink()
    _apply(*flags)
    assert _left() == (more | {".first"} if more else set())


def test_a_replacement_that_fails_in_one_instance_does_not_stop_the_others() -> None:
    _write(_KEYS, m=_CHAIN)
    _apply()
    Path("stuck-a").touch()
    said = _apply("-var=t=1", code=1)
    assert 'module.m["b"].terraform_data.y: Creation complete' in said
    assert 'module.m["a"].terraform_data.x: Destroying' not in said


def test_an_instance_that_is_called_with_another_waits_for_it() -> None:
    """The instances of the call know each other through the caller."""
    text = _KEYS.replace("terraform_data.first.id", 'each.key == "b" ? module.m["a"].x : ""')
    _write(text, m=_CHAIN)
    _apply()
    Path("stuck-b").touch()
    said = _apply("-destroy", code=1)
    assert 'module.m["a"].terraform_data.x: Destroying' not in said
    assert 'module.m["a"].terraform_data.x' in _apply("-var=t=2", code=1)


def test_an_object_that_could_not_be_changed_needs_what_it_needed_and_needs_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        'resource "terraform_data" "old" {}\n'
        'resource "terraform_data" "new" {\n  triggers_replace = %d\n'
        '  provisioner "local-exec" {\n    command = "exit %d"\n  }\n}\n'
        'resource "terraform_data" "a" { input = terraform_data.%s.id }\n'
    )
    Path("main.tf").write_text(text % (1, 0, "old"))
    assert applied([], {})[0] == 0
    Path("main.tf").write_text(text % (2, 1, "new"))
    assert applied([], {})[0] == 1
    stored = json.loads(Path("terraform.tfstate").read_text())["resources"][0]["instances"][0]
    assert stored["dependencies"] == ["terraform_data.new", "terraform_data.old"]


_GUARDED = """
variable "v" { type = number }
resource "terraform_data" "a" { triggers_replace = var.v }
module "m" {
  source = "./m"
  count  = 2
  v      = var.v
  id     = terraform_data.a.id
}
resource "terraform_data" "of_output" { input = "${var.v} ${module.m[0].o}" }
resource "terraform_data" "other" { input = var.v }
"""
_GUARD = """
variable "id" {}
variable "v" {
  type = number
  validation {
    condition     = %s || var.v == 1
    error_message = "no"
  }
}
resource "terraform_data" "of_variable" { input = var.v }
output "o" {
  value = 1
  precondition {
    condition     = %s || var.v == 1
    error_message = "no"
  }
}
"""
_FINE, _WRONG = 'var.id != ""', 'var.id == ""'


@pytest.mark.parametrize(
    ("variable", "output", "left_alone"),
    [
        (_FINE, _FINE, set()),
        (_FINE, _WRONG, {"of_output"}),
        (_WRONG, _FINE, {"of_variable", "of_output"}),
    ],
    ids=["all hold", "a precondition fails", "a validation fails"],
)
def test_what_needs_a_value_waits_for_its_conditions(
    variable: str, output: str, left_alone: set[str]
) -> None:
    """The output is looked at only if the variable is as it must be, which it needs."""
    _write(_GUARDED, m=_GUARD % (variable, output))
    _apply("-var=v=1")
    _apply("-var=v=2", code=1 if left_alone else 0)
    data = json.loads(Path("terraform.tfstate").read_text())
    inputs = {
        each["name"]: str(each["instances"][0]["attributes"]["input"])
        for each in data["resources"]
        if each["name"] != "a"
    }
    assert {name for name, value in inputs.items() if "2" not in value} == left_alone
    statuses = {each["config_addr"]: each["status"] for each in data["check_results"]}
    assert statuses == {
        "module.m.var.v": "fail" if variable == _WRONG else "pass",
        "module.m.output.o": "pass"
        if not left_alone
        else ("unknown" if variable == _WRONG else "fail"),
    }


def test_what_uses_a_variable_needs_what_its_validation_refers_to() -> None:
    _write(
        'variable "v" {\n  default = 1\n  validation {\n'
        '    condition     = "${var.v}" != terraform_data.a.id\n    error_message = "no"\n  }\n}\n'
        'resource "terraform_data" "a" {}\nresource "terraform_data" "b" { input = var.v }\n'
    )
    _apply("-target=terraform_data.b")
    resources = json.loads(Path("terraform.tfstate").read_text())["resources"]
    needs = {each["name"]: each["instances"][0].get("dependencies", []) for each in resources}
    assert needs == {"a": [], "b": ["terraform_data.a"]}


_SHRINKING = """
resource "terraform_data" "a" {
  for_each = toset(%s)
  provisioner "local-exec" {
    when    = destroy
    command = "exit 1"
  }
}
resource "terraform_data" "unchanged" { input = length(terraform_data.a) > 5 }
"""


@pytest.mark.parametrize(
    ("text", "is_made"),
    [
        ('resource "terraform_data" "new" { depends_on = [terraform_data.a] }', False),
        ('resource "terraform_data" "new" { input = terraform_data.a["x"].id }', False),
        ('resource "terraform_data" "new" { input = terraform_data.unchanged.id }', False),
        (
            (
                "locals { l = keys(terraform_data.a) }\n"
                'resource "terraform_data" "new" { input = local.l }'
            ),
            False,
        ),
        ('module "m" {\n  source = "./m"\n  id = terraform_data.a["x"].id\n}', False),
        ('resource "terraform_data" "new" {}', True),
    ],
    ids=["depends_on", "an instance", "by another resource", "by a local", "in a module", "alone"],
)
def test_what_is_new_waits_for_the_end_of_what_it_needs(text: str, is_made: bool) -> None:
    module = 'variable "id" {}\nresource "terraform_data" "new" { input = var.id }\n'
    _write(_SHRINKING % '["x", "y"]', m=module)
    _apply()
    _write(_SHRINKING % '["x"]' + text, m=module)
    _apply(code=1)
    resources = json.loads(Path("terraform.tfstate").read_text())["resources"]
    assert any(each["name"] == "new" for each in resources) is is_made
