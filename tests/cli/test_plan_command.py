"""What commands that plan say beside the plan: questions, events, results, pictures."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest

from nigari.cli.args import UsageError, parse
from nigari.cli.command import Command, Invocation, Terminal
from nigari.cli.commands import apply, graph, plan, refresh, show
from tests.cli.in_process import applied, ran
from tests.cli.screen import Screen

THING = 'resource "rich_thing" "a" {\n  name = "n"\n  text = "%s"\n}\n'


def write(text: str) -> None:
    Path("main.tf").write_text(text)


def answered(
    command: Command, args: list[str], environ: dict[str, str], answer: str
) -> tuple[int, str, str]:
    """A command with somebody to ask: its status, what it said, and what it said about errors."""
    parsed = parse(command, args)
    terminal = Terminal(StringIO(answer), StringIO(), StringIO(), environ)
    invocation = Invocation(command, terminal, parsed.flags, parsed.ordered, parsed.arguments)
    status = command.run(invocation)
    assert isinstance(terminal.stdout, StringIO)
    assert isinstance(terminal.stderr, StringIO)
    return status, terminal.stdout.getvalue(), terminal.stderr.getvalue()


# -- questions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        ("yes\n", 0, "Apply complete! Resources: 1 added, 0 changed, 0 destroyed."),
        ("no\n", 1, "Apply cancelled."),
        ("y\n", 1, "Apply cancelled."),
        ("Yes\n", 1, "Apply cancelled."),
        ("\n", 1, "Apply cancelled."),
    ],
)
def test_only_yes_is_yes(rich: dict[str, str], answer: str, status: int, said: str) -> None:
    write(THING % "one")
    found, out, _ = answered(apply.COMMAND, [], rich, answer)
    assert found == status
    assert "Do you want to perform these actions?" in out
    assert said in out
    assert Path("terraform.tfstate").exists() is (status == 0)


def test_nobody_to_ask(rich: dict[str, str]) -> None:
    write(THING % "one")
    status, _, err = answered(apply.COMMAND, [], rich, "")
    assert status == 1
    assert "Input required" in err


def test_programs_are_not_asked(rich: dict[str, str]) -> None:
    write(THING % "one")
    status, out, _ = answered(apply.COMMAND, ["-json"], rich, "yes\n")
    events = [json.loads(line) for line in out.splitlines()]
    assert status == 1
    assert [each["type"] for each in events] == ["version", "diagnostic"]
    assert events[1]["diagnostic"]["summary"] == "Approval required"


def test_nothing_to_do_is_not_asked_about(rich: dict[str, str]) -> None:
    write(THING % "one")
    applied([], rich)
    status, out, _ = answered(apply.COMMAND, [], rich, "")
    assert status == 0
    assert "No changes." in out
    assert "Apply complete! Resources: 0 added, 0 changed, 0 destroyed." in out


@pytest.mark.parametrize(
    ("command", "args", "asked", "done"),
    [
        (apply.DESTROY, [], "Do you really want to destroy", "Destroy complete! Resources: 1"),
        (apply.COMMAND, ["-destroy"], "Do you really want to destroy", "Apply complete!"),
    ],
)
def test_destroy(
    rich: dict[str, str], command: Command, args: list[str], asked: str, done: str
) -> None:
    write(THING % "one")
    applied([], rich)
    status, out, _ = answered(command, args, rich, "no\n")
    assert status == 1
    assert asked in out
    assert out.endswith("Destroy cancelled.\n")
    status, out, _ = answered(command, args, rich, "yes\n")
    assert status == 0
    assert done in out


def test_what_was_found_is_stored_on_request(rich: dict[str, str]) -> None:
    write(THING % "one")
    applied([], rich)
    Path("n.drift").write_text("two")
    status, out, _ = answered(apply.COMMAND, ["-refresh-only"], rich, "yes\n")
    assert status == 0
    assert "Do you want to save these changes to the state?" in out
    assert '~ text    = "one" -> "two"' in out
    assert '"text": "two"' in Path("terraform.tfstate").read_text()


# -- results ----------------------------------------------------------------------------------


def test_result_with_imports_and_outputs(rich: dict[str, str]) -> None:
    text = 'import {\n  to = rich_thing.a\n  id = "n"\n}\noutput "o" {\n  value = [1, "x"]\n}\n'
    write(THING % "one" + text)
    status, said = applied([], rich)
    assert status == 0
    assert "Apply complete! Resources: 1 imported, 0 added, 1 changed, 0 destroyed." in said
    assert said.endswith('\nOutputs:\n\no = [\n  1,\n  "x",\n]\n')


def test_refresh_tells_outputs_only(rich: dict[str, str]) -> None:
    write(THING % "one" + 'output "o" {\n  value = rich_thing.a.text\n}\n')
    applied([], rich)
    Path("n.drift").write_text("two")
    status, said = ran(refresh.COMMAND, [], rich)
    assert status == 0
    assert "complete!" not in said
    # As in OpenTofu, outputs are those of a plan, which is going to change the object back.
    assert said.endswith('\nOutputs:\n\no = "one"\n')


def test_next_step(rich: dict[str, str]) -> None:
    write(THING % "one")
    _, said = ran(plan.COMMAND, [], {})
    assert "save it first with -out=FILE" in said
    _, said = ran(plan.COMMAND, ["-out=p"], {})
    assert 'nigari apply "p"' in said
    _, said = ran(plan.COMMAND, ["-out=p"], {"TF_IN_AUTOMATION": "1"})
    assert "nigari apply" not in said


def test_secrets_on_request(rich: dict[str, str]) -> None:
    write('resource "rich_thing" "a" {\n  name = "n"\n  hush = "secret"\n}\n')
    assert "secret" not in ran(plan.COMMAND, [], rich)[1].replace("sensitive", "")
    assert '+ hush    = "secret"' in ran(plan.COMMAND, ["-show-sensitive"], rich)[1]


def test_concise(rich: dict[str, str]) -> None:
    write(THING % "one" + 'data "rich_lookup" "d" {\n  key = "k"\n}\n')
    applied([], rich)
    assert "rich_thing.a: Refreshing state... [id=id-n]\n" in ran(plan.COMMAND, [], rich)[1]
    said = ran(plan.COMMAND, ["-concise"], rich)[1]
    assert "Refreshing" not in said
    assert "Reading" not in said


# -- colours ----------------------------------------------------------------------------------


def on_a_screen(args: list[str], environ: dict[str, str]) -> str:
    parsed = parse(plan.COMMAND, args)
    terminal = Terminal(StringIO(), Screen(), StringIO(), environ)
    invocation = Invocation(plan.COMMAND, terminal, parsed.flags, parsed.ordered, [])
    assert plan.COMMAND.run(invocation) == 0
    assert isinstance(terminal.stdout, Screen)
    return terminal.stdout.getvalue()


def test_colours(rich: dict[str, str]) -> None:
    write(THING % "one")
    said = on_a_screen([], rich)
    assert "  \x1b[32m+\x1b[0m create\n" in said
    assert "  \x1b[1m# rich_thing.a\x1b[0m will be created\n" in said
    assert "\x1b[1mPlan: 1 to add" in said
    for args, environ in (([], {"NO_COLOR": "1"}), (["-no-color"], {}), ([], {"TERM": "dumb"})):
        assert "\x1b[3" not in on_a_screen(args, {**rich, **environ})


# -- programs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "version", "keeps", "action"),
    [
        ("b", 1, False, "move"),
        ("b", 2, False, "replace"),
        ("b", 2, True, "move"),
        ("a", 2, True, "noop"),
    ],
)
def test_the_action_of_what_moves(
    name: str, version: int, keeps: bool, action: str, rich: dict[str, str]
) -> None:
    text = 'resource "terraform_data" "%s" {\n  triggers_replace = %s\n%s}\n'
    write(text % ("a", 1, ""))
    ran(apply.COMMAND, ["-auto-approve"], rich)
    kept = "  lifecycle {\n    destroy = false\n  }\n" if keeps else ""
    moved = "moved {\n  from = terraform_data.a\n  to = terraform_data.b\n}\n"
    write(text % (name, version, kept) + (moved if name == "b" else ""))
    _, said = ran(plan.COMMAND, ["-json"], rich)
    events = [json.loads(line) for line in said.splitlines()]
    found = [each["change"]["action"] for each in events if each["type"] == "planned_change"]
    assert found == [action]


@pytest.mark.parametrize(
    ("version", "keeps", "action"),
    [("null", False, "import"), ("1", False, "replace"), ("1", True, "import")],
)
def test_the_action_of_what_is_imported(
    version: str, keeps: bool, action: str, rich: dict[str, str]
) -> None:
    kept = "  lifecycle {\n    destroy = false\n  }\n" if keeps else ""
    write(
        f'resource "terraform_data" "a" {{\n  triggers_replace = {version}\n{kept}}}\n'
        'import {\n  to = terraform_data.a\n  id = "x"\n}\n'
    )
    _, said = ran(plan.COMMAND, ["-json"], rich)
    events = [json.loads(line) for line in said.splitlines()]
    found = [each["change"]["action"] for each in events if each["type"] == "planned_change"]
    assert found == [action]


def test_events(rich: dict[str, str]) -> None:
    text = 'data "rich_lookup" "d" {\n  key = "k"\n}\noutput "o" {\n  value = 1\n}\n'
    write(THING % "one" + text)
    _, said = ran(apply.COMMAND, ["-json", "-auto-approve"], rich)
    events = [json.loads(line) for line in said.splitlines()]
    assert [each["type"] for each in events] == [
        "version",
        "apply_start",
        "apply_complete",
        "planned_change",
        "change_summary",
        "outputs",
        "apply_start",
        "apply_complete",
        "change_summary",
        "outputs",
    ]
    resource = {
        "addr": "rich_thing.a",
        "module": "",
        "resource": "rich_thing.a",
        "implied_provider": "rich",
        "resource_type": "rich_thing",
        "resource_name": "a",
        "resource_key": None,
    }
    assert events[3]["change"] == {"resource": resource, "action": "create"}
    assert events[7]["hook"] == {
        "resource": resource,
        "action": "create",
        "id_key": "id",
        "id_value": "id-n",
        "elapsed_seconds": 0,
    }
    assert events[8]["@message"] == "Apply complete! Resources: 1 added, 0 changed, 0 destroyed."
    assert events[9]["outputs"] == {"o": {"sensitive": False, "type": "number", "value": 1}}


def test_saved_plan_is_shown_as_it_was(rich: dict[str, str]) -> None:
    write(THING % "one")
    applied([], rich)
    Path("n.drift").write_text("two")
    write(THING % "three" + 'output "o" {\n  value = rich_thing.a.text\n}\n')
    _, said = ran(plan.COMMAND, ["-out=p", "-concise"], rich)
    status, shown = ran(show.COMMAND, ["p"], rich)
    assert status == 0
    assert shown == said
    status, text = ran(show.COMMAND, ["-json", "p"], rich)
    document = json.loads(text)
    assert status == 0
    assert list(document) == [
        "format_version",
        "terraform_version",
        "planned_values",
        "resource_drift",
        "resource_changes",
        "output_changes",
        "prior_state",
        "configuration",
        "relevant_attributes",
        "timestamp",
        "errored",
    ]
    assert document["relevant_attributes"] == [{"resource": "rich_thing.a", "attribute": ["text"]}]


def test_digits_are_kept(rich: dict[str, str]) -> None:
    write('resource "terraform_data" "a" {\n  input = 12345678901234567890.123456789\n}\n')
    ran(plan.COMMAND, ["-out=p"], rich)
    assert '"input":12345678901234567890.123456789' in ran(show.COMMAND, ["-json", "p"], rich)[1]


# -- graphs -----------------------------------------------------------------------------------

CHAIN = """\
resource "terraform_data" "a" {}
resource "terraform_data" "b" { input = terraform_data.a.id }
resource "rich_thing" "c" { name = terraform_data.b.id }
"""


def test_digits_are_kept_in_events(rich: dict[str, str]) -> None:
    write('output "big" {\n  value = 123456789012345678901234567890.5\n}\n')
    for _ in range(2):
        status, said = ran(apply.COMMAND, ["-json", "-auto-approve"], rich)
        assert status == 0
        assert '"value":123456789012345678901234567890.5' in said


def test_graph_of_operations(rich: dict[str, str]) -> None:
    write(CHAIN)
    status, said = ran(graph.COMMAND, [], rich)
    assert status == 0
    lines = said.splitlines()
    assert lines[0] == "digraph {"
    assert lines[-1] == "}"
    assert '  "create terraform_data.b" -> "create terraform_data.a"' in lines
    assert '  "create rich_thing.c" -> "create terraform_data.a"' not in lines
    operations = json.loads(ran(graph.COMMAND, ["-as-json"], rich)[1])
    assert {each["kind"] for each in operations} == {"open", "close", "create"}
    ran(plan.COMMAND, ["-out=p"], rich)
    assert ran(graph.COMMAND, ["-plan=p"], rich)[1] == said


def test_graph_of_a_configuration(rich: dict[str, str]) -> None:
    write(CHAIN)
    _, said = ran(graph.COMMAND, ["-type=plan"], rich)
    lines = [line.strip() for line in said.splitlines()]
    name = '"[root] terraform_data.b (expand)"'
    assert f'{name} [label = "terraform_data.b", shape = "box"]' in lines
    assert f'{name} -> "[root] terraform_data.a (expand)"' in lines
    data = json.loads(ran(graph.COMMAND, ["-type=plan", "-as-json"], rich)[1])
    assert {"address": "rich_thing.c", "needs": ["terraform_data.b"]} in data


@pytest.mark.parametrize("kind", ["apply", "plan"])
def test_graph_in_mermaid_has_the_same_nodes_and_arrows(rich: dict[str, str], kind: str) -> None:
    """Both languages draw one graph, so their nodes and arrows agree by name."""
    dot, mermaid = (
        ran(graph.COMMAND, [f"-type={kind}", f"-format={language}"], rich)[1]
        for language in ("dot", "mermaid")
    )
    assert mermaid.startswith("flowchart BT\n")
    names = dict(re.findall(r'^  (n\d+)[^\w]+"(.*)"', mermaid, re.MULTILINE))
    names = {number: name.replace("#quot;", '"') for number, name in names.items()}
    arrows = {(names[a], names[b]) for a, b in re.findall(r"(n\d+) --> (n\d+)", mermaid)}
    drawn = re.findall(r'^\s*"(.*)" -> "(.*)"$', dot.replace('\\"', '"'), re.MULTILINE)
    assert arrows == {(_bare(a), _bare(b)) for a, b in drawn}


def _bare(name: str) -> str:
    """A block's address without what OpenTofu puts around it."""
    return re.sub(r"^\[root\] | \((expand|close)\)$", "", name)


