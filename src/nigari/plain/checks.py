"""Checks for features that a target lacks and no rewriting can express."""

from __future__ import annotations

from nigari.config.core.literals import is_written_out
from nigari.hcl.body import Block
from nigari.hcl.native_body import NativeBody
from nigari.lang.references import function_calls
from nigari.plain.static_values import StaticValues
from nigari.providers.builtin.schema import STORE, TERRAFORM_DATA_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_BLOCKS: Final = {
    "check": "check",
    "import": "import",
    "moved": "moved",
    "removed": "removed",
    "ephemeral": "ephemeral",
    "action": "action",
    "action_trigger": "action",
    "encryption": "encryption",
    "symbols": "symbols",
}
"""Blocks that need a feature."""


def check_file(values: StaticValues, body: NativeBody) -> None:
    """Report blocks and functions that the target does not know."""
    target = values.target
    pending = [*body.blocks]
    while pending:
        block = pending.pop()
        _check_block(values, block)
        pending += block.blocks
        for attribute in block.attributes.values():
            for call in function_calls(attribute.expr):
                if not target.has_function(call.name):
                    values.refuse(
                        "Function that does not exist",
                        f"{target.title} has no function {call.name}. Use another expression.",
                        call,
                    )


def _check_block(values: StaticValues, block: Block) -> None:
    target = values.target
    feature = _BLOCKS.get(block.type)
    if feature is not None and not target.has(feature):
        values.refuse(
            "Block that does not exist",
            f"{target.title} has no {block.type} blocks.",
            block,
        )
    elif block.type == "resource" and block.labels[:1] == [TERRAFORM_DATA_NAME]:
        if not target.has("store"):
            for nested in block.blocks:
                if STORE in (nested.type, *nested.labels):
                    values.refuse(
                        "Block that does not exist",
                        f"In {target.title}, {TERRAFORM_DATA_NAME} has no {STORE} block. Store the value with a "
                        "resource type of a provider.",
                        nested,
                    )
    elif block.type == "symbols":
        for name in ("source", "version"):
            argument = block.attributes.get(name)
            if argument is not None and not is_written_out(argument.expr):
                values.refuse(
                    "Symbol library from an expression",
                    f"In {target.title}, the {name} of a symbols block must be literal. Write the "
                    "value itself.",
                    argument.expr,
                )
    elif block.type == "import" and "for_each" in block.attributes:
        if not target.has("import.for_each"):
            values.refuse(
                "Import with for_each",
                f"{target.title} has no for_each in import blocks. Write a block for each object.",
                block.attributes["for_each"].expr,
            )
