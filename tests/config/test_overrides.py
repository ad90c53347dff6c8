"""What override files change, and what they cannot."""

from __future__ import annotations

import pytest

from nigari.addrs.provider import LocalProviderConfig
from nigari.addrs.resource import MANAGED
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.module import Module
from nigari.diagnostics import Diagnostics
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from tests.config.loading import load, load_valid, told


def _overridden(main: str, override: str, another: str = "") -> Module:
    files = {"main.tf": main, "a_override.tf": override}
    if another:
        files["override.tf"] = another
    return load_valid(files)


def _data(expr: Expression | None) -> object:
    assert expr is not None
    return expr.value(Scope(), Diagnostics()).data


def test_variables_and_outputs_and_locals() -> None:
    module = _overridden(
        'variable "a" {\n type = string\n default = "x"\n description = "A"\n}\n'
        'output "o" {\n value = 1\n description = "O"\n}\nlocals {\n l = 1\n m = 2\n}\n',
        'variable "a" {\n default = "y"\n}\noutput "o" {\n value = 2\n}\nlocals {\n l = 3\n}\n',
        'variable "a" {\n sensitive = true\n}\n',
    )
    variable = module.variables["a"]
    assert _data(variable.default) == "y"
    assert variable.sensitive
    assert variable.description == "A"
    assert variable.range.filename == "main.tf"
    assert _data(module.outputs["o"].expr) == 2
    assert module.outputs["o"].description == "O"
    assert [_data(each.expr) for each in module.locals.values()] == [3, 2]


def test_resources() -> None:
    module = _overridden(
        'resource "a" "b" {\n count = 1\n x = 1\n y = 1\n block {\n  k = 1\n }\n block {}\n'
        " other {}\n lifecycle {\n  prevent_destroy = true\n  ignore_changes = [x]\n }\n"
        ' provisioner "p" {}\n provisioner "q" {}\n}\n',
        'resource "a" "b" {\n x = 2\n block {\n  k = 2\n }\n lifecycle {\n'
        '  prevent_destroy = false\n }\n provisioner "r" {}\n}\n',
    )
    resource = module.resources[ResourceAddr(MANAGED, "a", "b")]
    assert _data(resource.repetition.count) == 1
    assert _data(resource.lifecycle.prevent_destroy) is False
    assert isinstance(resource.lifecycle.ignore_changes, tuple)
    assert [each.type for each in resource.provisioners] == ["r"]
    unheard = Diagnostics()
    attributes = resource.body.just_attributes(unheard)
    assert {name: _data(each.expr) for name, each in attributes.items()} == {"x": 2, "y": 1}


def test_the_first_way_to_repeat_holds() -> None:
    module = _overridden(
        'resource "a" "b" {\n count = 2\n}\n', 'resource "a" "b" {\n for_each = {}\n}\n'
    )
    repetition = module.resources[ResourceAddr(MANAGED, "a", "b")].repetition
    assert _data(repetition.count) == 2
    assert repetition.for_each is None


def test_settings() -> None:
    module = _overridden(
        'terraform {\n cloud {}\n required_providers {\n  a = "1.0"\n  b = "1.0"\n }\n'
        ' encryption {\n  method "m" "n" {\n   x = 1\n   y = 1\n  }\n }\n}\n',
        'terraform {\n backend "local" {}\n required_providers {\n  a = "2.0"\n }\n'
        ' encryption {\n  method "m" "n" {\n   x = 2\n  }\n  method "m" "o" {}\n  state {}\n }\n}\n',
    )
    assert module.backend is not None
    assert module.backend.type == "local"
    versions = [_data(each.version) for each in module.required_providers.values()]
    assert versions == ["2.0", "1.0"]
    assert module.encryption is not None
    first, second = module.encryption.methods
    assert (first.name, second.name) == ("n", "o")
    attributes = first.body.just_attributes(Diagnostics())
    assert {name: _data(each.expr) for name, each in attributes.items()} == {"x": 2, "y": 1}
    assert module.encryption.state is not None


def test_calls_and_providers() -> None:
    module = _overridden(
        'module "m" {\n source = "./a"\n x = 1\n}\nprovider "p" {\n alias = "z"\n k = 1\n}\n',
        'module "m" {\n source = "./b"\n}\nprovider "p" {\n alias = "z"\n k = 2\n}\n'
        'provider "q" {}\n',
    )
    assert _data(module.calls["m"].source) == "./b"
    config = module.provider_configs[LocalProviderConfig("p", "z")]
    assert _data(config.body.just_attributes(Diagnostics())["k"].expr) == 2
    assert LocalProviderConfig("q") in module.provider_configs


_BASE = (
    'variable "a" {\n type = string\n default = "x"\n}\nresource "r" "s" {}\n'
    'output "o" {\n value = 1\n}\n'
)


@pytest.mark.parametrize(
    ("override", "line", "summary"),
    [
        ('variable "b" {}', 1, "Nothing to override"),
        ("locals {\n l = 1\n}", 2, "Nothing to override"),
        ('resource "r" "t" {}', 1, "Nothing to override"),
        ('provider "p" {\n alias = "z"\n}', 1, "Nothing to override"),
        ("moved {\n from = r.a\n to = r.s\n}", 1, "Misplaced block in an override file"),
        ('import {\n to = r.s\n id = "x"\n}', 1, "Misplaced block in an override file"),
        (
            "removed {\n from = r.a\n lifecycle {\n  destroy = true\n }\n}",
            1,
            "Misplaced block in an override file",
        ),
        ('check "c" {}', 1, "Misplaced block in an override file"),
        ("language {}", 1, "Misplaced block in an override file"),
        ('resource "r" "s" {\n depends_on = [\n  r.t\n ]\n}', 3, "Override of depends_on"),
        ('resource "r" "s" {\n depends_on = "x"\n}', 2, "List required"),
        ('terraform {\n provider_meta "r" {\n  x = var.a\n }\n}', 3, "Variables not allowed"),
        ('variable "a" {\n type = number\n}', 1, "Invalid default value for variable"),
        ('terraform {\n backend "a" {}\n backend "b" {}\n}', 3, "Duplicate backend block"),
        ("terraform {\n cloud {}\n cloud {}\n}", 3, "Duplicate cloud block"),
        (
            'output "o" {\n precondition {\n  condition = var.a\n  error_message = "x"\n }\n}',
            2,
            "Override of precondition",
        ),
        (
            (
                'resource "r" "s" {\n lifecycle {\n  postcondition {\n   condition = self.x\n'
                '   error_message = "x"\n  }\n }\n}'
            ),
            3,
            "Override of postcondition",
        ),
    ],
)
def test_refused(override: str, line: int, summary: str) -> None:
    _, diags = load({"main.tf": _BASE, "override.tf": override})
    assert told(diags) == [("error", "override.tf", line, summary)]


def test_what_is_misplaced_is_looked_at() -> None:
    _, diags = load({"main.tf": _BASE, "override.tf": "moved {\n from = r.a\n tx = r.s\n}"})
    assert told(diags) == [
        ("error", "override.tf", 1, "Misplaced block in an override file"),
        ("error", "override.tf", 1, "Missing argument"),
        ("error", "override.tf", 3, "Unexpected argument"),
    ]


def test_no_dependencies_change_nothing() -> None:
    assert _overridden(_BASE, 'resource "r" "s" {\n depends_on = []\n}').outputs


def test_blocks_of_providers_may_be_named_like_conditions() -> None:
    override = 'resource "r" "s" {\n validation {}\n}\nprovider "p" {\n precondition {}\n}'
    assert _overridden(_BASE, override).resources