def test_graph_alone_is_printed(rich: dict[str, str]) -> None:
    write('variable "v" {\n  default = 1\n  deprecated = "old"\n}\n' + CHAIN)
    applied([], rich)
    _, out, _ = answered(graph.COMMAND, ["-destroy"], rich, "")
    assert out.startswith("digraph {")
    with pytest.raises(UsageError):
        ran(graph.COMMAND, ["-type=picture"], rich)
    with pytest.raises(UsageError, match="-format must be"):
        ran(graph.COMMAND, ["-format=picture"], rich)


def test_configuration_is_shown_for_programs(rich: dict[str, str]) -> None:
    write(CHAIN[: CHAIN.index('resource "rich')])
    status, out, err = answered(show.COMMAND, ["-config", "-json"], rich, "")
    assert (status, err) == (0, "")
    resources = json.loads(out)["root_module"]["resources"]
    assert resources[1]["expressions"] == {
        "input": {"references": ["terraform_data.a.id", "terraform_data.a"]}
    }
    with pytest.raises(UsageError):
        ran(show.COMMAND, ["-config"], rich)
    with pytest.raises(UsageError):
        ran(show.COMMAND, ["-config", "-json", "file"], rich)


def test_what_could_be_planned_is_shown_before_errors(rich: dict[str, str]) -> None:
    write(
        THING % "one"
        + 'resource "terraform_data" "b" {\n  count = rich_thing.a.id == "" ? 1 : 0\n}\n'
    )
    status, out, err = answered(plan.COMMAND, [], rich, "")
    assert status == 1
    assert "These actions were planned before the errors below:" in out
    assert "# rich_thing.a will be created" in out
    assert "Error: " in err
    write('resource "terraform_data" "b" {\n  for_each = toset([timestamp()])\n}\n')
    status, out, _ = answered(apply.COMMAND, ["-auto-approve"], rich, "")
    assert status == 1
    assert out == "\nPlanning failed. See the errors below.\n"


