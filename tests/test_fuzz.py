"""The searches: what they make, and how they judge it."""

import json
import random
from pathlib import Path

import pytest

from fuzz.damaged_files import KINDS, search
from fuzz.differential import Teller
from fuzz.expansion.levelling import reported
from fuzz.functions import FUNCTIONS
from fuzz.grammar import FIXTURE, Grammar
from fuzz.story.comparing import BEYOND
from fuzz.story.difference import Difference
from fuzz.story.events import UNENDED, events
from fuzz.story.explained import explanation
from fuzz.story.invariants import invariants
from fuzz.story.judging import subjects
from fuzz.story.oracles import broken, claims, fails_to_open
from fuzz.story.order import too_early
from fuzz.story.result import Result
from fuzz.story.sides import Finished, OurSide, Outcome, Sides, running_sides
from fuzz.story.tampers import TAMPERS, Tamper
from fuzz.story.telling import Seen, Step, Story
from fuzz.tampering import tampered
from fuzz.tree import leaf, listed, node
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.source import Source
from tests.real.alike import Tree


def test_a_seed_always_gives_the_same() -> None:
    first, second = Grammar(7), Grammar(7)
    assert [str(first.expression()) for _ in range(50)] == [
        str(second.expression()) for _ in range(50)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_reported(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert search(kind, 15, 20261118, tmp_path) == {}


def test_the_fixture_is_valid() -> None:
    diags = Diagnostics()
    parse_body(Source("main.tf", FIXTURE), diags)
    assert not diags.has_errors


def test_expressions_are_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.grammar._MANGLED", 0)
    grammar = Grammar(8)
    for _ in range(500):
        text = str(grammar.expression())
        diags = Diagnostics()
        parse_expression(Source("", text), diags)
        assert not diags.has_errors, text


def test_no_function_is_written_twice_in_the_same_way() -> None:
    assert len(set(FUNCTIONS)) == len(FUNCTIONS)


def test_a_failing_expression_is_made_smaller() -> None:
    tree = listed("f(", [leaf("aa"), node("[@]", leaf("b"))], ")")
    assert str(tree) == "f(aa, [b])"
    smaller = [str(each) for each in tree.smaller()]
    assert smaller[:2] == ["aa", "[b]"]
    assert {"f([b])", "f(aa)", "f(a, [b])", "f(aa, b)", "null"} <= set(smaller)


def _told(seed: int) -> list[str]:
    story, texts = Story(seed), []
    while not story.is_over:
        step = story.next(Seen({}, {"r1#1": {"name": "r1"}}))
        texts.append(f"{step}\n{step.files}")
    return texts


def test_a_seed_always_tells_the_same_story() -> None:
    assert _told(7) == _told(7)


def test_stories_are_configurations() -> None:
    for seed in range(40):
        story = Story(seed)
        while not story.is_over:
            for name, text in story.next(Seen({}, {})).files.items():
                if name.endswith(".tf"):
                    diags = Diagnostics()
                    parse_body(Source(name, text), diags)
                    assert not diags.has_errors, text


def _state(**needed: list[str]) -> str:
    """Objects `a` and `b` of resources of those names, and what they need."""
    return json.dumps(
        {
            "resources": [
                {
                    "mode": "managed",
                    "type": "t",
                    "name": name,
                    "instances": [{"attributes": {"id": name}, "dependencies": dependencies}],
                }
                for name, dependencies in needed.items()
            ]
        }
    )


@pytest.mark.parametrize(
    ("verb", "order", "is_early"),
    [
        ("create", "ab", False),
        ("create", "ba", True),
        ("update", "ba", True),
        ("delete", "ba", False),
        ("delete", "ab", True),
    ],
)
def test_order(verb: str, order: str, is_early: bool) -> None:
    state = _state(a=[], b=["t.a"])
    journal = [[verb, name] for name in order]
    assert bool(too_early(state, state, journal)) is is_early


@pytest.mark.parametrize(
    ("before", "after", "is_early"), [(0, 0, True), (1, 0, False), (0, 1, False)]
)
def test_order_of_what_is_created_first(before: int, after: int, is_early: bool) -> None:
    states = []
    for is_first, ending in ((before, ""), (after, "2")):
        state = json.loads(_state(a=[], b=["t.a"]))
        for resource in state["resources"]:
            (instance,) = resource["instances"]
            instance["attributes"]["id"] = f"{resource['name']}{ending}"
            instance["create_before_destroy"] = bool(is_first) and resource["name"] == "b"
        states.append(json.dumps(state))
    # The successor of a comes while the old b is there, which needed a.
    journal = [["create", "a2"], ["create", "b2"], ["delete", "b"]]
    assert bool(too_early(states[0], states[1], journal)) is is_early


def test_order_of_module_instances() -> None:
    state = json.loads(_state(a=[], b=["module.m.t.a"]))
    places = [("module.m", "module.m[0]", False), ("module.m[0]", "module.m[0]", True)]
    for first, second, is_early in places:
        for resource, module in zip(state["resources"], (first, second), strict=True):
            resource["module"] = module
        text = json.dumps(state)
        assert bool(too_early(text, text, [["create", "b"], ["create", "a"]])) is is_early


def _event(kind: str, action: str, name: str) -> str:
    member = "change" if kind == "planned_change" else "hook"
    return json.dumps({"type": kind, member: {"action": action, "resource": {"addr": name}}})


def _sum(**counts: int) -> str:
    return json.dumps({"type": "change_summary", "changes": {**counts, "operation": "apply"}})


_STARTED = _event("apply_start", "delete", "t.a")
_ENDED = _event("apply_complete", "delete", "t.a")
_FAILED = _event("apply_errored", "delete", "t.a")


@pytest.mark.parametrize(
    ("theirs", "ours", "kinds"),
    [
        ([_STARTED, _ENDED, _sum(remove=1)], [_STARTED, _ENDED, _sum(remove=1)], []),
        (
            [_STARTED, _ENDED, _sum(remove=1)],
            [_sum(remove=0)],
            ["missing apply_start delete", "missing apply_complete delete"],
        ),
        (
            [_STARTED, _ENDED, _sum(remove=1)],
            [_STARTED, _ENDED, _sum(remove=2)],
            ["change_summary.changes.remove"],
        ),
        ([_STARTED], [_STARTED, _FAILED], [f"more apply_errored delete {UNENDED}"]),
        (
            [_STARTED, _STARTED, _FAILED],
            [_STARTED, _STARTED, _FAILED, _FAILED],
            [f"more apply_errored delete {UNENDED}"],
        ),
        ([_STARTED, _FAILED], [_STARTED, _FAILED, _FAILED], ["more apply_errored delete"]),
        ([], [_FAILED], ["more apply_errored delete"]),
    ],
)
def test_events(theirs: list[str], ours: list[str], kinds: list[str]) -> None:
    left, right = (Finished(0, "\n".join(each), "") for each in (theirs, ours))
    assert [each.kind for each in events(left, right)] == [f"events: {kind}" for kind in kinds]


@pytest.mark.parametrize(
    ("status", "told", "kinds"),
    [
        (1, [], []),
        (0, [], ["more apply_start read"]),
        (1, [_STARTED], ["more apply_start read"]),
    ],
)
def test_data_that_is_read_before_planning_fails(
    status: int, told: list[str], kinds: list[str]
) -> None:
    left = Finished(status, "\n".join(told), "")
    right = Finished(1, "\n".join([*told, _event("apply_start", "read", "data.t.d")]), "")
    assert [each.kind for each in events(left, right)] == [f"events: {kind}" for kind in kinds]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (_event("apply_start", "create", 'module.m["x"].t.a[0]'), {"module.m.t.a"}),
        ("resource_changes t.a[1] change after value\n  theirs 1\n  ours   2", {"t.a"}),
        ("resources module.m[x].managed.t.a[None] attributes id", {"module.m.t.a"}),
        ("resources .managed.t.a\n  theirs 1\n  ours   2", {"t.a"}),
        ("outputs o value", set()),
    ],
)
def test_subjects(text: str, names: set[str]) -> None:
    assert subjects(Difference("any", text)) == names


