"""Writes docs/reference/messages: every error and warning, with an anchor and its explanation.

    python -m scripts.message_pages

Summaries and details are read from the sources, so that none is missing. What depends on the configuration is
shown as `…`. The paragraphs above each table are written by hand.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from nigari.cli.views.help_links import HELP_PAGES
from scripts.cli_pages import cell

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = ROOT / "src" / "nigari"
PLACE: Final = ROOT / "docs" / "reference" / "messages"
_HEAD: Final = "| message | explanation |\n| --- | --- |\n"
_UNKNOWN: Final = "…"

PAGES: Final = {
    "syntax": ("hcl", "lang"),
    "configuration": ("addrs", "config"),
    "evaluation": ("eval", "running"),
    "packages": ("packages", "providers", "schema"),
    "states": ("backends", "state"),
    "planning": ("apply", "plan"),
    "commands": ("aio.py", "cli", "diagnostics", "plain", "workspace"),
    "tests-and-lint": ("lint", "testing"),
    "fleets": ("fleet",),
}
"""The packages whose messages are on each page."""
ELSEWHERE: Final = ("compat", "language")
"""Packages that speak of other libraries, or of edits, and have no messages for commands."""


_BUILDERS: Final = ("error", "warning", "Diagnostic")
"""Functions and classes that take a summary and mostly a detail."""
_OTHER_BUILDERS: Final = (
    *("Fault", "InvalidRequest", "ProviderDiagnostic", "ProviderError"),
    *("_error", "_refusal", "fail", "problem", "refuse", "report"),
)
"""Names that always have a detail where they mean a diagnostic."""


@cache
def trees() -> Mapping[str, ast.AST]:
    """The syntax tree of each module by its path."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
    }


@cache
def _reports_of(tree: ast.AST) -> list[tuple[ast.expr, ast.expr | None]]:
    return list(reports(tree))


def reports(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The summary of each diagnostic that a module builds, and its detail if it has one."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        called = node.func.id if isinstance(node.func, ast.Name) else called
        named = {each.arg: each.value for each in node.keywords}
        given = node.args[1:] if called == "Diagnostic" else node.args
        summary = given[0] if given else named.get("summary")
        detail = given[1] if len(given) > 1 else named.get("detail")
        is_report = called in _OTHER_BUILDERS and text_of(summary) and text_of(detail)
        if summary is not None and (called in _BUILDERS or is_report):
            yield summary, detail


@cache
def _constants() -> Mapping[str, list[ast.expr]]:
    """The values of names of modules, and what functions return, by their names."""
    found: dict[str, list[ast.expr]] = {}
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign | ast.Assign) and node.value is not None:
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                if isinstance(target, ast.Name) and target.id.isupper():
                    found.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.FunctionDef) and node.name.endswith("_summary"):
                returns = (each for each in ast.walk(node) if isinstance(each, ast.Return))
                values = [each.value for each in returns if each.value is not None]
                found.setdefault(node.name, []).extend(values)
    return found


def titles(summary: ast.expr) -> list[str]:
    """The summaries that an expression can give."""
    if isinstance(summary, ast.IfExp):
        return [*titles(summary.body), *titles(summary.orelse)]
    called = summary.func if isinstance(summary, ast.Call) else summary
    if isinstance(called, ast.Name):
        return [text_of(each) for each in _constants().get(called.id, ())]
    return [text_of(summary)]


def text_of(expr: ast.expr | None) -> str:
    """The text of a literal, with the parts that are computed left out; empty for anything else."""
    if isinstance(expr, ast.Constant) and isinstance(expr.value, str):
        return expr.value
    if isinstance(expr, ast.JoinedStr):
        parts = (each.value if isinstance(each, ast.Constant) else _UNKNOWN for each in expr.values)
        return "".join(str(part) for part in parts)
    return ""


def messages(packages: tuple[str, ...]) -> dict[str, list[str]]:
    """The explanations of each message of some packages, in the order of the messages."""
    found: dict[str, dict[str, None]] = {}
    for module, tree in trees().items():
        if module.partition("/")[0] in packages:
            for summary, detail in _reports_of(tree):
                said = " ".join(text_of(detail).split())
                for title in titles(summary):
                    if title[:1].isupper() or title.startswith(f"{_UNKNOWN} "):
                        explanations = found.setdefault(title, {})
                        if sum(map(str.isalpha, said)) > 12:
                            explanations[said] = None
    return {title: list(found[title]) for title in sorted(found, key=str.lower)}


def anchor(title: str) -> str:
    """The anchor of a message on its page."""
    words = "".join(char if char.isalnum() else " " for char in title.lower()).split()
    return "-".join(words)


def table(packages: tuple[str, ...]) -> str:
    """The table of a page."""
    rows = []
    for title, explanations in messages(packages).items():
        lines = [cell(each) for each in explanations]
        if title in HELP_PAGES:
            page, _, place = HELP_PAGES[title].partition("#")
            target = os.path.relpath(ROOT / "docs" / f"{page}.md", PLACE)
            lines.append(f"[What to do]({target}#{place})")
        rows.append(f'| <a id="{anchor(title)}"></a>{cell(title)} | {"<br>".join(lines)} |\n')
    return _HEAD + "".join(rows)


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    found = {}
    for name, packages in PAGES.items():
        path = PLACE / f"{name}.md"
        before = path.read_text(encoding="utf-8").partition(_HEAD)[0]
        found[path.name] = before + table(packages)
    return found


def main() -> None:
    """Write the tables."""
    for name, text in pages().items():
        (PLACE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
