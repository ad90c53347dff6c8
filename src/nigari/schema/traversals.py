"""Validation of paths in a configuration against a schema.

A schema is stricter about blocks than their value types: parts of a block only have names, even if
the object could be indexed, and the number of blocks in a list is unknown. Below an attribute, its
type decides. Deliberately unknown here: the purpose of the path.
"""

from __future__ import annotations

from nigari import cty
from nigari.diagnostics import Diagnostics
from nigari.hcl.evaluation import Fault
from nigari.hcl.traversal import Step, Traversal, TraverseAttr, TraverseIndex
from nigari.schema.block import Block, NestedBlock, Nesting


def check_traversal(block: Block, traversal: Traversal, diags: Diagnostics) -> None:
    """Report the first step of a relative traversal that the schema does not allow."""
    steps = traversal.steps
    position = 0
    while position < len(steps):
        step = steps[position]
        name = step.name if isinstance(step, TraverseAttr) else ""
        if name in block.attributes:
            rest = Traversal(traversal.source, steps[position + 1 :])
            rest.apply_rel(cty.unknown(block.attributes[name].implied_type), diags)
            return
        fault = _fault(block, step)
        position += 1
        if fault is None:
            nested = block.blocks[name]
            block = nested.block
            if position < len(steps) and not _is_single(nested):
                step = steps[position]
                fault = _element_fault(nested, step)
                position += 1
        if fault is not None:
            diags.error(fault.summary, fault.detail, traversal.step_range(step), traversal.range)
            return


def _is_single(nested: NestedBlock) -> bool:
    return nested.nesting in (Nesting.SINGLE, Nesting.GROUP)


def _fault(block: Block, step: Step) -> Fault | None:
    """Check a step from a block to one of its parts."""
    if isinstance(step, TraverseAttr):
        if step.name in block.blocks:
            return None
        found = step.apply(cty.unknown(block.implied_type))
        return found if isinstance(found, Fault) else None
    return Fault("Invalid index", "The parts of a block have names: write a dot and the name here.")


def _element_fault(nested: NestedBlock, step: Step) -> Fault | None:
    """Check a step from all blocks of a type to one of them.

    As in OpenTofu, any key is accepted as the index of a block in a list; a wrong one matches no
    block.
    """
    if nested.nesting is Nesting.LIST and isinstance(step, TraverseIndex):
        return None
    whole = cty.ListType(cty.ObjectType({})) if nested.nesting is Nesting.LIST else nested.spec_type
    found = step.apply(cty.unknown(whole))
    return found if isinstance(found, Fault) else None