_MORE = Difference("events: more apply_start create", _event("apply_start", "create", "t.a"))
_DATA = Difference(_MORE.kind, _MORE.text.replace("t.a", "terraform_data.a"))
_CREATED = Difference("calls: missing - / create more", 'more ["create", "a#1"] with t.a')
_OUTPUT = Difference("state: outputs.*.value", "outputs o value\n  theirs 1\n  ours   2")
_SHOWN = Difference("events: outputs.outputs.*.value", "theirs 1\nours   2")
_PROVISIONED = Difference("events: more provision_start", _event("provision_start", "", "t.a"))
_WRITTEN = Difference("provisioners: - / create", "more create a with t.a")
_UNREAD = Difference("calls: missing - / fail more", 'more ["fail", "read", "a"] with t.a')
_BEYOND = Difference(BEYOND, "more error main.tf:1 with t.a: Told to fail")
_OPENED = Difference(
    "events: more ephemeral_action_started",
    _event("ephemeral_action_started", "", "ephemeral.t.e"),
)
_CHECKED = Difference("state: check_results", "check_results\n  theirs []\n  ours   []")
_LEFT = Difference("exit code 0 / 1: Objects are left behind", "forgotten instead of destroyed: 1.")
_UNDECLARED = "reported error nowhere with nothing: Configuration for import target does not exist"
_FAILED_TOO = Difference(
    "diagnostics: +error Told to fail",
    f"more error main.tf:1 with t.a: Told to fail\n\n{_UNDECLARED}",
)
_REPORTED = "reported error main.tf:3 with nothing: Another one"
_FAILED_ELSEWHERE = Difference(_FAILED_TOO.kind, f"{_FAILED_TOO.text}\n{_REPORTED}")


