"""What diagnostics of a plan say besides their text: values, differences, addresses, signatures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostic, to_json
from tests.plan.museum import REQUIRED, install
from tests.plan.sessions import failed, planned, session

_MODULE = 'variable "n" {}\noutput "v" { value = var.n }\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(text: str, module: str = _MODULE) -> Sequence[Diagnostic]:
    """What is wrong with a configuration that may call the module `./m`."""
    Path("m").mkdir(exist_ok=True)
    Path("m/main.tf").write_text(module)
    Path("main.tf").write_text(text)
    return planned()[1]


def rule(kind: str, condition: str, message: str = "no") -> str:
    return f'{kind} {{\n condition = {condition}\n error_message = "{message}"\n }}\n'


def variable(default: str, condition: str, more: str = "") -> str:
    return f'variable "x" {{\n default = {default}\n {more}\n {rule("validation", condition)} }}\n'


def resource(condition: str, more: str = "") -> str:
    checked = rule("precondition", condition)
    return f'resource "terraform_data" "a" {{\n {more}\n lifecycle {{\n {checked} }}\n}}\n'


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (variable("1", "var.x > 3"), {"var.x": "is 1"}),
        (variable("1", "local.l[0] == var.x") + "locals {\n l = [2]\n}", {"local.l[0]": "is 2"}),
        (variable('"s"', "var.x > 3", "sensitive = true"), {}),
        (variable('"s"', "length(var.x) > 3", "ephemeral = true"), {}),
        (
            resource("count.index == 0", "count = 2"),
            {"count.index": "is 1"},
        ),
        (
            resource('each.value == ""', "for_each = { k = [1, 2] }"),
            {"each.value": "is tuple with 2 elements"},
        ),
        (
            resource("local.o == null") + "locals {\n o = { a = 1 }\n}",
            {"local.o": 'is object with 1 attribute "a"'},
        ),
        (
            'output "o" {\n value = 1\n ' + rule("precondition", "path.root == 2") + "}",
            {"path.root": 'is "."'},
        ),
        (
            'check "c" {\n ' + rule("assert", 'terraform.workspace == "x"') + "}",
            {"terraform.workspace": 'is "default"'},
        ),
        (
            (
                'resource "terraform_data" "a" {}\n'
                'resource "terraform_data" "b" { for_each = toset([terraform_data.a.id]) }'
            ),
            {"terraform_data.a.id": "is a string, known only after apply"},
        ),
        (
            (
                'variable "m" {\n default = null\n type = map(string)\n}\n'
                'resource "terraform_data" "b" { for_each = var.m }'
            ),
            {"var.m": "is null"},
        ),
        (
            (
                'variable "m" {\n default = {}\n sensitive = true\n}\n'
                'resource "terraform_data" "b" { for_each = var.m }'
            ),
            {"var.m": "has a sensitive value"},
        ),
        (
            (
                'variable "e" {\n default = "maybe"\n}\n'
                'resource "terraform_data" "b" {\n lifecycle { enabled = var.e }\n}'
            ),
            {"var.e": 'is "maybe"'},
        ),
    ],
)
def test_values(text: str, values: dict[str, str]) -> None:
    failures = [each for each in told(text) if each.summary != "Check not known yet"]
    found = {each.name: each.text for each in failures[0].values}
    assert {name: found.get(name) for name in values} == values
    assert len(found) >= len(values)
    assert not any("sensitive" in text and not values for text in found.values())


@pytest.mark.parametrize(
    ("condition", "more", "before", "after"),
    [
        ("var.x == { a = 2 }", "", {"a": 1}, {"a": 2}),
        ("(var.x == { a = 2 })", "", {"a": 1}, {"a": 2}),
        ("var.x.a > 5", "", None, None),
        ("var.x == { a = 2 }", "sensitive = true", None, None),
        ("var.x == { a = 2 }", "ephemeral = true", None, None),
    ],
)
def test_differences(condition: str, more: str, before: object, after: object) -> None:
    (failure,) = told(variable("{ a = 1 }", condition, more))
    difference = failure.difference
    if before is None:
        assert difference is None
    else:
        assert difference is not None
        assert (json.loads(difference.before), json.loads(difference.after)) == (before, after)


def test_a_secret_inside_a_difference_is_hidden() -> None:
    text = (
        'variable "s" {\n default = "hunter2"\n sensitive = true\n}\n'
        'locals {\n have = { a = 1, s = var.s }\n want = { a = 2, s = "other" }\n}\n'
        + resource("local.have == local.want")
    )
    (failure,) = told(text)
    error = failed()
    assert "hunter2" not in f"{error} {failure}"
    shown = to_json(failure, error.sources)
    assert "hunter2" not in json.dumps(shown)
    assert shown["difference"] == {
        "before": {"a": 1, "s": None},
        "after": {"a": 2, "s": "other"},
        "after_unknown": False,
        "before_sensitive": {"s": True},
        "after_sensitive": {},
    }


_CALL = 'module "m" {\n source = "./m"\n for_each = { k = 1 }\n n = each.value\n}\n'


@pytest.mark.parametrize(
    ("text", "module", "address"),
    [
        (resource('path.root == "x"'), _MODULE, "terraform_data.a"),
        (resource('path.root == "x"', "count = 1"), _MODULE, "terraform_data.a[0]"),
        (
            'resource "terraform_data" "a" {\n for_each = { k = 1 }\n input = {}[each.key]\n}',
            _MODULE,
            'terraform_data.a["k"]',
        ),
        (_CALL, 'variable "n" {}\nlocals {\n x = [1][var.n]\n}', 'module.m["k"]'),
        (_CALL, 'variable "n" {}\noutput "o" { value = [1][var.n] }', 'module.m["k"]'),
        (
            _CALL,
            'variable "n" {\n ' + rule("validation", "var.n > 3") + "}",
            'module.m["k"].var.n',
        ),
        (
            _CALL,
            'variable "n" {}\noutput "o" {\n value = 1\n '
            + rule("precondition", "var.n > 3")
            + "}",
            'module.m["k"].output.o',
        ),
        (
            _CALL,
            'variable "n" {}\ncheck "c" {\n ' + rule("assert", "var.n > 3") + "}",
            'module.m["k"].check.c',
        ),
        (_CALL + 'output "o" { value = module.m["k"].w }', _MODULE, 'module.m["k"]'),
    ],
)
def test_an_instance_is_named(text: str, module: str, address: str) -> None:
    assert [each.address for each in told(text, module)] == [address]


@pytest.mark.parametrize(
    ("expression", "detail"),
    [
        ('terraform_data.a["z"].id', 'the keys are "x" and "y"'),
        ("terraform_data.b[5].id", "the last one is at index 1"),
        ('module.m["z"].v', 'there is ["k"]'),
        ('{ for n in range(20) : "k${n}" => n }["z"]', "and 12 more"),
    ],
)
def test_missing_keys_are_told_with_those_that_there_are(expression: str, detail: str) -> None:
    (failure,) = told(
        'resource "terraform_data" "a" { for_each = toset(["x", "y"]) }\n'
        'resource "terraform_data" "b" { count = 2 }\n'
        f'{_CALL}output "o" {{ value = {expression} }}\n'
    )
    assert detail in failure.detail


@pytest.mark.parametrize(
    ("call", "signature"),
    [
        ("substr(1)", "substr(str, offset, length)"),
        ("substr(1, 2, 3, 4)", "substr(str, offset, length)"),
        ('join(",", 5)', "join(separator, lists...)"),
        ('core::parseint("x", 10)', "core::parseint(number, base)"),
        ("nofunc()", None),
    ],
)
def test_wrong_arguments_are_told_with_the_signature(call: str, signature: str | None) -> None:
    (failure,) = told(f'output "o" {{ value = {call} }}')
    assert (None if failure.call is None else str(failure.call)) == signature
    (found,) = session().validate()
    snippet = to_json(found, {"main.tf": Path("main.tf").read_bytes()})["snippet"]
    assert isinstance(snippet, dict)
    assert ("function_call" in snippet) == (signature is not None)
    if call.startswith("join"):
        assert snippet["function_call"] == {
            "called_as": "join",
            "signature": {
                "name": "join",
                "params": [{"name": "separator", "type": "string"}],
                "variadic_param": {"name": "lists", "type": ["list", "string"]},
                "return_type": "string",
            },
        }


def test_a_check_that_is_not_known_yet_is_a_warning() -> None:
    (warning,) = told(
        'resource "terraform_data" "a" {}\n'
        'check "c" {\n ' + rule("assert", 'terraform_data.a.id == ""') + "}\n"
    )
    assert warning.summary == "Check not known yet"
    assert [each.text for each in warning.values] == ["is a string, known only after apply"]


@pytest.mark.parametrize("repetition", ["", "count = 1", 'for_each = toset(["k"])'])
def test_what_a_provider_deprecates_is_a_warning_where_it_is_used(
    repetition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch)
    key = {"": "", "c": "[0]", "f": '["k"]'}[repetition[:1]]
    found = told(
        f'{REQUIRED}resource "museum_piece" "a" {{\n {repetition}\n name = "n"\n worn = true\n}}\n'
        f'output "o" {{ value = museum_piece.a{key}.worn }}\n'
    )
    warnings = [each for each in found if each.deprecation is not None]
    assert {each.summary for each in warnings} == {"Deprecated attribute"}
    assert {each.subject.start.line for each in warnings if each.subject} == {11}