CHECKED = """\
check "c" {
  assert {
    condition     = rich_thing.a.text == "two"
    error_message = "It is not two."
  }
}
"""


def test_warnings_come_before_the_question(rich: dict[str, str]) -> None:
    write(THING % "one" + CHECKED)
    _, out, _ = answered(apply.COMMAND, [], rich, "yes\n")
    first, asked, done = (
        out.index(each) for each in ("It is not two.", "Do you want", "Apply complete!")
    )
    assert first < asked < done
    assert out.count("It is not two.") == 1
    _, said = ran(plan.COMMAND, ["-compact-warnings"], {})
    assert "\n\nWarnings:\n\n- Check failed\n  on main.tf line 7\n" in said


def test_a_failing_check_is_shown_once_and_after_the_apply(rich: dict[str, str]) -> None:
    write(THING % "one" + CHECKED)
    status, out = ran(apply.COMMAND, ["-auto-approve"], rich)
    assert status == 0, out
    assert out.count("It is not two.") == 1
    assert out.index("Creation complete") < out.index("It is not two.")


@pytest.mark.parametrize(
    ("args", "is_changed"),
    [([], False), (["-var=s=other"], True), (["-var=p=other"], True)],
    ids=["nothing", "the secret", "the rest"],
)
def test_a_partly_sensitive_output_is_shown_if_it_changes(
    args: list[str], is_changed: bool, rich: dict[str, str]
) -> None:
    write(
        'variable "s" {\n default = "s"\n sensitive = true\n}\nvariable "p" { default = "p" }\n'
        'output "o" {\n value = { plain = var.p, hidden = [1, var.s] }\n sensitive = true\n}\n'
    )
    assert ran(apply.COMMAND, ["-auto-approve"], rich)[0] == 0
    _, out = ran(plan.COMMAND, args, rich)
    assert ("~ o = (sensitive value)" in out) is is_changed
    assert ("No changes." in out) is not is_changed


