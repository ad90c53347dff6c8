"""Actions: triggered by changes, and invoked with -invoke."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import nigari
from tests.cli.action_stories import BOW, HEAD, SERVE, STORIES, VALIDATED, Step, cue, prop, trigger
from tests.cli.process import Done, inside
from tests.plugins import running


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, str], Path]]:
    path = tmp_path_factory.mktemp("p")
    with running("example.com/test/stage", SERVE, path) as environment:
        yield environment, path / "log"


@pytest.fixture(autouse=True)
def log(
    tmp_path: Path, stage: tuple[dict[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> Path:
    environment, log = stage
    monkeypatch.chdir(tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    log.write_text("")
    return log


def run(*args: str) -> Done:
    return inside(*args, "-no-color", settings=os.environ)


def done_by(log: Path) -> list[str]:
    """Take what the provider has done, without what it did while planning."""
    lines = log.read_text().splitlines()
    log.write_text("")
    return [line for line in lines if not line.startswith("plan ")]


def state_names() -> str:
    path = Path("terraform.tfstate")
    state = json.loads(path.read_text() if path.exists() else '{"resources": []}')
    return " ".join(
        sorted(
            each["name"] + ("!" if one.get("status") == "tainted" else "")
            for each in state["resources"]
            for one in each["instances"]
        )
    )


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_stories(story: tuple[Step, ...], log: Path) -> None:
    for step in story:
        Path("main.tf").write_text(HEAD + step.text)
        done = run("apply", "-auto-approve", *step.args)
        assert done.code == int(step.fails), done.out + done.err
        # Instances of one resource are changed side by side.
        assert _apart(done_by(log)) == _apart(step.log.split(",") if step.log else [])
        if step.state is not None:
            assert state_names() == step.state


def _apart(lines: list[str]) -> dict[str, list[str]]:
    """Group what was done by the object that it was about."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(line.rpartition(" ")[2].removeprefix("id-"), []).append(line)
    return found


@pytest.mark.parametrize(
    ("text", "errors", "warnings", "summary"), VALIDATED.values(), ids=VALIDATED
)
def test_validation(text: str, errors: int, warnings: int, summary: str) -> None:
    Path("main.tf").write_text(HEAD + text)
    found = json.loads(run("validate", "-json").out)
    assert (found["error_count"], found["warning_count"]) == (errors, warnings), found
    assert not summary or summary in [each["summary"] for each in found["diagnostics"]]


def write(text: str) -> None:
    Path("main.tf").write_text(HEAD + text)


def test_the_plan_shows_actions_around_the_change() -> None:
    write(prop(trigger("before_create, after_create", "action.stage_bow.b")) + BOW)
    out = run("plan").out
    assert (
        """
    # Actions to be invoked before this change in order:
    # action.stage_bow.b
    action "stage_bow" "b" {
        config {}
    }

    # Actions to be invoked after this change in order:
    # action.stage_bow.b
"""
        in out
    )
    assert "Plan: 1 to add, 0 to change, 0 to destroy. Actions: 2 to invoke." in out


def test_a_saved_plan_has_its_actions(log: Path) -> None:
    write(prop(trigger("after_create")) + cue("${caller.id}", config="secret = var.x"))
    assert run("plan", "-out=plan").code == 0
    shown = json.loads(run("show", "-json", "plan").out)
    assert shown["action_invocations"] == [
        {
            "address": "action.stage_cue.c",
            "type": "stage_cue",
            "name": "c",
            "config_values": {"fails": None, "secret": "one"},
            "config_sensitive": {},
            "config_unknown": {"text": True},
            "provider_name": "example.com/test/stage",
            "lifecycle_action_trigger": {
                "triggering_resource_address": "stage_prop.a",
                "action_trigger_event": "AfterCreate",
                "action_trigger_block_index": 0,
                "actions_list_index": 0,
                "on_failure": "ActionOnFailureHalt",
            },
        }
    ]
    assert shown["configuration"]["root_module"]["actions"] == [
        {
            "address": "action.stage_cue.c",
            "type": "stage_cue",
            "name": "c",
            "provider_config_key": "stage",
        }
    ]
    done_by(log)
    assert run("apply", "plan").code == 0
    assert done_by(log) == ["create one", "cue id-one one"]


