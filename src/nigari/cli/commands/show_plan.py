"""`nigari show` of a saved plan."""

from __future__ import annotations

import asyncio

from nigari.cli.presenter import Presenter
from nigari.cli.views.plan_forms import check_form, plan_form
from nigari.cli.views.presentation import Presentation
from nigari.cli.views.style import style_of
from nigari.diagnostics import Diagnostics, Severity
from nigari.diagnostics.layout import Layout
from nigari.events import SILENCE
from nigari.plan.model.plan_file import SavedPlan
from nigari.workspace.plans.saved_plan import reopened, restored
from nigari.workspace.plans.show_plan import ShownPlan


async def show_plan(path: str, presenter: Presenter) -> bool:
    """Show the plan in a file; False after reporting why it cannot be shown."""
    check_form(presenter.invocation)
    # From here on there must be an event loop; who runs this makes one now.
    await asyncio.sleep(0)
    saved = presenter.session.read_plan(path)
    found = None
    if saved is not None:
        # Whoever made the plan has been warned already.
        told = Diagnostics()
        taken = reopened(saved, presenter.session.where, told)
        if taken is not None:
            presenter.session.shown = taken.workspace
            found = await restored(taken, SILENCE, told)
        presenter.diags.extend(each for each in told if each.severity is Severity.ERROR)
    if saved is None or found is None:
        return False
    planning, plan = found
    try:
        shown = ShownPlan(planning, plan)
        if presenter.invocation.switch("json") or presenter.invocation.text("json-into"):
            if not await _document(shown, saved, presenter):
                return False
            if presenter.invocation.switch("json"):
                return True
        terminal = presenter.terminal
        presentation = Presentation(
            style_of(terminal), reveals=presenter.invocation.switch("show-sensitive")
        )
        width = Layout.for_stream(terminal.stdout, terminal.environ).width - 1
        relevant = shown.relevant() if plan.drift else ()
        form = plan_form(plan, presenter.invocation, presentation, width, relevant)
        terminal.stdout.write(form)
        return True
    finally:
        await planning.close()


async def _document(shown: ShownPlan, saved: SavedPlan, presenter: Presenter) -> bool:
    text = await shown.document(saved, presenter.diags)
    if text is None:
        return False
    presenter.into_file(lambda: text)
    if presenter.invocation.switch("json"):
        presenter.terminal.out(text)
    return True
