"""Plan presenter: shows progress, the plan and its result, as text or as events.

The layout of plans is left to `plan_text`, and that of events to `plan_events`.
"""

from __future__ import annotations

from collections import Counter

from nigari.addrs.absolute import resource_of
from nigari.apply.listener import ApplyListener
from nigari.cli.plan_flags import check_form
from nigari.cli.presenter import Presenter
from nigari.cli.views.apply_progress import Counts, Progress, TimedView, TimedViews, Untimed
from nigari.cli.views.plan_events import (
    output_events,
    plan_events,
    planned_changes,
    result_events,
    result_text,
)
from nigari.cli.views.plan_forms import asks_why, is_short, plan_form
from nigari.cli.views.plan_text import rule
from nigari.cli.views.presentation import Presentation
from nigari.cli.views.style import style_of
from nigari.diagnostics.layout import Layout, display_width
from nigari.lang.render import value_display
from nigari.markers import SAVED_PLAN
from nigari.plan.model.changes import Action, Plan
from nigari.plan.show.deferred_summary import waiting_line
from nigari.state.model import State
from nigari.workspace.plans.show_plan import ShownPlan
from nigari.workspace.session.made_plan import MadePlan

TYPE_CHECKING = False
# The reasons are only computed on request.
if TYPE_CHECKING:
    from nigari.cli.views.json_lines import JsonLines
    from nigari.diagnostics import JsonValue
    from nigari.plan.engine import PlanOutcome
    from nigari.workspace.plans.plan_reasons import PlanReasons

_REVEAL = "show-sensitive"