def test_events() -> None:
    write(
        prop(trigger("after_create", more="on_failure = continue")) + cue("c", "", "fails = true")
    )
    lines = [json.loads(line) for line in run("apply", "-json", "-auto-approve").out.splitlines()]
    action = {
        "addr": "action.stage_cue.c",
        "module": "",
        "action": "action.stage_cue.c",
        "implied_provider": "stage",
        "action_type": "stage_cue",
        "action_name": "c",
        "action_key": None,
    }
    names = ("action_start", "action_progress", "action_errored")
    hooks = [(each["type"], each["hook"]) for each in lines if each["type"] in names]
    assert [name for name, _ in hooks] == list(names)
    assert all(hook["action"] == action for _, hook in hooks)
    assert hooks[1][1]["message"] == "saying c"
    assert hooks[2][1]["error"] == "Forgot the line: It was c."
    assert hooks[0][1]["lifecycle"]["trigger_event"] == "AfterCreate"
    summaries = [each["changes"] for each in lines if each["type"] == "change_summary"]
    assert [(e["action_invocation"], e["action_fail"]) for e in summaries] == [(1, 0), (1, 1)]
    (warned,) = [each["diagnostic"] for each in lines if each["type"] == "diagnostic"]
    assert (warned["severity"], warned["summary"]) == ("warning", "Forgot the line")
    assert warned["snippet"]["code"].strip() == 'text = "c"'


def test_without_actions_summaries_are_as_in_opentofu() -> None:
    write(prop())
    lines = [json.loads(line) for line in run("plan", "-json").out.splitlines()]
    (summary,) = [each["changes"] for each in lines if each["type"] == "change_summary"]
    assert "action_invocation" not in summary


def test_json_syntax(log: Path) -> None:
    write(BOW)
    trigger_ = {
        "events": ["after_create"],
        "actions": ["action.stage_cue.c"],
        "on_failure": "taint",
    }
    resource = {"name": "j", "lifecycle": {"action_trigger": [trigger_]}}
    document = {
        "resource": {"stage_prop": {"a": resource}},
        "action": {"stage_cue": {"c": {"config": {"text": "c ${caller.name}"}}}},
    }
    Path("more.tf.json").write_text(json.dumps(document))
    assert run("apply", "-auto-approve").code == 0
    assert done_by(log) == ["create j", "cue c j"]


def test_modules_with_instances(log: Path) -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text(
        HEAD.replace('  default = "one"\n', "") + prop(trigger("after_create")) + cue()
    )
    text = 'module "m" {\n  source   = "./m"\n  for_each = toset(["u", "v"])\n  x = each.key\n}\n'
    write(text)
    assert run("get").code == 0
    assert run("apply", "-auto-approve").code == 0
    assert _apart(done_by(log)) == _apart(["create u", "cue c u", "create v", "cue c v"])
    assert run("apply", "-auto-approve", '-invoke=module.m["u"].action.stage_cue.c').code == 0
    assert done_by(log) == ["cue c u"]


def test_rounds_wait_for_what_actions_refer_to(log: Path) -> None:
    write(
        prop(trigger("after_create"))
        + cue("${stage_prop.o[0].id}")
        + prop("", '"o"', "o", 'count = stage_prop.first.id == "id-f" ? 1 : 0')
        + prop("", '"f"', "first")
    )
    assert run("plan").code == 1
    done_by(log)
    done = run("apply", "-auto-approve", "-allow-deferral")
    assert done.code == 0, done.out
    assert "Round 2" in done.out
    assert done_by(log) == ["create f", "create o", "create one", "cue id-o"]


def test_a_cycle_through_an_action() -> None:
    write(
        prop(trigger("after_create")) + cue("${stage_prop.o.id}") + prop("", "stage_prop.a.id", "o")
    )
    done = run("plan")
    assert done.code == 1
    assert "Error: Cycle through an action" in done.out + done.err
    assert "stage_prop.a" in done.out + done.err


def test_mocked_actions_do_nothing(log: Path) -> None:
    write(prop(trigger("after_create")) + cue() + 'output "id" {\n  value = stage_prop.a.id\n}\n')
    Path("main.tftest.hcl").write_text(
        'mock_provider "stage" {}\nrun "all" {\n  assert {\n    condition     = stage_prop.a.name == '
        '"one"\n    error_message = "no"\n  }\n}\n'
    )
    done = run("test")
    assert done.code == 0, done.out + done.err
    assert done_by(log) == []


def test_real_actions_in_tests(log: Path) -> None:
    write(prop(trigger("after_create, before_destroy")) + cue())
    Path("main.tftest.hcl").write_text('run "all" {}\n')
    done = run("test")
    assert done.code == 0, done.out + done.err
    assert done_by(log) == ["create one", "cue c one", "cue c one", "delete one"]


def test_coverage_leaves_actions_out() -> None:
    write(prop(trigger("after_create")) + cue())
    Path("main.tftest.hcl").write_text('mock_provider "stage" {}\nrun "all" {}\n')
    done = run("test", "-coverage")
    assert done.code == 0, done.out + done.err


def test_the_provider_can_refuse_while_planning() -> None:
    write(prop(trigger("after_create")) + cue("never"))
    done = run("plan")
    assert done.code == 1
    assert "Error: Unspeakable" in done.out + done.err
    assert 'text = "never"' in done.out + done.err


