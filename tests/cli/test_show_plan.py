"""What programs are shown of plans and of the states around them, one rule after the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from nigari.cli.commands import apply, plan, show
from tests.cli.in_process import applied, ran

Environ = dict[str, str]


def write(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def planned(environ: Environ, *flags: str) -> dict[str, object]:
    """The document of a plan that is saved as `p`."""
    status, said = ran(plan.COMMAND, ["-out=p", *flags], environ)
    assert status == 0, said
    return shown(environ, "p")


def shown(environ: Environ, *words: str) -> dict[str, object]:
    status, said = ran(show.COMMAND, ["-json", *words], environ)
    assert status == 0, said
    document = json.loads(said)
    assert isinstance(document, dict)
    return document


def at(data: object, *steps: str | int) -> object:
    """A part of a document; None where there is none."""
    for step in steps:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int):
            data = data[step]
        else:
            return None
    return data


def names(data: object, member: str = "address") -> list[object]:
    assert isinstance(data, list)
    return [each[member] for each in data]


def told(said: str, kind: str) -> list[dict[str, object]]:
    events = [json.loads(line) for line in said.splitlines()]
    return [each for each in events if each["type"] == kind]


def test_variables_are_shown_as_they_were_given(rich: Environ) -> None:
    write(
        {
            "main.tf": 'variable "given" { type = number }\n'
            'variable "default" {\n  type = number\n  default = "3"\n}\n'
            'variable "passing" {\n  default = "e"\n  ephemeral = true\n}\n'
        }
    )
    document = planned(rich, "-var=given=7", "-var=passing=secret")
    assert document["variables"] == {
        "given": {"value": "7"},
        "default": {"value": 3},
        "passing": {"value": "e"},
    }


def test_a_default_may_be_any_static_expression(rich: Environ) -> None:
    write(
        {
            "main.tf": 'variable "name" { default = "a" }\n'
            'variable "list" {\n  type = list(string)\n  default = [upper(var.name), local.x]\n}\n'
            'variable "key" {\n  sensitive = true\n  default = "written"\n}\n'
            'variable "keys" { default = ["${var.key}-x"] }\n'
            'variable "lost" {\n  ephemeral = true\n  default = var.also\n}\n'
            'variable "also" {\n  ephemeral = true\n  default = "e"\n}\n'
            'locals { x = "x" }\n'
            'module "m" {\n  source = "./m"\n  name = "inner"\n}\n',
            "m/main.tf": 'variable "name" {}\nvariable "own" { default = "${var.name}-own" }\n',
        }
    )
    document = planned(rich, "-var=name=b", "-var=key=secret")
    variables = cast("dict[str, dict[str, object]]", document["variables"])
    assert {name: each["value"] for name, each in variables.items()} == {
        "name": "b",
        "list": ["B", "x"],
        "key": "secret",
        "keys": ["secret-x"],
        "also": "e",
    }
    root = cast("dict[str, dict[str, dict[str, object]]]", document["configuration"])["root_module"]
    assert "secret" not in json.dumps(root)
    assert cast("dict[str, object]", root["variables"]["list"])["default"] == ["B", "x"]
    assert '"default": "inner-own"' in json.dumps(root["module_calls"])


def test_a_module_below_one_without_resources(rich: Environ) -> None:
    write(
        {
            "main.tf": 'module "m" {\n  source = "./m"\n}\n',
            "m/main.tf": 'module "n" {\n  source = "./n"\n}\n',
            "m/n/main.tf": 'resource "terraform_data" "a" {}\n',
        }
    )
    assert applied([], rich)[0] == 0
    found = at(shown(rich), "values", "root_module", "child_modules", 0, "child_modules", 0)
    assert at(found, "address") == "module.m.module.n"
    assert names(at(found, "resources")) == ["module.m.module.n.terraform_data.a"]


_DATA = """\
resource "rich_thing" "a" {
  name = "a"
  text = "%s"
}
data "rich_lookup" "now" { key = "k" }
data "rich_lookup" "later" { key = rich_thing.a.echo }
"""


def test_prior_state_has_the_data_of_before(rich: Environ) -> None:
    write({"main.tf": _DATA % "one"})
    assert applied([], rich)[0] == 0
    both = ["data.rich_lookup.later", "data.rich_lookup.now", "rich_thing.a"]
    resources = ("prior_state", "values", "root_module", "resources")
    assert sorted(map(str, names(at(planned(rich), *resources)))) == both
    assert sorted(map(str, names(at(planned(rich, "-destroy"), *resources)))) == both
    write({"main.tf": _DATA % "two"})
    assert sorted(map(str, names(at(planned(rich), *resources)))) == both[1:]


@pytest.mark.parametrize(
    ("repetition", "keys"),
    [
        ("", [""]),
        ("count = 2", ["[0]", "[1]"]),
        ('for_each = toset(["a"])', ['["a"]']),
        ("lifecycle { enabled = true }", [""]),
    ],
)
def test_prior_state_has_the_data_of_every_module_instance_that_is_destroyed(
    repetition: str, keys: list[str], rich: Environ
) -> None:
    module = f'module "m" {{\n  source = "./m"\n  {repetition}\n}}\n'
    write({"main.tf": module, "m/main.tf": _DATA % "one"})
    assert applied([], rich)[0] == 0
    document = planned(rich, "-destroy")
    modules = at(document, "prior_state", "values", "root_module", "child_modules")
    assert isinstance(modules, list)
    found = sorted(str(each) for part in modules for each in names(at(part, "resources")))
    parts = ("data.rich_lookup.later", "data.rich_lookup.now", "rich_thing.a")
    assert found == sorted(f"module.m{key}.{part}" for key in keys for part in parts)


def test_prior_state_keeps_outputs_of_what_is_left_out(rich: Environ) -> None:
    write({"main.tf": _DATA % "one" + 'output "o" { value = rich_thing.a.echo }\n'})
    assert applied([], rich)[0] == 0
    document = planned(rich, "-target=data.rich_lookup.now")
    assert at(document, "prior_state", "values", "outputs", "o", "value") == "ONE"


_CHECKED = """\
resource "terraform_data" "a" {
  count = %d
  lifecycle {
    postcondition {
      condition     = self.id != ""
      error_message = "no id"
    }
  }
}
module "m" {
  source = "./m"
  count  = %d
}
output "o" {
  value = 1
  precondition {
    condition     = terraform.workspace != ""
    error_message = "never"
  }
}
"""
_CHECKED_MODULE = """\
check "c" {
  assert {
    condition     = terraform.workspace != ""
    error_message = "never"
  }
}
"""


def statuses(document: dict[str, object]) -> dict[str, tuple[object, int]]:
    """The status of everything that is checked, and how many instances it has."""
    checks = document["checks"]
    assert isinstance(checks, list)
    return {
        each["address"]["to_display"]: (each["status"], len(each.get("instances", ())))
        for each in checks
    }


def test_checks_of_what_has_no_instances(rich: Environ) -> None:
    write({"main.tf": _CHECKED % (0, 0), "m/main.tf": _CHECKED_MODULE})
    wanted = {
        "module.m.check.c": ("pass", 0),
        "output.o": ("pass", 1),
        "terraform_data.a": ("pass", 0),
    }
    assert statuses(planned(rich)) == wanted
    assert ran(apply.COMMAND, ["p"], rich)[0] == 0
    assert statuses(shown(rich)) == wanted


def test_checks_of_what_is_left_out(rich: Environ) -> None:
    write({"main.tf": _CHECKED % (1, 1), "m/main.tf": _CHECKED_MODULE})
    document = planned(rich, "-target=terraform_data.a")
    assert statuses(document)["module.m.check.c"] == ("unknown", 0)
    assert statuses(document)["terraform_data.a"] == ("unknown", 1)
    assert ran(apply.COMMAND, ["p"], rich)[0] == 0
    assert statuses(shown(rich))["module.m.check.c"] == ("unknown", 0)


_USED = """\
variable "used" {
  type    = number
  default = 1
  validation {
    condition     = var.used > 0
    error_message = "negative"
  }
}
variable "unused" {
  default = 1
  validation {
    condition     = var.unused > 0
    error_message = "negative"
  }
}
module "m" {
  source = "./m"
  v      = var.used
}
output "o" { value = module.m.o }
"""
_USED_MODULE = """\
variable "v" {
  validation {
    condition     = var.v < 5
    error_message = "large"
  }
}
resource "terraform_data" "a" { input = var.v }
output "o" {
  value = terraform_data.a.input
  precondition {
    condition     = var.v != 3
    error_message = "three"
  }
}
"""


def test_checks_of_what_a_target_needs(rich: Environ) -> None:
    write({"main.tf": _USED, "m/main.tf": _USED_MODULE})
    assert statuses(planned(rich, "-target=module.m")) == {
        "module.m.output.o": ("pass", 1),
        "module.m.var.v": ("pass", 1),
        "var.unused": ("unknown", 0),
        "var.used": ("pass", 1),
    }
    for value, says in (("-1", "negative"), ("6", "large"), ("3", "three")):
        status, said = ran(plan.COMMAND, ["-target=module.m", f"-var=used={value}"], rich)
        assert status == 1
        assert says in said


def test_checks_whose_data_is_read(rich: Environ) -> None:
    module = (
        'check "c" {\n  data "rich_lookup" "d" { key = "d" }\n  assert {\n'
        '    condition     = data.rich_lookup.d.key == "d"\n    error_message = "no"\n  }\n}\n'
    )
    call = 'module "m" {\n  source = "./m"\n  for_each = toset(["x", "y"])\n}\n'
    write({"main.tf": 'resource "terraform_data" "a" {}\n' + call, "m/main.tf": module})
    assert statuses(planned(rich, "-exclude=terraform_data.a")) == {
        "module.m.check.c": ("unknown", 2)
    }
    assert ran(apply.COMMAND, ["p"], rich)[0] == 0
    stored = json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert [each["status"] for each in stored] == ["unknown"]
    assert statuses(planned(rich, "-target=terraform_data.a")) == {
        "module.m.check.c": ("unknown", 0)
    }


def test_a_destroy_moves_first(rich: Environ) -> None:
    write({"main.tf": 'resource "terraform_data" "a" {}\n'})
    assert applied([], rich)[0] == 0
    moved = "moved {\n  from = terraform_data.a\n  to   = terraform_data.b\n}\n"
    write({"main.tf": 'resource "terraform_data" "b" {}\n' + moved})
    for flag, is_told in (("-refresh=true", False), ("-refresh=false", True)):
        change = at(planned(rich, "-destroy", flag), "resource_changes", 0)
        assert isinstance(change, dict)
        assert ("previous_address" in change) is is_told


def test_checks_of_a_destroy(rich: Environ) -> None:
    write({"main.tf": _CHECKED % (1, 1), "m/main.tf": _CHECKED_MODULE})
    assert applied([], rich)[0] == 0
    assert statuses(planned(rich, "-destroy")) == {
        "module.m.check.c": ("unknown", 0),
        "output.o": ("unknown", 1),
        "terraform_data.a": ("unknown", 0),
    }


def test_no_drift_in_a_destroy(rich: Environ) -> None:
    write({"main.tf": 'resource "rich_thing" "a" { name = "a" }\n'})
    assert applied([], rich)[0] == 0
    write({"a.drift": "changed"})
    assert names(planned(rich)["resource_drift"]) == ["rich_thing.a"]
    assert "resource_drift" not in planned(rich, "-destroy")


def test_the_type_of_a_null_is_not_told(rich: Environ) -> None:
    write({"main.tf": 'output "o" { value = true ? null : "x" }\n'})
    document = planned(rich)
    assert at(document, "planned_values", "outputs", "o", "type") == "dynamic"


def test_relevant_attributes_of_a_module_without_resources(rich: Environ) -> None:
    write(
        {
            "main.tf": 'resource "rich_thing" "a" { name = "a" }\n'
            'module "m" {\n  source = "./m"\n  v = rich_thing.a.echo\n}\n',
            "m/main.tf": 'variable "v" {}\noutput "o" { value = var.v }\n',
        }
    )
    assert applied([], rich)[0] == 0
    assert planned(rich)["relevant_attributes"] == [
        {"resource": "rich_thing.a", "attribute": ["echo"]}
    ]


def test_null_outputs_of_a_module_make_nothing_relevant(rich: Environ) -> None:
    write(
        {
            "main.tf": 'resource "rich_thing" "a" { name = "a" }\n'
            'module "m" {\n  source = "./m"\n  v = rich_thing.a.echo\n}\n',
            "m/main.tf": 'variable "v" {}\noutput "o" { value = var.v == "" ? var.v : null }\n',
        }
    )
    assert applied([], rich)[0] == 0
    assert "relevant_attributes" not in planned(rich)


def test_the_arguments_of_a_provider_that_nothing_uses(rich: Environ) -> None:
    write({"main.tf": 'provider "rich" {\n  alias = "a"\n  region = "x"\n}\n'})
    assert at(planned(rich), "configuration", "provider_config", "rich.a", "expressions") == {
        "region": {"constant_value": "x"}
    }


def test_an_import_into_a_module_uses_a_provider_of_the_root(rich: Environ) -> None:
    write(
        {
            "main.tf": 'module "m" {\n  source = "./m"\n}\n'
            'import {\n  to = module.m.rich_thing.a\n  id = "a"\n}\n',
            "m/main.tf": 'resource "rich_thing" "a" { name = "a" }\n',
        }
    )
    configs = at(planned(rich), "configuration", "provider_config")
    assert isinstance(configs, dict)
    assert list(configs) == ["rich"]


def test_generated_blocks_are_told(rich: Environ) -> None:
    write({"main.tf": 'import {\n  to = rich_known.a\n  id = "a"\n}\n'})
    flags = ["-json", "-out=p", "-generate-config-out=made.tf"]
    status, said = ran(plan.COMMAND, flags, rich)
    assert status == 0, said
    text = 'resource "rich_known" "a" {\n  name = "a"\n  text = "found"\n}'
    assert [at(each, "change", "generated_config") for each in told(said, "planned_change")] == [
        text
    ]
    assert at(shown(rich, "p"), "resource_changes", 0, "change", "generated_config") == text


def test_a_saved_plan_tells_what_it_is_going_to_do(rich: Environ) -> None:
    write({"main.tf": 'resource "rich_thing" "a" { name = "a" }\noutput "o" { value = 1 }\n'})
    planned(rich)
    status, said = ran(apply.COMMAND, ["-json", "p"], rich)
    assert status == 0, said
    (change,) = told(said, "planned_change")
    assert at(change, "change", "resource", "addr") == "rich_thing.a"
    assert at(change, "change", "action") == "create"


def test_deprecated_outputs_say_so(rich: Environ) -> None:
    write({"main.tf": 'output "o" {\n  value = 1\n  deprecated = "use p"\n}\n'})
    prior = ("prior_state", "values", "outputs", "o", "deprecated")
    assert at(planned(rich), *prior) == "use p"
    _, said = ran(apply.COMMAND, ["-json", "p"], rich)
    assert at(told(said, "outputs")[-1], "outputs", "o", "deprecated") == "use p"


def test_what_is_secret_or_unknown_is_marked_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main = """\
variable "s" {
  default   = "x"
  sensitive = true
}
module "m" {
  source = "./m"
  s      = var.s
}
output "part" {
  value = { id = module.m.id, name = "n" }
}
output "secret" {
  value     = var.s
  sensitive = true
}
output "open" {
  value = "o"
}
"""
    module = """\
variable "s" {}
resource "terraform_data" "a" {
  input = { open = "o", secret = var.s }
}
output "id" {
  value = terraform_data.a.id
}
"""
    write({"main.tf": main, "m/main.tf": module})
    document = planned({})
    module_at = ("planned_values", "root_module", "child_modules", 0, "resources", 0)
    assert at(document, *module_at, "sensitive_values", "input") == {"secret": True}
    assert at(document, "output_changes", "part", "after_unknown") == {"id": True}
    assert at(document, "output_changes", "open", "after_unknown") is False
    assert applied(["p"], {})[0] == 0
    document = planned({}, "-var=s=y")
    outputs = at(document, "prior_state", "values", "outputs")
    assert at(outputs, "secret", "sensitive") is True
    assert at(outputs, "open", "sensitive") is False
    change = at(document, "resource_changes", 0, "change")
    for each in ("before_sensitive", "after_sensitive"):
        assert at(change, each, "input") == {"secret": True}