@pytest.mark.parametrize(
    ("flag", "given", "others", "is_known"),
    [
        ("-target=t.b", _MORE, [_CREATED], True),
        ("-target=t.b", _MORE, [], False),
        ("-refresh=false", _MORE, [_CREATED], False),
        ("-target=t.b", _DATA, [], True),
        ("-target=t.b", _OUTPUT, [_DATA], True),
        ("-target=t.b", _OUTPUT, [], False),
        ("-target=t.b", _SHOWN, [_DATA, _OUTPUT], True),
        ("-target=t.b", _SHOWN, [_DATA], False),
        ("-target=t.b", _PROVISIONED, [_MORE, _CREATED], True),
        ("-target=t.b", _WRITTEN, [_MORE, _CREATED], True),
        ("-target=t.b", _WRITTEN, [], False),
        ("-target=t.b", _OPENED, [_CHECKED], True),
        ("-target=t.b", _OPENED, [], False),
        ("-refresh=false", _OPENED, [_CHECKED], False),
        ("-destroy", _LEFT, [], False),
        ("-refresh=false", _UNREAD, [_BEYOND], True),
        ("-refresh=false", _UNREAD, [], False),
        ("-refresh=false", _FAILED_TOO, [], True),
        ("-refresh=false", _FAILED_ELSEWHERE, [], False),
    ],
)
def test_explanation(
    flag: str, given: Difference, others: list[Difference], is_known: bool
) -> None:
    step = Step({"main.tf": ""}, [["plan", flag], ["apply", "p"]])
    step.planned = {"create t.a", "create terraform_data.a"}
    step.shown = {"output_changes": {"o": {"after_unknown": False, "after": 2}}}
    assert bool(explanation(step, ["apply", "p"], given, [given, *others])) is is_known
    step.planned, step.shown = set(), {}
    is_planned_only = given in (_MORE, _DATA, _OUTPUT, _PROVISIONED, _WRITTEN)
    assert not (is_planned_only and explanation(step, ["apply", "p"], given, [given, *others]))


@pytest.mark.parametrize(
    ("failed", "done", "is_known"),
    [
        ("module.m[0].t.a", "module.m[1].t.b", True),
        ("module.m[0].t.a", 'module.m[1].module.n["x"].t.b', True),
        ("module.m[0].t.a", 'module.m[0].module.n["x"].t.b', False),
        ('module.m[0].module.n["x"].t.a', 'module.m[0].module.n["y"].t.b', True),
        ("module.m[0].t.a", "module.n[1].t.b", False),
        ("module.m.t.a", "t.b", False),
    ],
)
def test_what_fails_in_one_instance_of_a_module(failed: str, done: str, is_known: bool) -> None:
    step = Step({"main.tf": ""}, [["apply", "p"]], failed={failed}, planned={f"update {done}"})
    more = Difference("events: more apply_start update", _event("apply_start", "update", done))
    assert bool(explanation(step, ["apply", "p"], more, [more])) is is_known
    told = Difference("diagnostics: +error A", f"more error main.tf:1 with {done}: A")
    assert bool(explanation(step, ["apply", "p"], told, [told, more])) is is_known
    assert not explanation(step, ["apply", "p"], told, [told])


def _stored(**more: object) -> Seen:
    instance = {"attributes": {"id": "a"}, **more}
    resource = {"mode": "managed", "type": "t", "name": "a", "provider": "old"}
    return Seen({"resources": [{**resource, "instances": [instance]}]}, {})


@pytest.mark.parametrize(("provider", "is_known"), [("new", True), ("old", False)])
def test_a_provider_that_the_state_does_not_have(provider: str, is_known: bool) -> None:
    step = Step({"main.tf": ""}, [["plan"]], before=_stored())
    text = f"To work with t.a its original provider instance at {provider} is required, but"
    text = f"reported error nowhere with nothing: Provider instance not present\n{text}"
    given = Difference("exit code 1 / 0: Provider instance not present", text)
    assert bool(explanation(step, ["plan"], given, [given])) is is_known


_MOVED = "moved {\n  from = t.b\n  to   = t.c\n}\n"


@pytest.mark.parametrize(
    ("text", "flag", "kept", "is_known"),
    [
        (_MOVED, "-exclude=t.a", "t.c", True),
        (_MOVED, "-target=t.c", "t.a", True),
        (_MOVED, "-exclude=t.a", "t.d", False),
        (_MOVED, "-refresh=false", "t.c", False),
        ("", "-exclude=t.a", "t.c", False),
    ],
)
def test_what_depends_on_something_that_has_moved(
    text: str, flag: str, kept: str, is_known: bool
) -> None:
    (user,) = _stored(dependencies=["t.b"]).state["resources"]
    (other,) = _stored().state["resources"]
    before = Seen({"resources": [user, {**other, "name": "b"}]}, {})
    step = Step({"main.tf": text}, [["plan", "-destroy", flag]], before=before)
    kind = "events: missing planned_change delete"
    given = Difference(kind, _event("planned_change", "delete", kept))
    assert bool(explanation(step, ["plan"], given, [given])) is is_known