class PlanPresenter:
    """The output of a command that plans."""

    def __init__(self, presenter: Presenter) -> None:
        check_form(presenter.invocation)
        name = presenter.invocation.command.name
        self._is_quiet = name == "why" or (name == "plan" and is_short(presenter.invocation))
        self._presenter = presenter
        self._terminal = presenter.terminal
        self._style = style_of(self._terminal)
        self._is_end = name == "destroy"
        self.counts: Counts = Counts()
        self.progress: Progress | None = None
        views: list[TimedView] = [self.counts]
        if not presenter.is_for_programs and not self._is_quiet:
            self.progress = Progress(self._terminal)
            views.append(self.progress)
        if presenter.events is not None:
            from nigari.cli.views.progress_events import ProgressEvents

            views.append(ProgressEvents(presenter.events))
        invocation = presenter.invocation
        for view in views:
            # Some of the commands, such as import, cannot be asked to show secrets.
            view.reveals = invocation.is_given(_REVEAL) and invocation.switch(_REVEAL)
        self.view: TimedViews = TimedViews(views)

    def add(self, view: ApplyListener) -> None:
        """Add a listener."""
        self.view = TimedViews((self.view, Untimed((view,))))

    def close(self) -> None:
        """Remove the status line from the terminal."""
        if self.progress is not None:
            self.progress.close()

    def show(self, made: MadePlan, reveals: bool = False) -> None:
        """Show a plan."""
        presenter, plan = self._presenter, made.plan
        if not presenter.is_for_programs:
            self.close()
            presentation = Presentation(self._style, reveals=reveals)
            relevant = ShownPlan(made.outcome).relevant() if plan.drift else ()
            form = plan_form(
                plan, presenter.invocation, presentation, self._width, relevant, made.reasons
            )
            self._terminal.stdout.write(form)
        if made.outcome.unread_objects:
            self._say_unread(made.outcome)
        if presenter.events is not None:
            plan_events(plan, presenter.events)
            if asks_why(presenter.invocation):
                self._tell_reasons(made.reasons(), presenter.events)

    def _say_unread(self, outcome: PlanOutcome) -> None:
        """Mention the objects for which the plan trusts the state: how many there are of each resource,
        for programs.
        """
        unread, reads = outcome.unread_objects, outcome.reads
        number = len(unread)
        objects = "1 object was" if number == 1 else f"{number} objects were"
        why = "nothing would change there"
        if reads is not None and reads.age:
            why += f" and {'it was' if number == 1 else 'they were'} read not long ago"
        text = f"{objects} not read, because {why}."
        resources = Counter(str(resource_of(each)) for each in unread)
        members: dict[str, JsonValue] = {
            "type": "unread_objects",
            "unread_objects": number,
            "resources": dict(sorted(resources.items())),
        }
        self._presenter.say(f"\n{text}", text.removesuffix("."), members)

    def _tell_reasons(self, reasons: PlanReasons, lines: JsonLines) -> None:
        from nigari.cli.views.plan_reasons import ReasonsJson

        session = self._presenter.session
        shown = ReasonsJson(session.sources, session.context_of)
        for each in reasons.changes():
            members = {"type": "change_reasons", "reasons": shown.change(each)}
            lines.event(f"{each.address}: Reasons for the change", members)

    def round(self, number: int) -> None:
        """Say that another round begins."""
        if number > 1:
            self._presenter.text(f"\n{self._style.bold(f'Round {number}')}\n")
        if self._presenter.events is not None:
            self._presenter.events.event(f"Round {number}", {"type": "round", "round": number})

    def applying(self, plan: Plan, is_saved: bool) -> None:
        """Say what there is to do, and how much."""
        if is_saved and self._presenter.events is not None:
            planned_changes(plan, self._presenter.events)
        if self.progress is not None:
            done_twice = sum(change.action.is_replace for change in plan.changes)
            once = sum(change.action is not Action.NO_OP for change in plan.changes)
            self.progress.total = once + done_twice

    def next_step(self, path: str) -> None:
        """Say how a plan can be carried out, unless a program will see to that."""
        is_automated = bool(self._terminal.environ.get("TF_IN_AUTOMATION"))
        if is_automated or self._is_quiet or self._presenter.is_for_programs:
            return
        self._terminal.stdout.write(rule(self._width, self._style))
        if path:
            # The line is an interface: programs expect that it breaks before a long path, only there.
            line = SAVED_PLAN.format(path=path)
            if display_width(line) > self._width:
                line = SAVED_PLAN.replace(" {path}", "\n{path}").format(path=path)
            self._presenter.text(f"\n{line}")
            text = f'To apply it, run: nigari apply "{path}"'
        else:
            text = (
                "The plan was not saved, so apply will make a new one, which may differ from "
                "this. To apply exactly this plan, save it first with -out=FILE."
            )
        self._presenter.text(f"\n{self._presenter.prose(text)}")

    def result(self, plan: Plan, result: State) -> None:
        """Tell what has come of a plan."""
        presenter, style = self._presenter, self._style
        self.close()
        if presenter.events is not None:
            result_events(self._is_end, self.counts, result, presenter.events)
        text = result_text(self._is_end, self.counts)
        presenter.text(f"\n{style.bold(style.green(text))}")
        if plan.left:
            self._left(plan)
        if not self._is_end:
            self.outputs(result)

    def _left(self, plan: Plan) -> None:
        """Say what has not been done yet."""
        say = self._presenter.text
        say(f"\n{self._style.bold('Left for later rounds:')}\n")
        for each in plan.left:
            say(f"  {waiting_line(each)}")
        say("\n" + self._presenter.prose("To continue, run: nigari apply -allow-deferral"))

    def refreshed(self, result: State) -> None:
        """Tell the output values after the state was brought up to date."""
        self.close()
        if self._presenter.events is not None:
            output_events(result, self._presenter.events)
        self.outputs(result)

    def outputs(self, result: State) -> None:
        """Show the output values."""
        if not result.outputs:
            return
        style, say = self._style, self._presenter.text
        say(f"\n{style.bold(style.green('Outputs:'))}\n")
        for name, output in sorted(result.outputs.items()):
            text = "<sensitive>" if output.sensitive else value_display(output.value)
            say(f"{name} = {text}")

    @property
    def _width(self) -> int:
        layout = Layout.for_stream(self._terminal.stdout, self._terminal.environ)
        return layout.width - 1
