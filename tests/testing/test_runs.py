"""Test files are executed: what each run gives, with an in-process provider in place of a plugin."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.process import Done, inside
from tests.cli.rich import Rich
from tests.providers_found import find_provider

_MODULE = """
variable "name" {
  type    = string
  default = "usual"
  validation {
    condition     = length(var.name) < 8
    error_message = "Too long: ${var.name}."
  }
}
variable "secret" {
  type      = string
  default   = "hidden"
  sensitive = true
}
resource "rich_thing" "a" {
  name = "a"
  text = var.name
  lifecycle {
    postcondition {
      condition     = self.text != "bad"
      error_message = "Bad name."
    }
  }
}
data "rich_lookup" "d" {
  key = var.name
}
output "name" {
  value = rich_thing.a.text
}
output "id" {
  value = rich_thing.a.id
}
check "short" {
  assert {
    condition     = length(var.name) < 6
    error_message = "Long."
  }
}
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module, in a working directory where the provider is found in this process."""
    find_provider(monkeypatch, Rich)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.tf").write_text(_MODULE)
    return tmp_path


def _test(*args: str) -> Done:
    return inside("test", *args, settings={"TF_IN_AUTOMATION": "1"})


def _statuses(*args: str) -> dict[str, str]:
    """The status of each run."""
    found = {}
    for line in _test("-json", *args).out.splitlines():
        event = json.loads(line)
        if event["type"] == "test_run":
            found[event["test_run"]["run"]] = event["test_run"]["status"]
    return found


def _assert(condition: str, message: str = "no") -> str:
    return f'assert {{\n  condition = {condition}\n  error_message = "{message}"\n}}\n'


def _run(name: str, body: str) -> str:
    return f'run "{name}" {{\n{body}\n}}\n'


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", "pass"),
        ("command = plan", "pass"),
        (_assert('output.name == "usual"'), "pass"),
        (_assert('output.name == "other"'), "fail"),
        (_assert("output.none"), "error"),
        (_assert("check.short"), "error"),
        (_assert("run.x.y == 1"), "error"),
        (_assert("rich_thing.a.id == null ? null : null"), "error"),
        (_assert('var.name == "usual" && var.secret == "hidden"'), "pass"),
        ('variables {\n  extra = 5\n}\n' + _assert("var.extra == 5"), "pass"),
        ('variables {\n  name = "abc"\n}\n' + _assert('rich_thing.a.text == "abc"'), "pass"),
        ('variables {\n  name = "sevenly"\n}\n', "error"),
        ('variables {\n  name = "sevenly"\n}\nexpect_failures = [check.short]', "pass"),
        ('variables {\n  name = "much too long"\n}\nexpect_failures = [var.name]', "error"),
        (
            ('command = plan\nvariables {\n  name = "much too long"\n}\n'
            "expect_failures = [var.name, check.short]"),
            "pass",
        ),
        ('variables {\n  name = "bad"\n}\nexpect_failures = [rich_thing.a]', "error"),
        ('command = plan\nvariables {\n  name = "bad"\n}\nexpect_failures = [rich_thing.a]', "pass"),
        ("expect_failures = [rich_thing.a]", "error"),
        ("expect_failures = [local.x]", "error"),
        ("skip = true", "skip"),
        ("command = plan\n" + _assert("rich_thing.a.id != null"), "error"),
        ('override_resource {\n  target = rich_thing.a\n  values = { id = "i" }\n}\n'
         "command = plan\n" + _assert('rich_thing.a.id == "i"'), "pass"),
        ('override_data {\n  target = data.rich_lookup.d\n  values = { value = "v" }\n}\n'
         + _assert('data.rich_lookup.d.value == "v"'), "pass"),
        ("override_resource {\n  target = rich_thing.none\n}\n", "error"),
        ("override_data {\n  target = rich_thing.a\n}\n", "error"),
        ("override_module {\n  target = module.none\n}\n", "error"),
        ('override_resource {\n  target = rich_thing.a\n  values = { name = "i" }\n}\n', "error"),
    ],
)  # fmt: skip
def test_one_run(module: Path, body: str, status: str) -> None:
    (module / "t.tftest.hcl").write_text(f'run "r" {{\n{body}\n}}\n')
    assert _statuses() == {"r": status}
    assert not (module / "errored_test.tfstate").exists()


def test_a_secret_is_never_in_a_message(module: Path) -> None:
    (module / "t.tftest.hcl").write_text(
        'run "r" {\n  variables {\n    secret = "t0p"\n  }\n  assert {\n'
        '    condition     = var.name == "x"\n    error_message = "It is ${var.secret}."\n  }\n}\n'
    )
    done = _test()
    assert done.code == 1
    assert "t0p" not in done.out + done.err


def test_runs_after_an_error_are_skipped_and_after_a_failure_not(module: Path) -> None:
    (module / "a.tftest.hcl").write_text(
        f'run "fails" {{\n{_assert("output.id == 1")}}}\nrun "next" {{}}\n'
        f'run "breaks" {{\n{_assert("output.none")}}}\nrun "last" {{}}\n'
    )
    (module / "b.tftest.hcl").write_text('run "other_file" {}\n')
    assert _statuses() == {
        "fails": "fail",
        "next": "pass",
        "breaks": "error",
        "last": "skip",
        "other_file": "pass",
    }


def test_outputs_of_all_earlier_runs(module: Path) -> None:
    """Also of one whose state a later run has changed."""
    (module / "t.tftest.hcl").write_text(
        'run "one" {\n  variables {\n    name = "one"\n  }\n}\n'
        'run "two" {\n  variables {\n    name = "two"\n  }\n}\n'
        'run "three" {\n  variables {\n    name = "${run.one.name}${run.two.name}"\n  }\n'
        + _assert('output.name == "onetwo"')
        + "  expect_failures = [check.short]\n}\n"
    )
    assert _statuses() == {"one": "pass", "two": "pass", "three": "pass"}


@pytest.mark.parametrize(
    ("args", "environment", "value"),
    [
        ((), {}, "root"),
        (("-var=name=flag",), {}, "flag"),
        ((), {"TF_VAR_name": "env"}, "root"),
    ],
)
def test_values_from_outside(
    module: Path, args: tuple[str, ...], environment: dict[str, str], value: str
) -> None:
    (module / "terraform.tfvars").write_text('name = "root"\n')
    (module / "t.tftest.hcl").write_text(_run("r", _assert(f'output.name == "{value}"')))
    done = inside("test", *args, settings=environment)
    assert done.code == 0, done.err


def test_files_of_values_beside_the_tests_are_weaker_than_options(module: Path) -> None:
    (module / "tests").mkdir()
    (module / "terraform.tfvars").write_text('name = "root"\n')
    (module / "tests" / "terraform.tfvars").write_text('name = "tests"\n')
    (module / "t.tftest.hcl").write_text(f'run "r" {{\n{_assert("output.name == var.name")}}}\n')
    assert '"tests"' in _test("-verbose").out
    assert '"flag"' in _test("-verbose", "-var=name=flag").out


def test_overrides_of_one_file_end_with_it(module: Path) -> None:
    (module / "a.tftest.hcl").write_text(
        'override_resource {\n  target = rich_thing.a\n  values = { id = "over" }\n}\n'
        + _run("with", _assert('output.id == "over"'))
    )
    (module / "b.tftest.hcl").write_text(_run("without", _assert('output.id != "over"')))
    assert _statuses() == {"with": "pass", "without": "pass"}


def test_a_mocked_provider(module: Path) -> None:
    (module / "t.tftest.hcl").write_text(
        'mock_provider "rich" {\n  mock_data "rich_lookup" {\n    defaults = { value = "mocked" }\n'
        "  }\n}\n"
        'run "r" {\n  command = plan\n'
        + _assert("output.id != null")
        + _assert('data.rich_lookup.d.value == "mocked"')
        + "}\n"
    )
    assert _statuses() == {"r": "pass"}


def test_a_failed_clean_up_is_a_failure(module: Path) -> None:
    (module / "main.tf").write_text(
        'resource "rich_thing" "a" {\n  name = "x"\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n'
    )
    (module / "t.tftest.hcl").write_text('run "r" {}\n')
    # What an earlier run has left stays.
    for name in ("errored_test.tfstate", "errored_test.1.tfstate"):
        done = _test()
        assert done.code == 1
        assert "rich_thing.a" in done.err
        assert f"in the file {name}" in " ".join(done.err.split())
        assert "Failure! 1 passed, 0 failed." in done.out
        left = json.loads((module / name).read_text())
        assert [each["name"] for each in left["resources"]] == ["a"]


def test_the_state_of_the_directory_is_left_alone(module: Path) -> None:
    (module / "t.tftest.hcl").write_text('run "r" {}\n')
    (module / "terraform.tfstate").write_text("not looked at")
    assert _test().code == 0
    assert (module / "terraform.tfstate").read_text() == "not looked at"


def test_several_files_at_the_same_time(module: Path) -> None:
    for index in range(5):
        (module / f"f{index}.tftest.hcl").write_text(f'run "r{index}" {{}}\n')
    done = _test("-parallelism=4")
    assert [line for line in done.out.splitlines() if "..." in line and "run" not in line] == [
        f"f{index}.tftest.hcl... pass" for index in range(5)
    ]


def test_modules_of_runs_have_states_of_their_own(module: Path) -> None:
    (module / "m").mkdir()
    (module / "m" / "main.tf").write_text(
        'resource "rich_thing" "a" {\n  name = "m"\n}\noutput "name" {\n  value = "from ${rich_thing.a.name}"\n}\n'
    )
    (module / "t.tftest.hcl").write_text(
        'run "setup" {\n  module {\n    source = "./m"\n  }\n}\n'
        'run "main" {\n  variables {\n    name = run.setup.name\n  }\n'
        + _assert('output.name == "from m"')
        + "  expect_failures = [check.short]\n}\n"
    )
    assert _statuses() == {"setup": "pass", "main": "pass"}


@pytest.mark.parametrize("source", ["./m/", "./n/../m", "./m/.", "././m"])
def test_one_module_however_its_source_is_spelled(module: Path, source: str) -> None:
    (module / "m").mkdir()
    (module / "m" / "main.tf").write_text(
        'variable "v" {\n  default = "first"\n}\nresource "terraform_data" "a" {\n'
        "  input = var.v\n  lifecycle {\n    ignore_changes = [input]\n  }\n}\n"
        'output "o" {\n  value = terraform_data.a.output\n}\n'
    )
    (module / "t.tftest.hcl").write_text(
        _run("one", 'module {\n  source = "./m"\n}')
        + _run(
            "two",
            f'variables {{\n  v = "second"\n}}\nmodule {{\n  source = "{source}"\n}}\n'
            + _assert('output.o == "first"'),
        )
    )
    assert _statuses() == {"one": "pass", "two": "pass"}


_NEEDS = 'terraform {{\n  required_providers {{\n    x = {{ source = "hashicorp/{}" }}\n  }}\n}}\n'
_IN_M = 'module {\n  source = "./m"\n}'
_BOTH = 'provider "x" {\n}\nprovider "x" {\n  alias = "one"\n}\n'


@pytest.mark.parametrize(
    ("runs", "lines"),
    [
        (_run("a", "") + _run("b", _IN_M), []),
        (_run("b", _IN_M) + _run("a", ""), [1]),
        (_run("b", f"providers = {{ x = x }}\n{_IN_M}") + _run("a", ""), [1]),
        (_run("b", f"providers = {{ x = x.one }}\n{_IN_M}") + _run("a", ""), [1]),
        (_run("b", _IN_M) + _run("a", "providers = { x = x.one }"), [12]),
        (_run("a", "") + _run("b", f"providers = {{ x = x.one }}\n{_IN_M}"), []),
        (_run("a", "providers = { x = x }") + _run("b", f"providers = {{ x = x }}\n{_IN_M}"), []),
    ],
)
def test_a_provider_block_for_two_providers(module: Path, runs: str, lines: list[int]) -> None:
    """A name means what its first run means; OpenTofu checks the runs of the root module only."""
    (module / "m").mkdir()
    (module / "main.tf").write_text(_NEEDS.format("null"))
    (module / "m" / "main.tf").write_text(_NEEDS.format("random"))
    (module / "t.tftest.hcl").write_text(_BOTH + runs)
    events = [json.loads(line) for line in _test("-json").out.splitlines()]
    told = [each["diagnostic"] for each in events if "diagnostic" in each]
    assert [
        each["range"]["start"]["line"] for each in told if "wrong provider" in each["summary"]
    ] == lines


def test_files_without_runs_are_null_in_the_events(module: Path) -> None:
    (module / "t.tftest.hcl").write_text("")
    (module / "u.tftest.hcl").write_text("variables {\n  name = 1\n}\n")
    (module / "v.tftest.hcl").write_text('run "r" {}\n')
    events = [json.loads(line) for line in _test("-json").out.splitlines()]
    assert events[1]["test_abstract"] == {
        "t.tftest.hcl": None, "u.tftest.hcl": None, "v.tftest.hcl": ["r"],
    }  # fmt: skip


@pytest.mark.parametrize("name", ["nowhere.tftest.hcl", "./t.tftest.hcl"])
def test_a_filter_that_names_no_file(module: Path, name: str) -> None:
    (module / "t.tftest.hcl").write_text('run "r" {}\n')
    done = _test(f"-filter={name}")
    assert done.code == 1
    assert "Test file not found" in done.err


def test_the_events(module: Path) -> None:
    (module / "t.tftest.hcl").write_text(f'run "r" {{\n{_assert("output.name == 1", "why")}}}\n')
    events = [json.loads(line) for line in _test("-json", "-verbose").out.splitlines()]
    assert [each["type"] for each in events] == [
        "version", "test_abstract", "test_file", "test_run", "test_state", "diagnostic",
        "test_summary",
    ]  # fmt: skip
    assert events[1]["test_abstract"] == {"t.tftest.hcl": ["r"]}
    assert events[1]["@message"] == "Found 1 file and 1 run block"
    assert (events[5]["@testfile"], events[5]["@testrun"]) == ("t.tftest.hcl", "r")
    assert events[-1]["test_summary"] == {
        "status": "fail", "passed": 0, "failed": 1, "errored": 0, "skipped": 0,
    }  # fmt: skip


def test_a_report_for_services(module: Path) -> None:
    (module / "t.tftest.hcl").write_text(
        _run("good", "")
        + _run("bad", _assert('output.name == "b"', "Why it <failed>.\\u001b"))
        + _run("off", "skip = true")
    )
    assert _test("-junit-xml=report.xml", "-markdown=report.md").code == 1
    suite = ElementTree.parse(module / "report.xml").getroot()[0]
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3", "failures": "1", "errors": "0", "skipped": "1",
    }  # fmt: skip
    failure = suite[1][0]
    assert failure.tag == "failure"
    told = failure.text or ""
    assert "Why it <failed>.\\u001b" in told
    difference = ' -> "b"\n'
    assert difference in told
    assert difference in (module / "report.md").read_text()


def test_runs_side_by_side(module: Path) -> None:
    """Those wait that share a state, or use outputs of another."""
    for name in ("m", "n"):
        (module / name).mkdir()
        (module / name / "main.tf").write_text(
            'resource "rich_thing" "a" {\n  name  = "m"\n  delay = 0.3\n}\n'
            'variable "v" {\n  default = ""\n}\noutput "o" {\n  value = rich_thing.a.name\n}\n'
        )
    body = 'parallel = true\nmodule {{\n  source = "./{}"\n}}\n'
    (module / "t.tftest.hcl").write_text(
        _run("one", body.format("m"))
        + _run("two", body.format("n"))
        + _run("three", body.format("m") + "variables {\n  v = run.two.o\n}\n")
    )
    events = [json.loads(line) for line in _test("-json").out.splitlines()]
    assert [each["test_run"]["status"] for each in events if each["type"] == "test_run"] == [
        "pass"
    ] * 3


_PROVISIONED = """
resource "terraform_data" "p" {
  provisioner "local-exec" {
    command = "touch made"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "touch gone"
  }
}
"""


@pytest.mark.parametrize(
    ("before", "inside_run", "status", "files"),
    [
        ("", "", "pass", {"made", "gone"}),
        ('mock_provisioner "local-exec" {}\n', "", "pass", set()),
        ("", 'mock_provisioner "local-exec" {}\n', "pass", set()),
        ('mock_provisioner "remote-exec" {}\n', "", "pass", {"made", "gone"}),
        ("", 'mock_provisioner "local-exec" {\n  error_message = "No."\n}\n', "error", set()),
        (
            'mock_provisioner "local-exec" {\n  error_message = "No."\n}\n',
            'mock_provisioner "local-exec" {}\n',
            "pass",
            set(),
        ),
    ],
)
def test_mocked_provisioners(
    module: Path, before: str, inside_run: str, status: str, files: set[str]
) -> None:
    (module / "main.tf").write_text(_PROVISIONED)
    (module / "t.tftest.hcl").write_text(before + _run("r", inside_run))
    assert _statuses() == {"r": status}
    assert {"made", "gone"} & {each.name for each in module.iterdir()} == files


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('mock_provisioner "loca-exec" {}\n', 'Did you mean "local-exec"?'),
        (
            'mock_provisioner "file" {}\nmock_provisioner "file" {}\n',
            "Duplicate mock_provisioner block",
        ),
        ("test {}\ntest {}\n", "test"),
        ("test {\n  parallel = var.x\n}\n", "parallel"),
    ],
)
def test_what_is_wrong_with_a_file(module: Path, text: str, says: str) -> None:
    (module / "t.tftest.hcl").write_text(text + 'run "r" {}\n')
    done = _test()
    assert done.code == 1
    assert says in done.err


def test_a_file_may_say_that_runs_are_parallel(module: Path) -> None:
    for name in ("one", "two"):
        (module / name).mkdir()
        (module / name / "main.tf").write_text(
            'resource "terraform_data" "x" {\n  provisioner "local-exec" {\n'
            '    command = "touch ${path.module}/on; '
            "for i in $(seq 100); do test -e one/on -a -e two/on && exit 0; sleep 0.1; done; "
            'exit 1"\n  }\n}\n'
        )
    runs = [_run(name, f'module {{\n  source = "./{name}"\n}}') for name in ("one", "two")]
    (module / "t.tftest.hcl").write_text("test {\n  parallel = true\n}\n" + "".join(runs))
    assert _statuses() == {"one": "pass", "two": "pass"}


_CHAINED = """
variable "env" {
  default = "dev"
}
variable "secret" {
  default   = "hunter2"
  sensitive = true
}
locals {
  name = "${var.env}-app"
}
resource "terraform_data" "a" {
  count = 2
  input = "${local.name}-${count.index}"
}
output "one" {
  value = terraform_data.a[1].input
}
"""


@pytest.mark.parametrize("command", ["plan", "apply"])
@pytest.mark.parametrize(
    ("condition", "lines"),
    [
        (
            'output.one == "x"',
            [
                '<- output.one = "test-app-1"  (main.tf line 16)',
                '   <- terraform_data.a[1].input = "test-app-1"  (main.tf line 12)',
                '      <- local.name = "test-app"  (main.tf line 10)',
                '         <- var.env = "test"  (from the test; main.tf line 2)',
                "      <- count.index = 1  (main.tf line 14)",
            ],
        ),
        (
            "length(local.name) < 3",
            [
                "length(local.name) = 8",
                '<- local.name = "test-app"  (main.tf line 10)',
                '   <- var.env = "test"  (from the test; main.tf line 2)',
            ],
        ),
        (
            '[local.name] == ["x", 1] && var.extra == 1',
            [
                '[local.name] = ["test-app"]',
                '<- local.name = "test-app"  (main.tf line 10)',
                '   <- var.env = "test"  (from the test; main.tf line 2)',
                "<- var.extra = 5",
            ],
        ),
        (
            'var.secret == "x" || var.extra > 6',
            [
                "<- var.secret = (sensitive value)  (from its default; main.tf line 5)",
                "<- var.extra = 5",
            ],
        ),
    ],
)
def test_a_failed_assertion_says_where_its_values_come_from(
    module: Path, command: str, condition: str, lines: list[str]
) -> None:
    (module / "main.tf").write_text(_CHAINED)
    (module / "t.tftest.hcl").write_text(
        'variables {\n  env   = "test"\n  extra = 5\n}\n'
        + _run("r", f"command = {command}\n{_assert(condition)}")
    )
    events = [json.loads(line) for line in _test("-json").out.splitlines()]
    (told,) = [each["diagnostic"] for each in events if "diagnostic" in each]
    assert told["origins"] == lines
    done = _test()
    assert all(f"│   {line}" in done.err for line in lines)
    assert "hunter2" not in done.err + done.out


def test_the_module_of_a_run_is_its_root_module(module: Path) -> None:
    (module / "inner").mkdir()
    (module / "inner" / "main.tf").write_text(
        'output "paths" {\n  value = "${path.root} ${path.module}"\n}\n'
    )
    body = 'module {\n  source = "./inner"\n}\n'
    (module / "t.tftest.hcl").write_text(
        _run("other", body + _assert('output.paths == "inner inner" && path.root == "inner"'))
        + _run("own", _assert('path.root == "."'))
    )
    assert _statuses() == {"other": "pass", "own": "pass"}
