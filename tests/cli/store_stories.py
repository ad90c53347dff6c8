"""Stories of `terraform_data` with a block `store`: configurations, what is planned, and what is stored.

Nigari follows them in `tests/cli`, and Terraform, which has the block too, beside it in `tests/real`.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD = """\
variable "given" {
  type      = string
  ephemeral = true
  default   = "one"
}
resource "terraform_data" "other" {
  input = "made"
}
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One apply of one object, `terraform_data.a`."""

    store: str | None
    """The arguments in its block `store`; None without that block."""
    actions: tuple[str, ...]
    output: object = None
    sensitive_output: object = None
    more: str = ""
    """Further arguments of the object."""

    @property
    def text(self) -> str:
        block = "" if self.store is None else f"  store {{\n{self.store}\n  }}\n"
        return f'{HEAD}resource "terraform_data" "a" {{\n{self.more}\n{block}}}\n'


NEW, SAME, CHANGED, REPLACED = ("create",), ("no-op",), ("update",), ("delete", "create")

STORIES: dict[str, list[Step]] = {
    "by comparison": [
        Step('input = "a"', NEW, "a"),
        Step('input = "a"', SAME, "a"),
        Step('input = "b"', CHANGED, "b"),
        Step("input = [1]", CHANGED, [1]),
        Step("input = null", CHANGED),
        Step("", SAME),
    ],
    "an ephemeral value": [
        Step("input = var.given", NEW, "one"),
        Step("input = var.given", SAME, "one"),
        Step('input = "${var.given}!"', CHANGED, "one!"),
    ],
    "by version": [
        Step('input = "a"\nversion = 1', NEW, "a"),
        Step('input = "b"\nversion = 1', SAME, "a"),
        Step('input = "b"\nversion = 2', CHANGED, "b"),
        Step('input = "b"\nversion = "2"', CHANGED, "b"),
        Step('input = "c"', CHANGED, "c"),
        Step("version = 3", CHANGED),
    ],
    "a version without a value": [
        Step("version = 1", NEW),
        Step("version = 2", CHANGED),
        Step('version = 3\ninput = "a"', CHANGED, "a"),
    ],
    "a sensitive value": [
        Step('input = "a"\nsensitive = true', NEW, None, "a"),
        Step('input = "a"\nsensitive = true', SAME, None, "a"),
        Step('input = "a"\nsensitive = false', CHANGED, "a"),
        Step('input = "b"\nsensitive = true', CHANGED, None, "b"),
        Step('input = "c"\nsensitive = true\nversion = 1', CHANGED, None, "c"),
        Step('input = "d"\nversion = 1', CHANGED, "c"),
    ],
    "replacement": [
        Step('input = "a"\nreplace = true', NEW, "a"),
        Step('input = "a"\nreplace = true', SAME, "a"),
        Step('input = "b"\nreplace = true', REPLACED, "b"),
        Step('input = "b"\nreplace = false', CHANGED, "b"),
        Step('input = "c"\nreplace = true\nversion = 1', REPLACED, "c"),
        Step('input = "d"\nreplace = true\nversion = 1', SAME, "c"),
    ],
    "replacement by triggers": [
        Step('input = "a"\nversion = 1', NEW, "a", more="triggers_replace = 1"),
        Step('input = "b"\nversion = 1', REPLACED, "b", more="triggers_replace = 2"),
    ],
    "unknown while planning": [
        Step("input = terraform_data.other.output", NEW, "made"),
        Step("input = terraform_data.other.output", SAME, "made"),
    ],
    "an unknown version": [
        Step('input = "a"\nversion = terraform_data.other.id != ""', NEW, "a"),
    ],
    "added and removed": [
        Step(None, NEW),
        Step('input = "a"', CHANGED, "a"),
        Step(None, CHANGED),
        Step(None, SAME),
    ],
    "beside input": [
        Step('input = "a"', NEW, "a", more='input = "x"'),
        Step('input = "b"', CHANGED, "b", more='input = "x"'),
        Step('input = "b"', CHANGED, "b", more='input = "y"'),
    ],
}