@pytest.mark.parametrize(
    ("flag", "ours", "is_known"),
    [
        ("-refresh-only", "old", True),
        ("-refresh-only", "new", False),
        ("-destroy", "old", False),
        ("failed", "old", True),
    ],
)
def test_providers_of_what_has_moved_and_is_not_declared(
    flag: str, ours: str, is_known: bool
) -> None:
    step = Step({"main.tf": _MOVED.replace("t.b", "t.a")}, [["plan", flag]], before=_stored())
    step.failed = {"t.c"} if flag == "failed" else set()
    text = f'resources .managed.t.c provider\n  theirs "other"\n  ours   "{ours}"'
    given = Difference("state: resources.*.provider", text)
    assert bool(explanation(step, ["apply", "p"], given, [given])) is is_known


@pytest.mark.parametrize(
    ("value", "is_gone", "is_known"),
    [("t.a.x", True, True), ("t.a.x", False, False), ("1", True, False)],
)
def test_outputs_of_what_is_gone_and_not_declared(
    value: str, is_gone: bool, is_known: bool
) -> None:
    text = f'output "o" {{\n  value = {value}\n}}\n'
    objects: dict[str, dict[str, object] | None] = {"1": None} if is_gone else {}
    before = Seen(_stored(attributes={"id": "1"}).state, {"1": {}})
    step = Step({"main.tf": text}, [["plan", "-refresh-only"]], objects, before=before)
    given = Difference(
        "plan: output_changes.*.after", "output_changes o after\n  theirs null\n  ours   1"
    )
    assert bool(explanation(step, ["plan"], given, [given])) is is_known


@pytest.mark.parametrize(
    ("flag", "kind", "planned", "is_known"),
    [
        ("-refresh-only", "missing", {"update t.a"}, True),
        ("-refresh-only", "more", {"update t.a"}, False),
        ("-refresh=false", "missing", {"update t.a"}, False),
        ("-refresh=false", "missing", set(), True),
        ("-refresh=false", "more", set(), False),
    ],
)
def test_what_is_opened_where_at_most_the_state_changes(
    flag: str, kind: str, planned: set[str], is_known: bool
) -> None:
    step = Step({"main.tf": ""}, [["plan", flag], ["apply", "p"]], ours=planned)
    text = _event("ephemeral_action_started", "", "ephemeral.t.e")
    given = Difference(f"events: {kind} ephemeral_action_started", text)
    assert bool(explanation(step, ["apply", "p"], given, [given])) is is_known


@pytest.mark.parametrize(("failed", "is_known"), [("t.a", True), ("t.b", False)])
def test_what_could_not_be_destroyed_is_as_it_was_read(failed: str, is_known: bool) -> None:
    step = Step({"main.tf": ""}, [["plan", "-destroy", "-exclude=t.c"]], failed={failed})
    text = 'resources .managed.t.a[None] attributes value\n  theirs "old"\n  ours   "new"'
    given = Difference("state: resources.*.attributes.value", text)
    assert bool(explanation(step, ["apply", "p"], given, [given])) is is_known


def test_what_comes_after_triggers_that_mean_nothing() -> None:
    summary = "no change found for t.a in the root module"
    told = Difference(
        f"diagnostics: -error {summary}", f"missing error nowhere with nothing: {summary}"
    )
    more = Difference("calls: missing - / create more", 'more ["create", "b"] with t.b')
    step = Step({"main.tf": ""}, [["apply"]], ours={"create t.b"})
    assert explanation(step, ["apply"], told, [told, more])
    assert explanation(step, ["apply"], more, [told, more])
    assert not explanation(step, ["apply"], more, [more])
    step.ours = {"create t.a"}
    assert not explanation(step, ["apply"], told, [told, more])
    assert not explanation(step, ["apply"], more, [told, more])


@pytest.mark.parametrize(
    ("named", "planned", "other", "is_known"),
    [
        ("module.m.t.a", "module.m.t.a", "t.a[0]", True),
        ("module.m.t.a", "module.m.t.b", "t.a[0]", False),
        ("module.m.t.a[0]", "module.m.t.a[0]", "t.a[0]", False),
        ("module.m.t.a", "module.m.t.a", "t.b[0]", False),
    ],
)
def test_namesakes_of_what_is_replaced(
    named: str, planned: str, other: str, is_known: bool
) -> None:
    warning = "Incompletely-matched force-replace resource instance"
    command = ["plan", f"-replace={named}"]
    step = Step({"main.tf": ""}, [command], ours={f"delete {planned}", f"update {other}"})
    text = f"missing warning nowhere with nothing: {warning}"
    given = Difference(f"diagnostics: -warning {warning}", text)
    assert bool(explanation(step, command, given, [given])) is is_known


@pytest.mark.parametrize(
    ("file", "named", "is_same"),
    [("m_a_c_0", "module.m_a.module.c_0", True), ("m_b", "module.m_a.module.c_0", False)],
)
def test_addresses_of_separate_calls(file: str, named: str, is_same: bool) -> None:
    told = {"severity": "error", "summary": "No"}
    where = {"filename": f"{file}/main.tf", "start": {"line": 1}}
    sides = ({**told, "range": where}, {**told, "address": named})
    theirs, ours = (
        Finished(1, json.dumps({"type": "diagnostic", "diagnostic": each}), "") for each in sides
    )
    declared = frozenset(("module.m_a", "module.m_a.module.c_0", "module.m_b"))
    left, right = reported(theirs, ours, declared)
    assert (left == right) is is_same


