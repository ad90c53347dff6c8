"""Rules about declarations: names, descriptions, files, and advice of module authors."""

from __future__ import annotations

import os
from collections.abc import Iterator

from nigari.diagnostics import Range
from nigari.hcl.body import Block
from nigari.lazy import lazy_pattern
from nigari.lint.model import LintedModule, LintedTree
from nigari.lint.rule import Hit, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_SNAKE_CASE = lazy_pattern(r"[a-z_][a-z0-9_]*")
_NAMED: Final = frozenset(
    ("variable", "output", "module", "resource", "data", "ephemeral", "action", "check")
)


def bad_names(tree: LintedTree) -> Iterator[Hit]:
    """Names that are not in snake case."""
    for module in tree.modules:
        for block in module.written.blocks:
            if block.type in _NAMED and block.labels:
                if _SNAKE_CASE.fullmatch(block.labels[-1]) is None:
                    yield _name(block.labels[-1], block.label_ranges[-1])
        for local in module.module.locals.values():
            if _SNAKE_CASE.fullmatch(local.name) is None:
                yield _name(local.name, local.attribute.name_range)


def _name(name: str, where: Range) -> Hit:
    return Hit(
        f"{name} is not in snake case: small letters, digits and underscores. Rename it with "
        "nigari rename, which keeps the objects.",
        where,
    )


def undocumented_variables(tree: LintedTree) -> Iterator[Hit]:
    for module in tree.modules:
        for variable in module.module.variables.values():
            if not variable.description.strip():
                yield Hit(
                    f"The variable {variable.name} has no description. Say what it is for, and in "
                    "which form it is expected.",
                    variable.range,
                )


def undocumented_outputs(tree: LintedTree) -> Iterator[Hit]:
    for module in tree.modules:
        for output in module.module.outputs.values():
            if not output.description.strip():
                yield Hit(f"The output {output.name} has no description.", output.range)


_HOMES: Final = {"variable": "variables.tf", "output": "outputs.tf"}


def misplaced_blocks(tree: LintedTree) -> Iterator[Hit]:
    """Modules that are not laid out as readers expect."""
    for module in tree.modules:
        for type_, home in _HOMES.items():
            blocks = [each for each in module.written.blocks if each.type == type_]
            outside = [each for each in blocks if not _is_at_home(each, home)]
            if outside:
                yield Hit(
                    f"{len(outside)} of {len(blocks)} {type_} blocks are not in {home}, where readers "
                    "of a module look for them.",
                    outside[0].def_range,
                )


def _is_at_home(block: Block, home: str) -> bool:
    name = os.path.basename(block.source.filename)
    stem = home.removesuffix(".tf")
    return name.startswith((f"{stem}.", f"{stem}_", f"{stem}-")) or name.endswith("override.tf")


# -- advice of module authors ---------------------------------------------------------------------


def deprecated_arguments(tree: LintedTree) -> Iterator[Hit]:
    """Arguments for variables that the author of a module advises against."""
    own = {each.path for each in tree.modules}
    for module in tree.all_modules:
        for calls in module.calls:
            call = calls[0]
            if call.instance.root.locate(call.caller.module.directory) not in own:
                continue
            for name, argument in call.arguments.items():
                variable = module.module.variables.get(name)
                if variable is not None and variable.deprecated:
                    yield Hit(
                        f"The variable {name} of the module is deprecated: {variable.deprecated}",
                        argument.name_range,
                    )


def deprecated_outputs(tree: LintedTree) -> Iterator[Hit]:
    """References to outputs that the author of a module advises against."""
    by_path = {each.path: each for each in tree.all_modules}
    own = {each.path for each in tree.modules}
    for module in tree.all_modules:
        deprecated = [each for each in module.module.outputs.values() if each.deprecated]
        for calls in module.calls if deprecated else ():
            call = calls[0]
            caller = by_path[call.instance.root.locate(call.caller.module.directory)]
            for output in deprecated if caller.path in own else ():
                address = f"module.{call.call.name}.{output.name}"
                for where in _references(caller, address):
                    yield Hit(
                        f"The output {output.name} of the module is deprecated: {output.deprecated}",
                        where,
                    )


def _references(module: LintedModule, address: str) -> Iterator[Range]:
    for written in module.written.used.get(address, ()):
        yield written.expr.range


DECLARATION_RULES: Final = (
    Rule("nigari:naming", ("style",), "Name that is not in snake case", bad_names),
    Rule(
        "nigari:documented-variable",
        ("style",),
        "Variable without a description",
        undocumented_variables,
    ),
    Rule(
        "nigari:documented-output", ("style",), "Output without a description", undocumented_outputs
    ),
    Rule(
        "nigari:module-structure",
        ("style",),
        "Blocks outside of their usual file",
        misplaced_blocks,
    ),
    Rule(
        "nigari:deprecated-argument",
        ("deprecated", "recommended"),
        "Deprecated argument",
        deprecated_arguments,
    ),
    Rule(
        "nigari:deprecated-output",
        ("deprecated", "recommended"),
        "Deprecated output",
        deprecated_outputs,
    ),
)
