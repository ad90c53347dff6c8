"""What of a configuration tests have touched: one row for each kind, touched and not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.process import inside

_MODULE = """\
variable "env" {
  default = "dev"
  validation {
    condition     = length(var.env) < 6
    error_message = "Too long."
  }
}
variable "many" {
  default = false
}
locals {
  size  = var.env == "prod" ? "big" : "small"
  kinds = [for k in ["a", "b"] : k == "a" ? "first" : k == "c" ? "third" : "other"]
}
resource "terraform_data" "a" {
  input = var.many ? local.size : "one"
  lifecycle {
    precondition {
      condition     = var.env != "none"
      error_message = "None."
    }
    postcondition {
      condition     = self.input != "big"
      error_message = "Big."
    }
  }
}
resource "terraform_data" "optional" {
  count = var.many ? 2 : 0
}
module "inner" {
  source = "./inner"
  count  = var.many ? 1 : 0
  text   = var.env == "prod" ? "p" : "d"
}
output "a" {
  value = terraform_data.a.input
}
output "kinds" {
  value = local.kinds
}
check "size" {
  assert {
    condition     = local.size == "small"
    error_message = "Big."
  }
}
"""
_INNER = """\
variable "text" {}
resource "terraform_data" "it" {
  input = var.text
}
output "it" {
  value = var.text
}
"""
_SETUP = 'output "x" {\n  value = true ? 1 : 2\n}\n'


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("main.tf", _MODULE), ("inner/main.tf", _INNER), ("setup/main.tf", _SETUP)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def covered(*args: str) -> dict[str, str]:
    """What is missing of each thing, by its place and kind."""
    done = inside("test", "-coverage", "-json", *args, settings={"TF_IN_AUTOMATION": "1"})
    events = [json.loads(line) for line in done.out.splitlines()]
    (found,) = [each["test_coverage"] for each in events if each["type"] == "test_coverage"]
    return {
        f"{each['range']['filename']}:{each['range']['start']['line']} {each['kind']} {each['name']}": (
            each.get("missing", "")
        )
        for each in found["items"]
    }


_PLANNED = "no run has planned it"
_TAKEN = "no run has taken it"
_UNUSED = "no assertion and no other run uses it"
_HELD = "it has never failed"


def test_one_run_with_defaults(module: Path) -> None:
    (module / "t.tftest.hcl").write_text('run "r" {}\n')
    assert covered() == {
        "inner/main.tf:2 resource terraform_data.it": _PLANNED,
        "inner/main.tf:5 output output.it": _UNUSED,
        "main.tf:3 validation var.env": _HELD,
        'main.tf:12 branch "big"': _TAKEN,
        'main.tf:12 branch "small"': "",
        'main.tf:13 branch "first"': "",
        'main.tf:13 branch "third"': _TAKEN,
        'main.tf:13 branch "other"': "",
        "main.tf:15 resource terraform_data.a": "",
        "main.tf:16 branch local.size": _TAKEN,
        'main.tf:16 branch "one"': "",
        "main.tf:18 precondition terraform_data.a": _HELD,
        "main.tf:22 postcondition terraform_data.a": _HELD,
        "main.tf:28 resource terraform_data.optional": _PLANNED,
        "main.tf:29 branch 2": _TAKEN,
        "main.tf:29 branch 0": "",
        "main.tf:31 module module.inner": _PLANNED,
        "main.tf:33 branch 1": _TAKEN,
        "main.tf:33 branch 0": "",
        'main.tf:34 branch "p"': _TAKEN,
        'main.tf:34 branch "d"': _TAKEN,
        "main.tf:36 output output.a": _UNUSED,
        "main.tf:39 output output.kinds": _UNUSED,
        "main.tf:43 check check.size": _HELD,
    }


@pytest.mark.parametrize(
    ("run", "touches"),
    [
        ('variables {\n  env = "prod"\n}\nexpect_failures = [check.size]', ["12 branch", "check"]),
        ('variables {\n  env = "longlong"\n}\nexpect_failures = [var.env]', ["3 validation"]),
        ('variables {\n  env = "none"\n}\nexpect_failures = [terraform_data.a]', ["18 precond"]),
        (
            "variables {\n  many = true\n}",
            [
                "2 resource terraform_data.it",
                "5 output output.it",
                "16 branch",
                "28 resource",
                "29 branch 2",
                "31 module",
                "33 branch 1",
                "34 branch",
            ],
        ),
        (
            (
                'variables {\n  many = true\n  env = "prod"\n}\n'
                "expect_failures = [terraform_data.a, check.size]"
            ),
            ["22 postcondition", "34 branch"],
        ),
        (
            'assert {\n  condition = output.a == "one"\n  error_message = "x"\n}',
            ["output output.a"],
        ),
    ],
)
def test_what_more_runs_touch(module: Path, run: str, touches: list[str]) -> None:
    (module / "t.tftest.hcl").write_text('run "r" {}\n')
    before = covered()
    (module / "t.tftest.hcl").write_text(f'run "r" {{}}\nrun "s" {{\ncommand = plan\n{run}\n}}\n')
    after = covered()
    more = [name for name, missing in after.items() if not missing and before[name]]
    assert all(any(each in name for name in more) for each in touches), more


def test_outputs_that_another_run_uses_and_modules_of_runs(module: Path) -> None:
    (module / "t.tftest.hcl").write_text(
        'run "setup" {\n  module {\n    source = "./setup"\n  }\n}\n'
        'run "first" {}\nrun "second" {\n  variables {\n    env = substr(run.first.a, 0, 3)\n  }\n}\n'
    )
    found = covered()
    assert found["main.tf:36 output output.a"] == ""
    assert not any("setup" in name for name in found)


def test_in_words_and_as_markdown(module: Path) -> None:
    (module / "t.tftest.hcl").write_text(
        'run "r" {\n  assert {\n    condition = output.a == "x"\n    error_message = "No."\n  }\n}\n'
    )
    done = inside("test", "-coverage", "-markdown=report.md", settings={"TF_IN_AUTOMATION": "1"})
    assert done.code == 1
    assert "Coverage: 8 of 24 (33 %)\n  resources: 1 of 3\n" in done.out
    assert "  main.tf line 28: terraform_data.optional: no run has planned it\n" in done.out
    report = (module / "report.md").read_text()
    assert report.startswith("**Failure! 0 passed, 1 failed.**\n")
    assert "| ❌ | `t.tftest.hcl` | 0 of 1 passed |" in report
    assert "<summary><code>t.tftest.hcl: r</code></summary>" in report
    assert 'output.a is "one"' in report
    assert "| branches | 6 of 13 |" in report


def test_a_long_report_is_bounded(module: Path) -> None:
    failing = 'assert {\n  condition = output.a == "x"\n  error_message = "%s"\n}\n' % (
        "No. " * 500
    )
    runs = [f'run "r{each}" {{\n{failing}}}\n' for each in range(60)]
    (module / "t.tftest.hcl").write_text("".join(runs))
    inside("test", "-markdown=report.md", settings={"TF_IN_AUTOMATION": "1"})
    report = (module / "report.md").read_text()
    assert len(report) <= 65_536
    assert "more parts of this report are left out" in report
