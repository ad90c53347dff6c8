"""Checks that a path written in a configuration leads to something that a schema has.

A schema says more about blocks than the type of their values does: their parts have names only,
also where an object could be indexed, and which blocks of a list there are is not known. Below an
attribute its type decides. Deliberately unknown: what the path is for.
"""

from __future__ import annotations

from nigari import cty
from nigari.diagnostics import Diagnostics
from nigari.hcl.evaluation import Fault
from nigari.hcl.traversal import Step, Traversal, TraverseAttr, TraverseIndex
from nigari.schema.block import Block, NestedBlock, Nesting


def check_traversal(block: Block, traversal: Traversal, diags: Diagnostics) -> None:
    """Report the first step of a relative traversal that leads nowhere."""
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
    """What is wrong with a step from a block to a part of it."""
    if isinstance(step, TraverseAttr):
        if step.name in block.blocks:
            return None
        found = step.apply(cty.unknown(block.implied_type))
        return found if isinstance(found, Fault) else None
    return Fault("Invalid index", "The parts of a block have names: write a dot and the name here.")


def _element_fault(nested: NestedBlock, step: Step) -> Fault | None:
    """What is wrong with a step from all blocks of a type to one of them.

    Any key is taken for the position of a block in a list: one that is none finds no block.
    """
    if nested.nesting is Nesting.LIST and isinstance(step, TraverseIndex):
        return None
    whole = cty.ListType(cty.ObjectType({})) if nested.nesting is Nesting.LIST else nested.spec_type
    found = step.apply(cty.unknown(whole))
    return found if isinstance(found, Fault) else None
