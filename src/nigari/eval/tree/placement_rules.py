"""Rules about where in the tree of modules a declaration may be.

Rules about providers are in `provider_rules`.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.module import ModuleAddr
from nigari.config.blocks.output import Output
from nigari.config.module import Module
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import ModuleInstance


def place(node: ModuleInstance) -> str:
    """The name of a module in messages."""
    return "the root module" if node.parent is None else str(node.addr.unkeyed)


def each_instance(root: ModuleInstance) -> Iterator[ModuleInstance]:
    """The module instances of a tree, callers first."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        for instances in node.children.values():
            pending.extend(instances.values())


def each_module(root: ModuleInstance) -> Iterator[ModuleInstance]:
    """The modules of a tree, callers first; of the instances of one variant, only one."""
    seen: set[ModuleAddr] = set()
    for node in each_instance(root):
        if node.variant not in seen:
            seen.add(node.variant)
            yield node


def check_places(root: ModuleInstance, diags: Diagnostics) -> None:
    """Report what only the root module can have, in other modules, and the other way round."""
    for output in root.module.outputs.values():
        if output.ephemeral:
            _report_ephemeral_output(output, diags)
    for node in each_module(root):
        if node.parent is None:
            continue
        module = node.module
        if module.backend is not None:
            _report_backend(node, module, diags)


def _report_ephemeral_output(output: Output, diags: Diagnostics) -> None:
    diags.error(
        "Ephemeral output of the root module",
        f'Output "{output.name}" is ephemeral, but outputs of the root module are stored and '
        "shown. Only outputs of called modules can be ephemeral.",
        output.range,
    )


def _report_backend(node: ModuleInstance, module: Module, diags: Diagnostics) -> None:
    assert module.backend is not None
    diags.warning(
        "Backend in a called module",
        f"The root module decides where the state is stored, so this {module.backend.block.type} "
        f"block in {place(node)} has no effect.",
        module.backend.range,
    )
