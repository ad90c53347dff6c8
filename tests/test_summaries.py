"""Summaries of diagnostics: they contain no names and values from the user's files.

A program that groups or filters diagnostics by summary, and a user who searches for one, relies on
it. The detail quotes names, and the range points at them.
"""

from __future__ import annotations

import ast
from typing import Final

from scripts.message_pages import reports, trees

# Expressions in summaries, by module, each of which is one of a few words of the program's own.
_FIXED_WORDS: Final = {
    "addrs/provider.py": {"what"},
    "backends/local.py": {"what"},
    "compat/pygohcl.py": {"block.type"},  # pygohcl's own wording
    "config/blocks/action_trigger.py": {"what"},
    "config/blocks/encryption.py": {"block.type"},
    "config/blocks/provisioner.py": {"attribute.name"},
    "config/blocks/resource.py": {"block.type"},
    "config/core/declared.py": {"block.type", "what"},
    "config/core/literals.py": {"what"},
    "config/merge.py": {"_NOUNS.get(block.type, block.type)", "block.type", "what"},
    "config/symbol_files.py": {"block.type", "what"},
    "config/test_mocks.py": {"block.type"},
    "eval/core/deprecation.py": {"mark.kind"},
    "eval/core/expansion.py": {"argument"},
    "eval/core/static_position.py": {"word.capitalize()"},
    "eval/core/symbol_library.py": {"what"},
    "eval/core/unresolved.py": {"what"},
    "eval/nodes/conditions.py": {"word", "'an' if word[0] == 'e' else 'a'"},
    "eval/nodes/resource.py": {"what"},
    "fleet/work/workers.py": {"task.kind.value.capitalize()"},
    "hcl/decode_language.py": {"argument"},
    "hcl/static.py": {"what.removeprefix('a ').capitalize()"},
    "hcl/json_parse.py": {"kind"},
    "lint/rule.py": {"self.summary", "self.rule"},
    "providers/base.py": {"kind"},
    "running/provider_node.py": {"what"},
    "running/unknown_values.py": {"argument"},
    # Names that a command was given, not a file.
    "backends/workspaces.py": {"name"},
    "cli/commands/output.py": {"name"},
    "workspace/setup/workspace_choice.py": {"selected"},
}


def test_summaries_quote_nothing_from_files() -> None:
    found: set[tuple[str, str]] = set()
    for module, tree in trees().items():
        for summary, _ in reports(tree):
            if isinstance(summary, ast.JoinedStr):
                parts = [each for each in summary.values if isinstance(each, ast.FormattedValue)]
                found.update((module, ast.unparse(each.value)) for each in parts)
    allowed = {(module, each) for module, words in _FIXED_WORDS.items() for each in words}
    assert not found - allowed, "put names into the detail, or list a fixed word here"


def test_summaries_are_phrases() -> None:
    ended = [
        f"{module}: {summary.value}"
        for module, tree in trees().items()
        for summary, _ in reports(tree)
        if isinstance(summary, ast.Constant)
        and isinstance(summary.value, str)
        and summary.value.endswith((".", "!", ":"))
    ]
    assert not ended
