"""Planned actions on the screen: around the change that triggers them, or on their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nigari.cli.views.difference_text import difference_text
from nigari.cli.views.presentation import Presentation
from nigari.plan.differences.datum import datum
from nigari.plan.differences.object_comparison import compare_block
from nigari.plan.model.invocations import Invocation
from nigari.schema.config_block import CONFIG


def triggered_text(invocations: Sequence[Invocation], presentation: Presentation) -> Iterator[str]:
    """Yield the actions that a change triggers, in the order in which they run."""
    for word, is_before in (("before", True), ("after", False)):
        found = [
            each
            for each in invocations
            if each.trigger is not None and each.trigger.event.is_before is is_before
        ]
        if found:
            heading = f"# Actions to be invoked {word} this change in order:"
            yield f"\n\n    {presentation.style.bold(heading)}"
            for each in found:
                yield f"\n{_block(each, presentation)}"


def invoked_text(invocations: Sequence[Invocation], presentation: Presentation) -> Iterator[str]:
    """Yield the actions that the user invokes."""
    if not invocations:
        return
    yield "\nThese actions will be invoked:\n"
    for each in invocations:
        caller = "" if each.caller is None else f" (called from {each.caller})"
        yield f"\n  {presentation.style.bold(f'# {each.address}')} will be invoked{caller}\n"
        yield f"{_block(each, presentation)}\n"


def _block(invocation: Invocation, presentation: Presentation) -> str:
    resource, config = invocation.address.item.resource, datum(invocation.config)
    plain = Presentation(
        presentation.style,
        has_marks=False,
        says_null=False,
        shows_same=True,
        reveals=presentation.reveals,
    )
    found = compare_block(config, config, invocation.schema.block.blocks[CONFIG].block)
    lines = f"{CONFIG} {difference_text(found, 0, plain)}".splitlines()
    inner = "\n".join(f"        {line}".rstrip() for line in lines)
    return (
        f'    # {invocation.address}\n    action "{resource.type}" "{resource.name}" {{\n{inner}\n'
        "    }"
    )


def describe(invocation: Invocation) -> str:
    """Name a running action, and why it runs."""
    if invocation.trigger is not None:
        return f"{invocation.address} (triggered by {invocation.caller})"
    caller = "" if invocation.caller is None else f", called from {invocation.caller}"
    return f"{invocation.address} (triggered by CLI{caller})"