def test_ephemeral_values_at_destroy() -> None:
    write(
        'variable "s" {\n  default   = "hush"\n  ephemeral = true\n}\n'
        + prop(trigger("before_destroy"))
        + cue("c", config="secret = var.s")
    )
    assert run("apply", "-auto-approve").code == 0
    done = run("apply", "-destroy", "-auto-approve")
    assert done.code == 1
    assert "Ephemeral value in an action at destroy" in done.out + done.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-invoke=stage_prop.a",), "Invalid action address"),
        (("-invoke=action.stage_bow.b", "-destroy"), "cannot be used together"),
        (("-invoke=action.stage_bow.b", "-invoke=action.stage_bow.b"), "only once"),
        (("-invoke=action.stage_bow.b", "-exclude=stage_prop.a"), "cannot be used together"),
        (("-invoke=action.stage_bow.b", "-replace=stage_prop.a"), "cannot be used with"),
    ],
)
def test_options_that_do_not_go_together(args: tuple[str, ...], message: str) -> None:
    write(BOW)
    done = run("plan", *args)
    assert done.code == 1
    assert message in " ".join((done.out + done.err).split())


def test_from_python(log: Path, stage: tuple[dict[str, str], Path]) -> None:
    write(prop(trigger("after_create", more="on_failure = continue")) + cue() + BOW)
    heard: list[str] = []
    with nigari.open() as session:
        plan = session.plan()
        (action,) = plan.actions
        assert (action.address, action.event, action.caller) == (
            "action.stage_cue.c",
            "after_create",
            "stage_prop.a",
        )
        assert action.config.attribute("text").as_string() == "c one"
        assert str(plan.summary) == "1 to add, 0 to change, 0 to destroy, 1 to invoke"
        session.apply(plan, listen=lambda event: heard.append(str(event)))
        assert "action.stage_cue.c: saying c one" in heard
        done_by(log)
        (action,) = (plan := session.plan(invoke="action.stage_bow.b")).actions
        assert (action.event, action.caller) == ("", "")
        session.apply(plan)
        assert done_by(log) == ["bow 1"]
        with pytest.raises(ValueError, match="invoke"):
            session.plan(invoke="action.stage_bow.b", destroy=True)


def test_plain_configurations_for_opentofu_have_no_actions() -> None:
    write(prop(trigger("after_create")) + cue())
    done = run("config", "-plain", "-for=opentofu", "-out=plain")
    assert done.code == 1
    assert "has no action blocks" in done.out + done.err


def test_schemas() -> None:
    write(BOW)
    found = json.loads(run("providers", "schema", "-json").out)
    schemas = found["provider_schemas"]["example.com/test/stage"]["action_schemas"]
    assert sorted(schemas) == ["stage_bow", "stage_cue", "stage_wave"]
    assert list(schemas["stage_bow"]) == ["block"]


def test_short_forms_of_a_plan_count_actions() -> None:
    write(prop(trigger("after_create")) + cue())
    assert "Actions: 1 to invoke." in run("plan", "-summary", "-out=plan").out
    assert (
        "- `action.stage_cue.c`: `after_create` of `stage_prop.a`"
        in run("show", "-markdown", "plan").out
    )


def test_fleets_count_actions() -> None:
    Path("unit").mkdir()
    Path("unit/main.tf").write_text(
        HEAD + 'terraform {\n  backend "local" {}\n}\n' + prop(trigger("after_create")) + cue()
    )
    assert run("fleet", "init").code == 0
    done = run("fleet", "plan")
    assert "1 to invoke" in done.out, done.out + done.err


def test_an_action_that_does_not_exist() -> None:
    write(BOW)
    done = run("plan", "-invoke=action.stage_bow.c")
    assert done.code == 1
    assert 'Did you mean "action.stage_bow.b"?' in " ".join((done.out + done.err).split())


def test_a_saved_plan_that_invokes(log: Path) -> None:
    write(prop(trigger("after_create")) + cue())
    assert run("apply", "-auto-approve").code == 0
    assert run("plan", "-invoke=action.stage_cue.c", "-out=plan").code == 0
    done_by(log)
    assert (
        "# action.stage_cue.c will be invoked (called from stage_prop.a)" in run("show", "plan").out
    )
    shown = json.loads(run("show", "-json", "plan").out)["action_invocations"]
    assert shown[0]["invoke_action_trigger"] == {"calling_resource_address": "stage_prop.a"}
    assert run("apply", "plan").code == 0
    assert done_by(log) == ["cue c one"]
    done = run("apply", "-auto-approve")
    assert "No changes." in done.out


def test_an_action_is_renamed_without_a_move() -> None:
    write(prop(trigger("after_create")) + cue())
    done = run("rename", "action.stage_cue.c", "d")
    assert done.code == 0, done.out + done.err
    expected = HEAD + prop(trigger("after_create", "action.stage_cue.d")) + cue()
    assert Path("main.tf").read_text() == expected.replace('"stage_cue" "c"', '"stage_cue" "d"')
