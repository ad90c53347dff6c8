"""Code lenses: references, and the commands that a declaration or a test file is for."""

from __future__ import annotations

import os
from collections.abc import Iterator

from nigari.addrs.keys import DEFERRED
from nigari.addrs.module import ModuleAddr
from nigari.language.document import Document, Kind
from nigari.language.occurrences import DECLARED, Occurrence
from nigari.lsp.editor import Editor, Params
from nigari.lsp.features.commands import EXPLAIN, PLAN, TEST, command
from nigari.lsp.uris import path_of, uri_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

_REFERENCES: Final = "references"
_PLAN: Final = "plan"
_EXPLAIN: Final = "explain"
_TEST: Final = "test"
LENSES: Final = (_REFERENCES, _PLAN, _EXPLAIN, _TEST)
"""Names that the setting `lenses` accepts; the default is all of them."""
_COUNTED: Final = frozenset(("variable", "local", "output", "module", "resource"))
_PLANNED: Final = frozenset(("resource", "module"))
_EXPLAINED: Final = frozenset(("variable", "local", "output"))
_MOST_INSTANCES: Final = 50
"""The most module instances whose resource one lens plans: a command line has its limits."""
_PREFIXES: Final[Mapping[str, str]] = {
    "variable": "var.",
    "local": "local.",
    "output": "output.",
    "module": "module.",
}


def code_lens(editor: Editor, params: Params) -> object:
    """Return the lenses of a document. Counting references is left to `codeLens/resolve`."""
    document = editor.document(params)
    wanted = editor.settings.get("lenses", LENSES)
    wanted = wanted if isinstance(wanted, list | tuple) else LENSES
    return [*_lenses(editor, document, frozenset(wanted))]


def _lenses(
    editor: Editor, document: Document, wanted: frozenset[object]
) -> Iterator[dict[str, object]]:
    lines = editor.lines(document)
    if document.kind is Kind.TESTS and _TEST in wanted:
        path = os.path.relpath(document.path, document.directory)
        run = command("Run these tests", TEST, document.directory, path)
        yield {"range": lines.range(0, 0), "command": run}
    names = editor.project.names_in(document.path)
    for each in () if names is None else names.occurrences:
        if each.role != DECLARED or each.kind not in _COUNTED:
            continue
        place = lines.range(each.start, each.end)
        if _REFERENCES in wanted:
            data = {"uri": uri_of(document.path), "offset": each.start}
            yield {"range": place, "data": data}
        if document.kind is not Kind.CONFIGURATION:
            continue
        if each.kind in _PLANNED and _PLAN in wanted:
            for run in _plans(editor, document, each):
                yield {"range": place, "command": run}
        if each.kind in _EXPLAINED and _EXPLAIN in wanted:
            for run in _why(editor, document, each):
                yield {"range": place, "command": run}


def resolve_lens(editor: Editor, params: Params) -> object:
    """Return a lens with the number of uses of its declaration."""
    if "data" not in params:
        return params
    path = path_of(str(params["data"]["uri"]))
    offset = int(params["data"]["offset"])
    occurrence = None if path is None else editor.project.occurrence_at(path, offset)
    names = None if path is None else editor.project.names_in(path)
    count = 0
    if occurrence is not None and names is not None:
        symbols = editor.project.symbols_of(names.directory, occurrence)
        count = sum(
            1 for each in editor.project.places(symbols) if each.occurrence.role != DECLARED
        )
    title = "1 reference" if count == 1 else f"{count} references"
    return {**params, "command": {"title": title, "command": ""}}


def _plans(editor: Editor, document: Document, declared: Occurrence) -> Iterator[dict[str, object]]:
    """Offer a plan of something alone, in each root module that it is part of."""
    for root, place, modules in _roots(editor, document):
        if len(modules) <= _MOST_INSTANCES:
            targets = [_address(each, declared) for each in modules]
            yield command(f"Plan this target{place}", PLAN, root, *targets)


def _why(editor: Editor, document: Document, declared: Occurrence) -> Iterator[dict[str, object]]:
    """Offer to explain a value, in each root module that it is part of."""
    for root, place, modules in _roots(editor, document):
        yield command(f"Explain{place}", EXPLAIN, root, _address(modules[0], declared))


def _roots(editor: Editor, document: Document) -> Iterator[tuple[str, str, list[ModuleAddr]]]:
    """Return the root modules that a module was evaluated in, how a title names them, and the
    instances there.
    """
    evaluations = editor.evaluations_of(document.directory)
    for evaluation in evaluations:
        place = f" in {os.path.basename(evaluation.root)}" if len(evaluations) > 1 else ""
        modules = [each.instance.addr for each in evaluation.modules[document.directory]]
        named = sorted((each for each in modules if not _is_deferred(each)), key=str)
        if named:
            yield evaluation.root, place, named


def _is_deferred(module: ModuleAddr | None) -> bool:
    """Return whether the key of a module instance is not known yet, so that no command can name it."""
    while module is not None:
        if module.key is DEFERRED:
            return True
        module = module.parent
    return False


def _address(module: ModuleAddr, declared: Occurrence) -> str:
    inner = f"{_PREFIXES.get(declared.kind, '')}{declared.name}"
    return inner if module.is_root else f"{module}.{inner}"