def test_a_failed_plan_does_not_offer_its_outputs(rich: dict[str, str]) -> None:
    write('variable "m" {\n default = {}\n}\noutput "a" { value = 1 }\n')
    with open("main.tf", "a") as file:
        file.write('output "b" { value = var.m["k"] }\n')
    status, out = ran(plan.COMMAND, [], rich)
    assert status == 1
    assert "Planning failed." in out
    assert "Applying this plan" not in out
    assert "Changes to Outputs" not in out
    with open("main.tf", "a") as file:
        file.write('resource "terraform_data" "x" {}\n')
    _, out = ran(plan.COMMAND, [], rich)
    assert "+ a = 1" in out
    assert "+ b" not in out
    assert "Applying this plan" not in out


def test_forgetting_is_a_warning_that_names_the_objects(rich: dict[str, str]) -> None:
    write('resource "terraform_data" "x" {\n count = 2\n}\n')
    assert ran(apply.COMMAND, ["-auto-approve"], rich)[0] == 0
    write("removed {\n from = terraform_data.x\n lifecycle {\n destroy = false\n }\n}\n")
    status, out = ran(plan.COMMAND, [], rich)
    assert status == 0
    assert out.count("Warning: Object will be forgotten") == 1
    assert "with terraform_data.x[0] and terraform_data.x[1]:" in out
    _, out = ran(apply.COMMAND, ["-auto-approve"], rich)
    assert out.count("Warning: Object will be forgotten") == 1