@pytest.mark.parametrize(("line", "is_opening"), [(1, True), (4, False)])
def test_ephemeral_resources_that_only_the_real_program_opens(line: int, is_opening: bool) -> None:
    files = {"main.tf": 'ephemeral "t" "e" {\n  k = 1\n}\nresource "t" "a" {\n}\n'}
    where = {"filename": "main.tf", "start": {"line": line}}
    summary = "Incomplete configuration for ephemeral resource"
    told = {"severity": "error", "summary": summary, "range": where}
    stdout = json.dumps({"type": "diagnostic", "diagnostic": told})
    assert fails_to_open(Finished(1, stdout, ""), files) is is_opening
    assert not fails_to_open(Finished(0, "", ""), files)


@pytest.mark.parametrize(
    ("name", "path", "is_known"),
    [("t.a", ".part[1].value", True), ("t.a", ".value", False), ("t.b", ".part[1].value", False)],
)
def test_places_of_ephemeral_values(name: str, path: str, is_known: bool) -> None:
    summary = "Ephemeral value used in non-ephemeral context"
    lines = [f"missing error main.tf:1 with t.a: {summary}", f"more error main.tf:2 with {name}: A"]
    text = "\n".join([*lines, f'Attribute "{path}" is referencing an ephemeral value'])
    given = Difference(f"diagnostics: -error {summary}", text)
    step = Step({"main.tf": ""}, [["plan"]])
    assert bool(explanation(step, ["plan"], given, [given])) is is_known


@pytest.mark.parametrize(
    ("failed", "mode", "is_known"),
    [("t.a", "data", True), ("", "data", False), ("t.a", "managed", False)],
)
def test_data_of_what_could_not_be_destroyed(failed: str, mode: str, is_known: bool) -> None:
    (stored,) = _stored().state["resources"]
    before = Seen({"resources": [{**stored, "mode": mode}]}, {})
    step = Step({"main.tf": ""}, [["plan", "-destroy"]], before=before, failed={failed} - {""})
    kept = json.dumps({"mode": mode, "name": "a", "provider": "old", "type": "t"})
    text = f'resources .{mode}.t.a\n  theirs "<absent>"\n  ours   {kept}'
    given = Difference("state: resources.*", text)
    assert bool(explanation(step, ["apply", "p"], given, [given])) is is_known


@pytest.mark.parametrize(
    ("name", "ended", "is_known"), [("b", "t.a", True), ("b", "", False), ("c", "t.a", False)]
)
def test_marks_of_what_depended_on_something_that_went(
    name: str, ended: str, is_known: bool
) -> None:
    (first,) = _stored(create_before_destroy=True).state["resources"]
    (user,) = _stored(dependencies=["t.a"]).state["resources"]
    before = Seen({"resources": [first, {**user, "name": "b"}]}, {})
    step = Step({"main.tf": ""}, [["apply"]], before=before, ended={ended})
    path = f"resources .managed.t.{name}[None] create_before_destroy"
    given = Difference(
        "state: resources.*.create_before_destroy", f'{path}\n  theirs true\n  ours   "<absent>"'
    )
    assert bool(explanation(step, ["apply"], given, [given])) is is_known


@pytest.mark.parametrize(("flag", "is_known"), [("-target=t.a", True), ("-refresh=false", False)])
def test_outputs_that_are_left_out_and_ephemeral(flag: str, is_known: bool) -> None:
    step = Step({"main.tf": ""}, [["plan", flag], ["apply", "p"]])
    summary = "Output does not allow ephemeral value"
    text = f"reported error main.tf:1 with nothing: {summary}"
    given = Difference(f"exit code 1 / 0: {summary}", text)
    assert bool(explanation(step, ["apply", "p"], given, [given])) is is_known


@pytest.mark.parametrize(
    ("name", "is_known"), [("module.m[0].ephemeral.t.e", True), ("module.m.ephemeral.t.e", False)]
)
def test_what_is_opened_in_an_instance_of_a_module(name: str, is_known: bool) -> None:
    step = Step({"main.tf": ""}, [["plan"]])
    text = _event("ephemeral_action_started", "", name)
    given = Difference("events: more ephemeral_action_started", text)
    assert bool(explanation(step, ["plan"], given, [given])) is is_known


def _needs(module: str, theirs: str, ours: str) -> Difference:
    path = f"resources {module}.managed.t.a[None] dependencies"
    text = f"{path}\n  theirs {theirs}\n  ours   {ours}"
    return Difference("state: resources.*.dependencies", text)


