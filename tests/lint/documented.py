"""The examples of `docs/reference/lint.md`, and other configurations, as directories that are linted."""

import re
from dataclasses import dataclass
from pathlib import Path

from nigari.lint.linter import Linter, LintResult
from nigari.lint.rule_list import parse_rule_list
from nigari.workspace.context.working_directory import WorkingDirectory

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "lint.md"
_SECTION = re.compile(r"^### `([^`]+)`$", re.MULTILINE)
_EXAMPLE = re.compile(r"^(Bad|Good):\n\n```hcl\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^# FILE: (\S+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RuleExample:
    """An example of a rule."""

    rule: str
    is_good: bool
    text: str

    def __str__(self) -> str:
        return f"{self.rule}-{'good' if self.is_good else 'bad'}"


def examples() -> list[RuleExample]:
    """All examples of rules on the page."""
    found = []
    parts = _SECTION.split(PAGE.read_text())
    for rule, text in zip(parts[1::2], parts[2::2], strict=True):
        for kind, code in _EXAMPLE.findall(text):
            found.append(RuleExample(rule, kind == "Good", code))
    return found


def write_files(text: str, directory: Path) -> None:
    """Write a configuration whose files are separated by `# FILE: PATH`."""
    parts = _FILE.split(text)
    for name, content in [("main.tf", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def lint(directory: Path, *lists: str) -> LintResult:
    """What is found in a directory."""
    where = WorkingDirectory({}, root=str(directory))
    linter = Linter(where, parse_rule_list(lists))
    linter.add(where)
    return linter.run()


def found(text: str, directory: Path, *lists: str) -> list[str]:
    """The rules and lines of the findings in a configuration."""
    write_files(text, directory)
    result = lint(directory, *lists)
    assert not result.diags.has_errors, result.diags
    return [
        f"{each.rule} {each.range.filename}:{each.range.start.line}"
        for each in result.findings
        if each.range is not None
    ]