def test_warnings_with_different_advice_are_not_merged(rich: dict[str, str]) -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text(
        'output "a" {\n value = 1\n deprecated = "Use b."\n}\n'
        'output "c" {\n value = 1\n deprecated = "Use d."\n}\n'
    )
    write(
        'module "m" {\n source = "./m"\n}\n'
        'output "x" { value = module.m.a }\noutput "y" { value = module.m.c }\n'
    )
    _, out = ran(plan.COMMAND, [], rich)
    assert "Use b." in out
    assert "Use d." in out


# -- a directory without configuration --------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "args", "status", "said"),
    [
        (plan.COMMAND, [], 1, "No configuration files"),
        (plan.COMMAND, ["-refresh-only"], 1, "No configuration files"),
        (apply.COMMAND, ["-auto-approve"], 1, "No configuration files"),
        (plan.COMMAND, ["-destroy"], 0, "1 to destroy"),
        (refresh.COMMAND, [], 0, "Refreshing state"),
        (apply.COMMAND, ["-destroy", "-auto-approve"], 0, "1 destroyed"),
        (apply.DESTROY, ["-auto-approve"], 0, "1 destroyed"),
    ],
)
def test_a_wrong_directory_destroys_nothing_unless_asked_to(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Command,
    args: list[str],
    status: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write('resource "terraform_data" "a" {}\n')
    applied([], {})
    Path("main.tf").unlink()
    found, out, err = answered(command, args, {}, "yes\n")
    assert found == status
    assert said in out + err


def test_nothing_to_refresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = answered(refresh.COMMAND, [], {}, "")
    assert status == 0
    assert "State is empty" in out + err


def test_nobody_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write('resource "terraform_data" "a" {}\n')
    status, _, err = answered(apply.COMMAND, [], {}, "")
    assert status == 1
    assert "or with -auto-approve." in err


def test_nobody_is_asked_after_a_mistake_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write('variable "n" {}\n')
    status, out, err = answered(plan.COMMAND, ["-var", "n"], {}, "1\n")
    assert (status, out) == (1, "")
    assert "Invalid -var option" in err


def test_what_is_made_from_a_mistake_is_not_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        'variable "n" { type = number }\n'
        'resource "terraform_data" "a" { input = var.n }\n'
        'resource "terraform_data" "b" { input = terraform_data.a.output }\n'
        'resource "terraform_data" "c" {}\n'
    )
    status, out, err = answered(plan.COMMAND, ["-var", "n=x"], {}, "")
    assert status == 1
    assert "terraform_data.c will be created" in out
    assert "1 to add" in out
    assert "The value for var.n from the option -var does not match its type" in err


