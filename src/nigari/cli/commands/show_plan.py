"""`nigari show` of a saved plan."""

from __future__ import annotations

import asyncio

from nigari.cli.plan_flags import check_form
from nigari.cli.presenter import Presenter
from nigari.cli.views.plan_forms import asks_why, plan_form
from nigari.cli.views.presentation import Presentation
from nigari.cli.views.style import style_of
from nigari.diagnostics.layout import Layout
from nigari.workspace.plans.show_plan import ShownPlan
from nigari.workspace.session.made_plan import MadePlan, open_plan

TYPE_CHECKING = False
# The reasons are found only for -why.
if TYPE_CHECKING:
    from nigari.workspace.plans.plan_reasons import PlanReasons


async def show_plan(path: str, presenter: Presenter) -> bool:
    """Show the plan in a file; False after reporting why it cannot be shown."""
    check_form(presenter.invocation)
    # From here on there must be an event loop; who runs this makes one now.
    await asyncio.sleep(0)
    opened = await open_plan(presenter.session, path)
    if opened is None:
        return False
    plan = opened.plan
    try:
        shown = ShownPlan(opened.outcome)
        if presenter.invocation.switch("json") or presenter.invocation.text("json-into"):
            if not await _document(shown, opened, presenter):
                return False
            if presenter.invocation.switch("json"):
                return True
        terminal = presenter.terminal
        presentation = Presentation(
            style_of(terminal), reveals=presenter.invocation.switch("show-sensitive")
        )
        width = Layout.for_stream(terminal.stdout, terminal.environ).width - 1
        relevant = shown.relevant() if plan.drift else ()
        form = plan_form(plan, presenter.invocation, presentation, width, relevant, opened.reasons)
        terminal.stdout.write(form)
        return True
    finally:
        await opened.context.close()


async def _document(shown: ShownPlan, made: MadePlan, presenter: Presenter) -> bool:
    text = await shown.document(made.saved, presenter.diags)
    if text is None:
        return False
    if asks_why(presenter.invocation):
        text = _with_reasons(text, made.reasons(), presenter)
    presenter.into_file(lambda: text)
    if presenter.invocation.switch("json"):
        presenter.terminal.out(text)
    return True


def _with_reasons(text: str, reasons: PlanReasons, presenter: Presenter) -> str:
    """The document of a plan with the reasons of its changes, as one more member."""
    import json

    from nigari.cli.views.plan_reasons import ReasonsJson

    shown = ReasonsJson(presenter.session.sources, presenter.session.context_of)
    found = [shown.change(each) for each in reasons.changes()]
    return json.dumps({**json.loads(text), "reasons": found}, ensure_ascii=False)
