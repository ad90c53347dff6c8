"""Summaries of diagnostics: they contain no names and values from the user's files.

A program that groups or filters diagnostics by summary, and a user who searches for one, relies on
it. The detail quotes names, and the range points at them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).resolve().parents[1] / "src" / "nigari"

# Expressions in summaries, by module, each of which is one of a few words of the program's own.
_FIXED_WORDS: Final = {
    "addrs/provider.py": {"what"},
    "backends/local.py": {"what"},
    "compat/pygohcl.py": {"block.type"},  # pygohcl's own wording
    "config/blocks/encryption.py": {"block.type"},
    "config/blocks/provisioner.py": {"attribute.name"},
    "config/blocks/resource.py": {"block.type"},
    "config/core/declared.py": {"block.type", "what"},
    "config/core/literals.py": {"what"},
    "config/merge.py": {"_NOUNS.get(block.type, block.type)", "block.type", "what"},
    "config/test_mocks.py": {"block.type"},
    "eval/core/deprecation.py": {"mark.kind"},
    "eval/core/expansion.py": {"argument"},
    "eval/core/static_position.py": {"word.capitalize()"},
    "eval/core/unresolved.py": {"what"},
    "eval/nodes/conditions.py": {"word", "'an' if word[0] == 'e' else 'a'"},
    "eval/nodes/resource.py": {"what"},
    "fleet/work/workers.py": {"task.kind.value.capitalize()"},
    "hcl/decode_language.py": {"argument"},
    "hcl/static.py": {"what.removeprefix('a ').capitalize()"},
    "lint/rule.py": {"self.summary", "self.rule"},
    "running/provider_node.py": {"what"},
    "running/unknown_values.py": {"argument"},
    # Names that a command was given, not a file.
    "backends/workspaces.py": {"name"},
    "cli/commands/output.py": {"name"},
    "workspace/setup/workspace_choice.py": {"selected"},
}


@cache
def _trees() -> Mapping[str, ast.AST]:
    paths = sorted(_SOURCE.rglob("*.py"))
    return {
        path.relative_to(_SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
    }


def _summaries(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        called = node.func.id if isinstance(node.func, ast.Name) else called
        if called in ("error", "warning"):
            yield from node.args[:1]
        elif called == "Diagnostic":
            yield from node.args[1:2]
            yield from (each.value for each in node.keywords if each.arg == "summary")


def test_summaries_quote_nothing_from_files() -> None:
    found: set[tuple[str, str]] = set()
    for module, tree in _trees().items():
        for summary in _summaries(tree):
            if isinstance(summary, ast.JoinedStr):
                parts = [each for each in summary.values if isinstance(each, ast.FormattedValue)]
                found.update((module, ast.unparse(each.value)) for each in parts)
    allowed = {(module, each) for module, words in _FIXED_WORDS.items() for each in words}
    assert not found - allowed, "put names into the detail, or list a fixed word here"


def test_summaries_are_phrases() -> None:
    ended = [
        f"{module}: {summary.value}"
        for module, tree in _trees().items()
        for summary in _summaries(tree)
        if isinstance(summary, ast.Constant)
        and isinstance(summary.value, str)
        and summary.value.endswith((".", "!", ":"))
    ]
    assert not ended