@pytest.mark.parametrize(
    ("given", "is_known"),
    [
        (_needs("module.m[1]", '"<absent>"', '["module.m.t.b"]'), True),
        (_needs('module.n["x"].module.m[1]', '["t.c"]', '["module.n.module.m.t.b", "t.c"]'), True),
        (_needs("module.m[1]", '["t.b"]', '"<absent>"'), False),
        (_needs("module.m[1]", '"<absent>"', '["t.b"]'), False),
        (_needs("module.m", '"<absent>"', '["module.m.t.b"]'), False),
    ],
)
def test_dependencies_within_an_instance_of_a_module(given: Difference, is_known: bool) -> None:
    step = Step({"main.tf": ""}, [["apply", "p"]])
    assert bool(explanation(step, ["apply", "p"], given, [given])) is is_known


@pytest.mark.parametrize(
    ("flags", "failure", "is_known"),
    [
        ("-destroy -target=world_thing.a", "read of b.", False),
        ("-destroy -target=world_thing.b", "read of b.", True),
        ("-destroy -target=world_thing.b", "read of c.", False),
        ("-destroy -target=world_thing.b", "delete of b.", False),
        ("-destroy", "read of b.", False),
        ("-target=t.a", "read of b.", False),
    ],
)
def test_what_a_destroy_of_a_part_cannot_read(flags: str, failure: str, is_known: bool) -> None:
    command = ["plan", *flags.split()]
    (user,) = _stored(dependencies=["world_thing.a"]).state["resources"]
    before = Seen({"resources": [{**user, "type": "world_thing", "name": "b"}]}, {})
    step = Step({"main.tf": ""}, [command], before=before)
    reported = "reported error nowhere with world_thing.b: Told to fail"
    text = f"{reported}\nTold to fail\n{failure}"
    given = Difference("exit code 0 / 1: Told to fail", text)
    assert bool(explanation(step, command, given, [given])) is is_known


def test_parts_of_a_difference_may_have_different_reasons() -> None:
    """A part that nothing explains leaves all of it unexplained."""
    step = Step({"main.tf": ""}, [["apply", "p"]])
    known = _needs("module.m[1]", '"<absent>"', '["module.m.t.b"]')
    other = _needs("module.n[1]", '["t.c"]', '["module.n.t.b", "t.c"]')
    wrong = _needs("module.m[1]", '"<absent>"', '["t.b"]')
    for second, is_known in ((other, True), (wrong, False)):
        both = Difference(known.kind, f"{known.text}\n{second.text}")
        assert bool(explanation(step, ["apply", "p"], both, [both])) is is_known


_MISTAKES = """\
resource "t" "a" {
  x = 1
}
resource "t" "b" {
  x = t.a.x
}
module "c" {
  v = t.b.x
}
output "o" {
  value = module.c.o
}
output "p" {
  value = 1
}
"""


@pytest.mark.parametrize(
    ("line", "is_known"), [(2, False), (5, True), (8, True), (11, True), (14, False)]
)
@pytest.mark.parametrize(
    "reported",
    [
        "reported error main.tf:2 with t.a: A",
        "reported error nowhere with nothing: A\nResource instance t.a[0] has prevent_destroy set",
    ],
)
def test_what_needs_a_mistake(reported: str, line: int, is_known: bool) -> None:
    text = f"more error main.tf:{line} with nothing: B\n\n{reported}"
    step = Step({"main.tf": _MISTAKES}, [["plan"]])
    more = Difference("diagnostics: +error B", text)
    assert bool(explanation(step, ["plan"], more, [more])) is is_known


@pytest.mark.parametrize(
    ("target", "ended", "is_known"),
    [
        ("module.m[1].t.a", "module.m[0].t.a", True),
        ("module.m[1]", "module.m[0].t.a", True),
        ("module.m[1].t.a", "module.m[1].t.a", False),
        ("module.m[1].t.a", "module.m[0].t.b", False),
        ("module.n[1].t.a", "module.m[0].t.a", False),
        ("t.a[1]", "t.a[0]", False),
    ],
)
def test_other_instances_of_a_target(target: str, ended: str, is_known: bool) -> None:
    step = Step({"main.tf": ""}, [["plan", f"-target={target}"]])
    kind = "events: missing planned_change delete"
    given = Difference(kind, _event("planned_change", "delete", ended))
    assert bool(explanation(step, ["plan"], given, [given])) is is_known


@pytest.mark.parametrize(
    ("done", "is_planned", "is_known"),
    [('t.b["x"]', True, True), ('t.b["x"]', False, False), ("t.c", True, False)],
)
def test_what_an_excluded_object_needed(done: str, is_planned: bool, is_known: bool) -> None:
    stored = {"module": 'module.m["x"]', "mode": "managed", "type": "t", "name": "a"}
    before = Seen({"resources": [{**stored, "instances": [{"dependencies": ["t.b"]}]}]}, {})
    command = ["plan", '-exclude=module.m["x"].t.a']
    step = Step({"main.tf": ""}, [command, ["apply", "p"]], before=before)
    given = Difference("events: more apply_start delete", _event("apply_start", "delete", done))
    ended = _event("planned_change", "delete", 'module.m["x"].t.a')
    planned = [Difference("events: missing planned_change delete", ended)] * is_planned
    assert bool(explanation(step, ["apply", "p"], given, [given, *planned])) is is_known


