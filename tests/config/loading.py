"""Loads modules that a test writes down, and tells what was wrong with them."""

from __future__ import annotations

from nigari.config.load import ModuleLoader
from nigari.config.module import Module
from nigari.diagnostics import Diagnostics
from nigari.lang.files import MemoryFiles

Reported = tuple[str, str, int, str]
"""Severity, file, line and summary."""


def told(diags: Diagnostics) -> list[Reported]:
    """What was reported, in reading order."""
    return [
        (
            each.severity.value,
            each.subject.filename if each.subject else "",
            each.subject.start.line if each.subject else 0,
            each.summary,
        )
        for each in diags.in_order()
    ]


def load(files: dict[str, str] | str) -> tuple[Module, Diagnostics]:
    """The module in some files; a text by itself is `main.tf`."""
    contents = {"main.tf": files} if isinstance(files, str) else files
    diags = Diagnostics()
    module = ModuleLoader(MemoryFiles({**contents})).load(".", diags)
    assert module is not None
    return module, diags


def load_valid(files: dict[str, str] | str) -> Module:
    """The module in some files about which there is nothing to say."""
    module, diags = load(files)
    assert told(diags) == []
    return module
