"""Plans of small configurations: what is done, in which order, and why."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Unpack

import pytest

import nigari
from nigari.plan.model.changes import Reason
from nigari.plan.model.execution_graph import ExecutionGraph, OperationKind
from nigari.workspace.session.plan_result import made_plan
from tests.plan import sessions
from tests.plan.sessions import Options, Variables, applied, failed, graph_of, session


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _plan(
    text: str, variables: Variables | None = None, **options: Unpack[Options]
) -> tuple[nigari.Plan, ExecutionGraph]:
    Path("main.tf").write_text(text)
    plan = sessions.plan(variables, **options)
    return plan, graph_of(plan)


def _apply(text: str) -> None:
    Path("main.tf").write_text(text)
    applied()


def _order(graph: ExecutionGraph) -> list[str]:
    numbers = graph.in_order()
    assert len(numbers) == len(graph.operations)
    return [str(graph.operations[number]) for number in numbers]


def _errors(text: str, **options: Unpack[Options]) -> list[str]:
    Path("main.tf").write_text(text)
    return [each.summary for each in failed(**options).diagnostics]


_CHAIN = """
resource "terraform_data" "a" { triggers_replace = %s }
resource "terraform_data" "b" { triggers_replace = terraform_data.a.id }
resource "terraform_data" "c" { input = terraform_data.b.id }
"""


def test_creating_goes_along_references(here: Path) -> None:
    _, graph = _plan(_CHAIN % 1)
    order = [each for each in _order(graph) if each.startswith("create")]
    assert order == [f"create terraform_data.{name}" for name in "abc"]


def test_replacing_destroys_from_the_end_and_creates_from_the_start(here: Path) -> None:
    _apply(_CHAIN % 1)
    plan, graph = _plan(_CHAIN % 2)
    assert plan.summary == nigari.Summary(2, 1, 2)
    order = _order(graph)
    wanted = ["delete terraform_data.b", "delete terraform_data.a", "create terraform_data.a"]
    wanted += ["create terraform_data.b", "update terraform_data.c"]
    assert [each for each in order if each in wanted] == wanted


def test_destroying_goes_against_references(here: Path) -> None:
    _apply(_CHAIN % 1)
    plan, graph = _plan(_CHAIN % 1, destroy=True)
    assert plan.summary == nigari.Summary(0, 0, 3)
    order = [each for each in _order(graph) if each.startswith("delete")]
    assert order == [f"delete terraform_data.{name}" for name in "cba"]


def test_destroying_goes_against_references_to_what_has_moved(here: Path) -> None:
    _apply(_CHAIN % 1)
    _, graph = _plan("moved {\n  from = terraform_data.a\n  to   = terraform_data.z\n}\n")
    order = [each for each in _order(graph) if each.startswith("delete")]
    assert order == [f"delete terraform_data.{name}" for name in "cbz"]
    deleted = {str(each): number for number, each in enumerate(graph.operations)}
    (last,) = (each for each in graph.operations if str(each) == "delete terraform_data.z")
    assert deleted["delete terraform_data.b"] in last.after


def test_what_has_moved_changes_after_the_end_of_what_depended_on_it(here: Path) -> None:
    _apply(_CHAIN % 1)
    moved = "moved {\n  from = terraform_data.a\n  to   = terraform_data.z\n}\n"
    _, graph = _plan(
        f'{moved}resource "terraform_data" "z" {{\n triggers_replace = 1\n input = 2\n}}'
    )
    numbers = {str(each): number for number, each in enumerate(graph.operations)}
    (last,) = (each for each in graph.operations if str(each) == "update terraform_data.z")
    assert numbers["delete terraform_data.b"] in last.after


_UNAPPLIED = """
variable "n" { default = %s }
resource "terraform_data" "a" {
  count = var.n
  lifecycle { %s }
}
"""


@pytest.mark.parametrize(
    ("stored", "now", "refresh", "steps"),
    [
        ("destroy = false", "", True, ["delete", "forget"]),
        ("destroy = false", "destroy = true", True, ["delete", "forget"]),
        ("destroy = false", "", False, ["forget", "forget"]),
        ("", "destroy = false", True, ["forget", "forget"]),
        ("", "destroy = false", False, ["forget", "forget"]),
    ],
)
def test_a_destroy_takes_over_what_the_configuration_says(
    here: Path, stored: str, now: str, refresh: bool, steps: list[str]
) -> None:
    """It says nothing of the second object, which is not declared any more."""
    _apply(_UNAPPLIED % (2, stored))
    plan, _ = _plan(_UNAPPLIED % (1, now), destroy=True, refresh=refresh)
    assert [each.steps for each in plan.changes] == [(step,) for step in steps]


_CALLING = 'variable "n" { default = %s }\nmodule "m" {\n  source = "./m"\n  count  = var.n\n}\n'
_MADE_FIRST = 'resource "terraform_data" "a" {\n  lifecycle { %s }\n}\n'


@pytest.mark.parametrize("how", ["resource", "module"])
@pytest.mark.parametrize("declared", [0, 1, 2])
def test_what_a_destroy_leaves_has_what_the_configuration_says(
    here: Path, how: str, declared: int
) -> None:
    """It says nothing of objects that are not declared any more."""
    Path("m").mkdir()
    first = "create_before_destroy = true"
    text = ""
    for number, lifecycle in ((2, ""), (declared, first)):
        Path("m/main.tf").write_text(_MADE_FIRST % lifecycle)
        text = _UNAPPLIED % (number, lifecycle) if how == "resource" else _CALLING % number
        if not lifecycle:
            _apply(text)
    plan, _ = _plan(text, destroy=True)
    found = [
        instance.current.create_before_destroy
        for _, instance in made_plan(plan).plan.refreshed_state.instances()
        if instance.current is not None
    ]
    assert found == [number < declared for number in range(2)]


def _chain(names: str, count: int, trigger: int = 0) -> str:
    """Resources, each of which needs the one before."""
    texts, before = [], ""
    for name in names:
        needed = f"terraform_data.{before}[*].id" if before else "[]"
        body = f"count = {count}\n input = {needed}\n triggers_replace = {trigger}"
        texts.append(f'resource "terraform_data" "{name}" {{\n {body}\n}}\n')
        before = name
    return "".join(texts)


@pytest.mark.parametrize(
    ("stored", "now", "count"),
    [
        ("ab", "ab", 0),
        ("ab", "ba", 0),
        ("ab", "ba", 1),
        ("abc", "cba", 0),
        ("abc", "bca", 1),
        ("abc", "ca", 0),
        ("abc", "cab", 1),
        ("abcd", "dabc", 1),
        ("abcd", "badc", 0),
    ],
)
@pytest.mark.parametrize("destroy", [False, True])
def test_what_needed_something_when_it_was_stored_ends_before_it(
    here: Path, stored: str, now: str, count: int, destroy: bool
) -> None:
    """Whatever the configuration says by now."""
    _apply(_chain(stored, 1))
    _, graph = _plan(_chain(now, count, 1), destroy=destroy)
    _check_ends(graph, stored[::-1])


@pytest.mark.parametrize("refresh", [True, False])
@pytest.mark.parametrize("destroy", [True, False])
def test_the_configuration_says_the_order_where_the_state_does_not(
    here: Path, destroy: bool, refresh: bool
) -> None:
    """As after an import by somebody who stores no dependencies."""
    _apply(_chain("abc", 1))
    path = Path("terraform.tfstate")
    data = json.loads(path.read_text())
    for resource in data["resources"]:
        resource["instances"][0].pop("dependencies", None)
    path.write_text(json.dumps(data))
    _, graph = _plan(_chain("abc", 1, 2), destroy=destroy, refresh=refresh)
    _check_ends(graph, "cba")


@pytest.mark.parametrize("options", [Options(), Options(refresh=False), Options(destroy=True)])
@pytest.mark.parametrize("target", ["x", "m"])
def test_what_needed_something_ends_before_it_also_where_that_has_moved(
    here: Path, options: Options, target: str
) -> None:
    _apply(_chain("abc", 1))
    to = "terraform_data.x" if target == "x" else "module.m.terraform_data.x"
    moved = f"moved {{\n  from = terraform_data.b\n  to   = {to}\n}}\n"
    declared = 'resource "terraform_data" "x" { count = 0 }\n'
    Path("m").mkdir()
    Path("m/main.tf").write_text(declared)
    module = declared if target == "x" else 'module "m" {\n  source = "./m"\n}\n'
    _, graph = _plan(moved + module + _chain("a", 0) + _chain("c", 0), **options)
    _check_ends(graph, "cxa")


@pytest.mark.parametrize("options", [Options(), Options(destroy=True)])
def test_what_has_moved_into_an_instance_of_a_module_ends_before_others_that_it_needed(
    here: Path, options: Options
) -> None:
    Path("m").mkdir()
    inside = 'resource "terraform_data" "b" {\n count = %d\n}\noutput "o" {\n value = 1\n}\n'
    call = 'module "m" {\n source = "./m"\n for_each = toset(["one", "two"])\n}\n'
    Path("m/main.tf").write_text(inside % 1)
    _apply(f'{call}resource "terraform_data" "a" {{\n input = module.m\n}}\n')
    Path("m/main.tf").write_text(inside % 0)
    moved = 'moved {\n from = terraform_data.a\n to = module.m["one"].terraform_data.a\n}\n'
    _, graph = _plan(call + moved, **options)
    ends = [each for each in graph.operations if each.kind is OperationKind.DELETE]
    (first,) = [each for each in ends if each.address.endswith(".a")]
    for each in ends:
        if each is not first:
            assert graph.operations.index(first) in each.after


def test_what_is_not_declared_any_more_does_not_wait_as_its_block_does_now(here: Path) -> None:
    first = 'resource "terraform_data" "a" {\n input = %d\n}\nresource "terraform_data" "b" {\n'
    _apply(f"{first % 1} count = 2\n}}")
    now = f"{first % 2} count = 0\n input = terraform_data.a.output\n}}"
    for options in (Options(), Options(destroy=True)):
        _, graph = _plan(now, **options)
        work = [each for each in graph.operations if "terraform_data" in each.address]
        assert len(work) == 3
        assert not any(
            "terraform_data" in graph.operations[n].address for e in work for n in e.after
        )


def _check_ends(graph: ExecutionGraph, names: str) -> None:
    """Whether objects end one after the other in any order of the operations."""
    before: dict[int, set[int]] = {}
    for number in graph.in_order():
        direct = graph.operations[number].after
        before[number] = {*direct, *(each for other in direct for each in before[other])}
    ended = {
        each.address.rpartition("terraform_data.")[2][0]: number
        for number, each in enumerate(graph.operations)
        if each.kind is OperationKind.DELETE
    }
    assert sorted(ended) == sorted(names)
    for first, second in pairwise(names):
        assert ended[first] in before[ended[second]]


def test_created_first_is_destroyed_after_its_dependents_are_done(here: Path) -> None:
    lifecycle = "{\n triggers_replace = %s\n lifecycle { create_before_destroy = true }\n}"
    text = f'resource "terraform_data" "a" {lifecycle}\n'
    text += 'resource "terraform_data" "b" { input = terraform_data.a.id }'
    _apply(text % 1)
    plan, graph = _plan(text % 2)
    assert [change.steps for change in plan.changes] == [("create", "delete"), ("update",)]
    order = [each for each in _order(graph) if "terraform_data" in each]
    assert order == [
        "create terraform_data.a",
        "update terraform_data.b",
        "delete terraform_data.a (deposed replaced)",
    ]


@pytest.mark.parametrize(
    ("now", "last"),
    [
        ('resource "terraform_data" "b" { input = 2 }\n', "update"),
        ('resource "terraform_data" "b" { triggers_replace = 2 }\n', "create"),
    ],
    ids=["updated", "replaced"],
)
def test_what_is_destroyed_goes_before_what_it_needed_changes(
    here: Path, now: str, last: str
) -> None:
    text = 'resource "terraform_data" "b" { input = 1 }\n'
    _apply(text + 'resource "terraform_data" "a" { input = terraform_data.b.id }\n')
    _, graph = _plan(now)
    numbers = {str(each): number for number, each in enumerate(graph.operations)}
    pending, before = [numbers[f"{last} terraform_data.b"]], set[int]()
    while pending:
        before.update(found := graph.operations[pending.pop()].after)
        pending.extend(found)
    assert numbers["delete terraform_data.a"] in before


def test_graph_is_json(here: Path) -> None:
    _, graph = _plan(_CHAIN % 1)
    assert ExecutionGraph.from_json(json.loads(json.dumps(graph.to_json()))) == graph


def test_graph_does_not_grow_with_pairs_of_instances(here: Path) -> None:
    text = 'resource "terraform_data" "a" { count = %d }\n'
    text += 'resource "terraform_data" "b" {\n count = %d\n input = terraform_data.a[*].id\n}'
    _, graph = _plan(text % (100, 100))
    assert sum(len(each.after) for each in graph.operations) < 1000


def test_provider_is_open_from_before_the_first_use_until_after_the_last(here: Path) -> None:
    _, graph = _plan(_CHAIN % 1)
    order = _order(graph)
    provider = 'provider["terraform.io/builtin/terraform"]'
    assert order[0] == f"open {provider}"
    assert order[-1] == f"close {provider}"


@pytest.mark.parametrize(
    ("before", "after", "reasons"),
    [
        ('resource "terraform_data" "a" {}', "", [Reason.NO_RESOURCE]),
        (
            'resource "terraform_data" "a" { count = 2 }',
            'resource "terraform_data" "a" { count = 1 }',
            [Reason.COUNT_INDEX],
        ),
        (
            'resource "terraform_data" "a" { for_each = toset(["k"]) }',
            'resource "terraform_data" "a" { for_each = toset([]) }',
            [Reason.EACH_KEY],
        ),
        (
            'resource "terraform_data" "a" { for_each = toset(["k"]) }',
            'resource "terraform_data" "a" {}',
            [Reason.NONE, Reason.WRONG_REPETITION],
        ),
    ],
)
def test_reasons_to_delete(here: Path, before: str, after: str, reasons: list[Reason]) -> None:
    _apply(before)
    plan, _ = _plan(after)
    assert [Reason(change.reason) for change in plan.changes] == reasons


def test_target_brings_what_it_needs(here: Path) -> None:
    plan, _ = _plan(_CHAIN % 1, targets=["terraform_data.b"])
    assert [each.address for each in plan.changes] == ["terraform_data.a", "terraform_data.b"]


def test_exclude_takes_what_needs_it(here: Path) -> None:
    plan, _ = _plan(_CHAIN % 1, excludes=["terraform_data.b"])
    assert [each.address for each in plan.changes] == ["terraform_data.a"]


def test_replace_on_request(here: Path) -> None:
    text = 'resource "terraform_data" "a" {}'
    _apply(text)
    plan, _ = _plan(text, replace=["terraform_data.a"])
    assert plan.changes[0].steps == ("delete", "create")
    assert plan.changes[0].reason == Reason.REQUESTED.value


_COUNTED = 'resource "terraform_data" "c" { count = 2 }\n'


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("terraform_data.c", "The instances are terraform_data.c[0], terraform_data.c[1]."),
        ("terraform_data.c[7]", "The instances are terraform_data.c[0], terraform_data.c[1]."),
        ("terraform_data.x", "the plan has no such instance."),
    ],
)
def test_nothing_to_replace(here: Path, address: str, wanted: str) -> None:
    plan, _ = _plan(_COUNTED, replace=[address])
    (warning,) = plan.warnings
    assert warning.summary == "Nothing to replace"
    assert wanted in warning.detail


_ENABLED = 'resource "terraform_data" "c" {\n  lifecycle { enabled = %s }\n}\n'


@pytest.mark.parametrize(
    ("before", "after", "address", "warnings"),
    [
        (_COUNTED, "", "terraform_data.c[0]", []),
        (_COUNTED, _COUNTED.replace("2", "1"), "terraform_data.c[1]", []),
        (_ENABLED % "true", "", "terraform_data.c", []),
        (_ENABLED % "true", _ENABLED % "false", "terraform_data.c", ["Nothing to replace"]),
    ],
)
def test_what_is_destroyed_is_no_mistake_to_replace_but_where_it_is_declared(
    here: Path, before: str, after: str, address: str, warnings: list[str]
) -> None:
    _apply(before)
    plan, _ = _plan(after, replace=[address])
    assert [each.summary for each in plan.warnings] == warnings


def test_what_is_only_read_is_not_replaced(here: Path) -> None:
    assert _errors(_COUNTED, replace=["data.terraform_data.c"]) == ["Not a managed resource"]


@pytest.mark.parametrize(
    ("is_tainted", "variables", "replaced", "reason"),
    [
        (False, {"n": 2}, [], Reason.TRIGGERED),
        (False, {"n": 2}, ["terraform_data.a"], Reason.TRIGGERED),
        (True, {"n": 2}, [], Reason.TRIGGERED),
        (True, {}, [], Reason.TAINTED),
        (True, {}, ["terraform_data.a"], Reason.TAINTED),
    ],
)
def test_triggers_are_the_reason(
    here: Path, is_tainted: bool, variables: Variables, replaced: list[str], reason: Reason
) -> None:
    text = (
        'variable "n" { default = 1 }\nresource "terraform_data" "p" { input = var.n }\n'
        'resource "terraform_data" "a" {\n'
        "  lifecycle { replace_triggered_by = [terraform_data.p] }\n}\n"
    )
    _apply(text)
    if is_tainted:
        session().taint("terraform_data.a")
    plan, _ = _plan(text, variables, replace=replaced)
    assert plan.changes[0].steps == ("delete", "create")
    assert plan.changes[0].reason == reason.value


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ('variable "v" {}\noutput "o" { value = var.v }', "No value for variable"),
        (
            (
                'resource "terraform_data" "a" {}\n'
                'resource "terraform_data" "b" { count = length(terraform_data.a.id) }'
            ),
            "Unknown count argument",
        ),
        (
            (
                'resource "terraform_data" "a" {}\n'
                'resource "terraform_data" "b" { for_each = toset([terraform_data.a.id]) }'
            ),
            "Unknown for_each argument",
        ),
        (
            (
                'resource "terraform_data" "a" {\n input = 1\n lifecycle {\n precondition {\n'
                ' condition = path.root == ""\n error_message = "no"\n }\n }\n}'
            ),
            "Precondition failed",
        ),
    ],
)
def test_no_plan(here: Path, text: str, summary: str) -> None:
    assert summary in _errors(text)


def test_prevented_replacement(here: Path) -> None:
    lifecycle = "{\n triggers_replace = %s\n lifecycle { prevent_destroy = true }\n}"
    text = f'resource "terraform_data" "a" {lifecycle}\n'
    _apply(text % 1)
    assert _errors(text % 2) == ["Destroying is prevented"]


def test_a_mistake_in_a_protection_names_the_instance(here: Path) -> None:
    text = 'resource "terraform_data" "a" {\n count = %s\n lifecycle { prevent_destroy = %s }\n}'
    _apply(text % (2, "false"))
    Path("main.tf").write_text(text % (1, "sensitive(false)"))
    found = {each.address for each in failed().diagnostics}
    assert found == {"terraform_data.a[0]", "terraform_data.a[1]"}


def test_prevented_deletion(here: Path) -> None:
    text = 'resource "terraform_data" "a" {\n count = %s\n lifecycle { prevent_destroy = true }\n}'
    _apply(text % 1)
    assert _errors(text % 0) == ["Destroying is prevented"]
    assert _errors(text % 1, destroy=True) == ["Destroying is prevented"]


@pytest.mark.parametrize(("value", "action"), [(True, "delete"), (False, "forget")])
def test_removed_as_a_variable_says(here: Path, value: bool, action: str) -> None:
    _apply('resource "terraform_data" "a" {}')
    removed = "removed {\n from = terraform_data.a\n lifecycle {\n destroy = var.d\n }\n}\n"
    plan, _ = _plan(f'variable "d" {{}}\n{removed}', {"d": value})
    assert [each.action for each in plan.changes] == [action]


def test_nothing_to_do(here: Path) -> None:
    _apply('resource "terraform_data" "a" { input = 1 }')
    plan, _ = _plan('resource "terraform_data" "a" { input = 1 }')
    assert plan.is_empty
    assert not plan.changes