_SENSITIVE = {"o": {"value": "v", "type": "string", "sensitive": True}}
_DELETED = {
    "actions": ["delete"],
    "before": "v",
    "after": None,
    "after_unknown": False,
    "before_sensitive": True,
    "after_sensitive": True,
}


def _destroy(plan: dict[str, Tree], events: list[dict[str, Tree]]) -> set[str]:
    """The paths at which a planned destroy of a sensitive output breaks what is promised."""
    seen = Seen(json.loads(json.dumps({"resources": [], "outputs": _SENSITIVE})), {})
    command = ["plan", "-json", "-out=p", "-destroy"]
    printed = Finished(0, "\n".join(map(json.dumps, events)), "")
    result = Result(printed, plan, Outcome(_state(), [], []))
    found = claims(Step({}, [command], before=seen), command, result)
    return {each.text.splitlines()[0] for each in broken(found, result)}


def _reported(sensitive: bool, kind: str = "outputs") -> dict[str, Tree]:
    return {"type": kind, "outputs": {"o": {"sensitive": sensitive, "action": "delete"}}}


@pytest.mark.parametrize(
    ("deleted", "events", "wrong"),
    [
        ({"o": _DELETED}, [_reported(True)], set()),
        (
            {"o": {**_DELETED, "before_sensitive": False}},
            [_reported(True)],
            {"plan output_changes"},
        ),
        ({"o": {**_DELETED, "before": "w"}}, [_reported(True)], {"plan output_changes"}),
        ({}, [_reported(True)], {"plan output_changes"}),
        ({"o": _DELETED}, [_reported(False)], {"events outputs"}),
        ({"o": _DELETED}, [], {"events outputs"}),
        (
            {"o": _DELETED},
            [_reported(True), {"type": "ephemeral_action_started"}],
            {"events ephemeral_action_started"},
        ),
    ],
)
def test_what_a_destroy_promises(
    deleted: dict[str, Tree], events: list[dict[str, Tree]], wrong: set[str]
) -> None:
    assert _destroy({"output_changes": deleted}, events) == wrong


@pytest.mark.parametrize(
    ("journal", "stored", "wrong"),
    [
        ([["create", "a"]], ["a"], set()),
        ([["create", "a"]], [], {"state: does not know of a create"}),
        ([["delete", "a"]], ["a"], {"state: does not know of a delete"}),
        ([["delete", "a"], ["create", "b"]], ["b"], set()),
        ([["create", "a"], ["delete", "a"]], [], set()),
    ],
)
def test_no_object_is_lost(journal: list[list[str]], stored: list[str], wrong: set[str]) -> None:
    state = _state(**{name: [] for name in stored})
    result = Result(Finished(1, "", ""), None, Outcome(state, journal, []))
    found = invariants(Step({}, []), ["apply"], _state(), result)
    assert {each.kind for each in found} == wrong


@pytest.mark.parametrize(("value", "is_wrong"), [("same", False), ("other", True)])
def test_an_update_without_a_call_changes_nothing(value: str, is_wrong: bool) -> None:
    before, after = (json.loads(_state(a=[])) for _ in range(2))
    before["resources"][0]["instances"][0]["attributes"]["value"] = "same"
    after["resources"][0]["instances"][0]["attributes"]["value"] = value
    resource = {"addr": "world_thing.a"}
    done = {"action": "update", "resource": resource, "id_value": "a"}
    told = [{"type": f"apply_{each}", "hook": done} for each in ("start", "complete")]
    stdout = "\n".join(map(json.dumps, told))
    result = Result(Finished(0, stdout, ""), None, Outcome(json.dumps(after), [], []))
    step = Step({"main.tf": ""}, [["apply", "p"]])
    found = {each.kind for each in invariants(step, ["apply", "p"], json.dumps(before), result)}
    assert ("contradiction: calls and events of update" in found) is is_wrong


@pytest.fixture(scope="module")
def tampered_stories(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, str]]:
    """Tampers in all commands of a story in which both sides are Nigari: their names and what
    explains them, the command, and whether they were reported.
    """
    directory = tmp_path_factory.mktemp("stories")
    with running_sides(directory, {"theirs": OurSide, "ours": OurSide}) as (theirs, ours):
        teller, runs = Teller(Sides(theirs, ours)), []
        for seed in (93035,):
            assert not teller.tell(seed).found
            runs += teller.runs
    return [
        (difference.kind, " ".join(run.command), reason)
        for number, run in enumerate(runs)
        for difference, reason in tampered(run, random.Random(number))
    ]


@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda each: each.__name__)
def test_a_fault_made_by_hand_is_reported(
    tamper: Tamper, tampered_stories: list[tuple[str, str, str]]
) -> None:
    """Whatever the command is: a destroy, a part, a refresh, one that fails."""
    assert not [
        (kind, command)
        for kind, command, reason in tampered_stories
        if not reason and kind.startswith(f"{tamper.__name__}:")
    ]


