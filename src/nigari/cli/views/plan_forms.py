"""The forms in which a plan is shown to people: in full, in short, as addresses or as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.cli.command import Invocation
from nigari.cli.state_flags import has_flag, optional_text
from nigari.cli.views.plan_text import plan_text
from nigari.cli.views.presentation import Presentation
from nigari.plan.model.changes import Plan
from nigari.plan.show.grouped_changes import filter_of

TYPE_CHECKING = False
# The reasons are found only for -why and -markdown.
if TYPE_CHECKING:
    from nigari.plan.show.relevant_attributes import RelevantAttribute
    from nigari.workspace.plans.plan_reasons import PlanReasons


def is_short(invocation: Invocation) -> bool:
    """Return whether a plan is shown in short form, without further text."""
    return optional_text(invocation, "summary") in ("true", "addresses")


def asks_why(invocation: Invocation) -> bool:
    """Return whether to show the reasons for changes."""
    return has_flag(invocation, "why") and invocation.switch("why")


def plan_form(
    plan: Plan,
    invocation: Invocation,
    presentation: Presentation,
    width: int,
    relevant: Sequence[RelevantAttribute],
    reasons: Callable[[], PlanReasons],
) -> str:
    """A plan in the form that the command line asks for."""
    if has_flag(invocation, "markdown") and invocation.switch("markdown"):
        from nigari.cli.views.plan_markdown import plan_markdown

        return plan_markdown(plan, reasons=reasons().change)
    form = optional_text(invocation, "summary")
    only = invocation.texts("only") if has_flag(invocation, "only") else []
    if asks_why(invocation):
        from nigari.cli.views.plan_reasons import reasons_text

        return reasons_text(plan, reasons(), filter_of(only) if only else None)
    if form in ("true", "addresses"):
        from nigari.cli.views.plan_summary import addresses_text, summary_text

        shows = filter_of(only)
        if form == "addresses":
            return addresses_text(plan, shows)
        return summary_text(plan, presentation.style, shows)
    return plan_text(plan, presentation, width, relevant, filter_of(only) if only else None)
