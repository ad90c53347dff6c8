"""Plans in short, filtered, and as Markdown for pull requests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nigari.cli.commands import apply, plan, show
from nigari.cli.views.plan_markdown import plan_markdown
from nigari.plan.model.changes import Plan
from tests.cli.in_process import planned, ran

MAIN = """
variable "n" {
  default = 3
}

variable "e" {
  default = "a"
}

module "m" {
  source   = "./m"
  for_each = toset(["x", "y"])
  n        = var.n
}

resource "terraform_data" "r" {
  triggers_replace = var.e
}

resource "terraform_data" "w" {
  count = var.n
  input = "w ${count.index} ${var.e}"
}

output "o" {
  value = var.e
}
"""
INNER = 'variable "n" {}\n\nresource "terraform_data" "in" {\n  count = var.n\n}\n'
LATER = ("-var=e=b", "-var=n=2")


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    (tmp_path / "nothing.tfrc").touch()
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "nothing.tfrc"))
    here = tmp_path / "here"
    (here / "m").mkdir(parents=True)
    (here / "main.tf").write_text(MAIN)
    (here / "m" / "main.tf").write_text(INNER)
    monkeypatch.chdir(here)
    return dict(os.environ)


def test_alike_changes_share_a_line(directory: dict[str, str]) -> None:
    ran(apply.COMMAND, ["-auto-approve"], directory)
    status, text = ran(plan.COMMAND, ["-summary", *LATER], directory)
    assert status == 0
    assert (
        text
        == """
-/+ terraform_data.r  because triggers_replace cannot be changed in place
  ~ terraform_data.w (2): [0], [1]
  - terraform_data.w[2]  because index [2] is out of range for count
  - module.m.terraform_data.in (2): ["x"][2], ["y"][2]  because index [2] is out of range for count

By type:   terraform_data 6
By module: root module 4, module.m["x"] 1, module.m["y"] 1

1 output value changes.

Plan: 1 to add, 2 to change, 4 to destroy.
"""
    )


@pytest.mark.parametrize(
    ("only", "shown"),
    [
        (["replace"], ["delete-create\tterraform_data.r"]),
        (["update"], ["update\tterraform_data.w[0]", "update\tterraform_data.w[1]"]),
        (['module.m["x"]'], ['delete\tmodule.m["x"].terraform_data.in[2]']),
        (["module.*"], [f'delete\tmodule.m["{key}"].terraform_data.in[2]' for key in "xy"]),
        (["terraform_data.w[2]"], ["delete\tterraform_data.w[2]"]),
        (
            ["replace,terraform_data.w[2]"],
            ["delete-create\tterraform_data.r", "delete\tterraform_data.w[2]"],
        ),
        (["create"], []),
    ],
)
def test_filters(directory: dict[str, str], only: list[str], shown: list[str]) -> None:
    ran(apply.COMMAND, ["-auto-approve"], directory)
    flags = [f"-only={each}" for each in only]
    status, text = ran(plan.COMMAND, ["-summary=addresses", *flags, *LATER], directory)
    assert (status, text.splitlines()) == (0, shown)


def test_a_filter_says_what_it_leaves_out(directory: dict[str, str]) -> None:
    ran(apply.COMMAND, ["-auto-approve"], directory)
    for flags in ([], ["-summary"]):
        _, text = ran(plan.COMMAND, [*flags, "-only=replace", *LATER], directory)
        assert "5 more changes are not shown, because of -only." in text
        assert "terraform_data.w" not in text.replace("Refreshing", "").split("\n\n", 1)[1]
        assert "Plan: 1 to add, 2 to change, 4 to destroy." in text


def test_markdown(directory: dict[str, str]) -> None:
    ran(apply.COMMAND, ["-auto-approve"], directory)
    ran(plan.COMMAND, ["-out=p", *LATER], directory)
    status, text = ran(show.COMMAND, ["-markdown", "p"], directory)
    assert status == 0
    assert text.startswith("**Plan: 1 to add, 2 to change, 4 to destroy.**\n\n> [!WARNING]\n")
    assert "> Objects will be lost: 3 destroyed, 1 replaced.\n" in text
    assert "| `-` | `module.m.terraform_data.in (2)` |" in text
    assert '!       triggers_replace = "a" -> "b" # forces replacement' in text
    assert text.count("<details>") == text.count("</details>") == 7
    ran(apply.COMMAND, ["-auto-approve", *LATER], directory)
    ran(plan.COMMAND, ["-out=q", *LATER], directory)
    assert ran(show.COMMAND, ["-markdown", "q"], directory)[1].startswith("**No changes.**")


def test_markdown_of_outputs_and_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main = (
        'variable "p" {\n  sensitive = true\n  default = "planted-old"\n}\n'
        'resource "terraform_data" "x" {\n  input = var.p\n}\n'
        'output "o" {\n  value = %s\n}\n'
    )
    (tmp_path / "main.tf").write_text(main % "1")
    ran(apply.COMMAND, ["-auto-approve"], {})
    (tmp_path / "main.tf").write_text(main % "2")
    ran(plan.COMMAND, ["-out=p"], {})
    _, text = ran(show.COMMAND, ["-markdown", "p"], {})
    assert "| address |" not in text
    assert "<details><summary>Changes to outputs</summary>" in text
    assert "!   o = 1 -> 2" in text
    # The provider gives the secret back as its output, which nothing calls sensitive.
    ran(plan.COMMAND, ["-out=p", "-var=p=planted-new"], {})
    _, text = ran(show.COMMAND, ["-markdown", "p"], {})
    assert 'output = "•••••••••••" -> (known after apply)' in text
    assert "planted" not in text


def test_long_markdown_is_bounded(directory: dict[str, str]) -> None:
    made, _, _ = planned(["-var=n=200"], directory)
    assert isinstance(made, Plan)
    text = plan_markdown(made, 20_000)
    assert len(text) <= 20_000
    assert text.count("<details>") == text.count("</details>")
    left_out = len(made.changes) - text.count("<details><summary>create: ")
    assert f"The details of {left_out} changes are left out: `" in text


def test_no_such_form(directory: dict[str, str]) -> None:
    from nigari.cli.args import UsageError

    with pytest.raises(UsageError, match="addresses"):
        ran(plan.COMMAND, ["-summary=long"], directory)