def test_most_faults_can_be_made(tampered_stories: list[tuple[str, str, str]]) -> None:
    assert len({kind.partition(":")[0] for kind, _, _ in tampered_stories}) > 20


def _results(address: str, *status: str) -> str:
    found = [{"object_addr": address, "status": each} for each in status]
    kind = address.split(".")[-2]
    result = {
        "config_addr": address,
        "object_kind": kind,
        "objects": found,
        "status": (*status, "unknown")[0],
    }
    return json.dumps([result])


@pytest.mark.parametrize(
    ("command", "address", "theirs", "ours", "is_known"),
    [
        ("destroy", "var.v", ["pass"], [], True),
        ("destroy", "var.v", ["pass"], ["unknown"], False),
        ("destroy", "output.o", ["pass"], [], False),
        ("refresh", "var.v", ["pass"], [], False),
        ("apply", "module.m.output.o", ["unknown"], ["pass"], True),
        ("apply", "module.m.output.o", ["unknown"], ["fail"], False),
        ("apply", "module.m.output.o", ["pass"], ["unknown"], False),
        ("apply", "module.n.output.o", ["unknown"], ["pass"], False),
        ("apply", "module.m.var.v", ["unknown"], ["pass"], False),
    ],
)
def test_results_that_only_one_has(
    command: str, address: str, theirs: list[str], ours: list[str], is_known: bool
) -> None:
    step = Step({"main.tf": "local x = [module.m[0].p, module.n]"}, [[command]])
    text = (
        f"check_results\n  theirs {_results(address, *theirs)}\n  ours   {_results(address, *ours)}"
    )
    given = Difference("state: check_results", text)
    assert bool(explanation(step, [command], given, [given])) is is_known


@pytest.mark.parametrize(("invalid", "is_known"), [(2, True), (3, False)])
@pytest.mark.parametrize("command", ["state", "plan"])
def test_states_that_are_edited_with_mistakes(command: str, invalid: int, is_known: bool) -> None:
    step = Step({"main.tf": ""}, [[command]], invalid=frozenset({("main.tf", invalid)}))
    text = "\nError: A\n\n  on /tmp/theirs/work/main.tf line 2, in resource:\n"
    given = Difference("exit code 1 / 0: Error: A", text)
    found = explanation(step, [command], given, [given])
    assert bool(found) is (is_known and command == "state")


def _creating(*more: str) -> str:
    return f'resource "t" "{more[0]}" {{\n  x = {more[1]}\n{"".join(more[2:])}}}\n'


_FIRST = "  lifecycle {\n    create_before_destroy = true\n  }\n"


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        (_creating("b", "t.a.x", _FIRST), True),
        (_creating("b", "t.a.x"), False),
        (_creating("b", "t.c.x", _FIRST), False),
        (_creating("b", "t.a.x") + _creating("c", "t.b.x", _FIRST), True),
        ('module "m" {\n  source = "./m1"\n  v = t.a.x\n}\n', True),
        ('module "m" {\n  source = "./m2"\n  v = t.a.x\n}\n', False),
    ],
)
def test_marks_of_what_something_needs_that_is_created_first(text: str, is_known: bool) -> None:
    files = {
        "main.tf": _creating("a", "1") + text,
        "m1/main.tf": _creating("e", "var.v", _FIRST),
        "m2/main.tf": _creating("e", "var.v") + _creating("d", "1"),
    }
    step = Step(files, [["apply"]])
    path = "resources .managed.t.a[None] create_before_destroy"
    given = Difference(
        "state: resources.*.create_before_destroy", f'{path}\n  theirs "<absent>"\n  ours   true'
    )
    assert bool(explanation(step, ["apply"], given, [given])) is is_known


@pytest.mark.parametrize(
    ("planned", "is_wrong"),
    [
        (["t.a[0]", "t.b"], False),
        (["t.a", "t.b"], False),
        (["t.b"], True),
        (['t.a["x"]', "t.b"], True),
        (["t.a[0]", "t.b[0]"], False),
        (["t.a[0]", "t.b[1]"], True),
    ],
)
def test_a_destroy_plans_the_end_of_everything(planned: list[str], is_wrong: bool) -> None:
    instances = [{"attributes": {"id": "1"}, "index_key": 0}]
    states = [
        {"mode": "managed", "type": "t", "name": "a", "provider": "p", "instances": instances},
        {
            "mode": "managed",
            "type": "t",
            "name": "b",
            "provider": "p",
            "instances": [{"attributes": {"id": "2"}}],
        },
    ]
    step = Step(
        {"main.tf": ""},
        [["destroy"]],
        before=Seen(json.loads(json.dumps({"resources": states})), {"1": {}, "2": {}}),
    )
    told = "\n".join(_event("planned_change", "delete", each) for each in planned)
    state = json.dumps({"resources": []})
    result = Result(Finished(0, told, ""), None, Outcome(state, [], []))
    kinds = {each.kind for each in invariants(step, ["destroy"], state, result)}
    assert ("plan: a destroy does not plan the end of everything" in kinds) is is_wrong