def test_what_was_made_is_said_to_be_complete_though_a_postcondition_fails(
    rich: dict[str, str],
) -> None:
    write(
        'resource "terraform_data" "x" {\n input = 1\n lifecycle {\n  postcondition {\n'
        '   condition = self.output == 2\n   error_message = "It is ${self.output}."\n  }\n }\n}\n'
    )
    status, out = ran(apply.COMMAND, ["-auto-approve"], rich)
    assert status == 1
    assert "terraform_data.x: Creation complete" in out
    assert "self.output is 1" in out
    assert "It is 1." in out


def test_events_of_a_destroy(rich: dict[str, str]) -> None:
    write(THING % "one" + 'output "o" {\n  value = 1\n}\n')
    ran(apply.COMMAND, ["-auto-approve"], rich)
    _, said = ran(apply.DESTROY, ["-json", "-auto-approve"], rich)
    events = [json.loads(line) for line in said.splitlines()]
    assert events[-1]["type"] == "change_summary"
    assert events[-1]["changes"]["remove"] == 1


def test_what_minimal_refresh_did_not_read_is_mentioned(rich: dict[str, str]) -> None:
    write(THING % "one")
    applied([], rich)
    said = ran(plan.COMMAND, ["-minimal-refresh"], rich)[1]
    assert "\n1 object was not read, because nothing would change there.\n" in said
    assert "not read" not in ran(plan.COMMAND, [], rich)[1]


@pytest.mark.parametrize("other", ["-refresh=false", "-refresh-only"])
def test_minimal_refresh_contradicts_other_kinds(rich: dict[str, str], other: str) -> None:
    write(THING % "one")
    with pytest.raises(UsageError, match="-minimal-refresh cannot be used"):
        ran(plan.COMMAND, ["-minimal-refresh", other], rich)
