"""Loads modules that a test writes down, and tells what was wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field

from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.config.load import ModuleLoader
from nigari.config.module import Module
from nigari.config.module_call import ModuleCall
from nigari.diagnostics import Diagnostics
from nigari.hcl.templates import StringLiteral
from nigari.lang.files import MemoryFiles

Told = tuple[str, str, int, str]
"""Severity, file, line and summary."""


def told(diags: Diagnostics) -> list[Told]:
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


@dataclass
class Node:
    """A module of a tree."""

    addr: ModuleAddr
    module: Module
    parent: Node | None = None
    call: ModuleCall | None = None
    children: dict[str, dict[InstanceKey, Node]] = field(default_factory=dict)


def load_tree(files: dict[str, str]) -> Node:
    """The tree that modules make which call each other by plain directory names."""
    diags = Diagnostics()
    loader = ModuleLoader(MemoryFiles({**files}))
    root = loader.load(".", diags)
    assert root is not None
    top = Node(ROOT_MODULE, root)
    pending = [top]
    while pending:
        node = pending.pop()
        for name, call in node.module.calls.items():
            assert isinstance(call.source, StringLiteral)
            module = loader.load(call.source.text, diags)
            assert module is not None
            child = Node(node.addr.child(name, None), module, node, call)
            node.children[name] = {None: child}
            pending.append(child)
    assert told(diags) == []
    return top
