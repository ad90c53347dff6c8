"""Sessions in the working directory, with nothing in their environment: what they plan and apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, Unpack

import pytest

import nigari
from nigari.diagnostics import Diagnostic
from nigari.events import Event, Finished, Started
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.workspace.session.plan_result import made_plan

Variables = Mapping[str, object]


class Options(TypedDict, total=False):
    """What may be asked of a plan."""

    destroy: bool
    refresh_only: bool
    refresh: bool
    targets: Sequence[str]
    excludes: Sequence[str]
    replace: Sequence[str]


@dataclass(frozen=True, slots=True)
class Done:
    """A plan that has been carried out."""

    plan: nigari.Plan
    applied: nigari.Applied
    events: Sequence[Event]

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many objects were added, changed and destroyed."""
        summary = self.plan.summary
        return summary.add, summary.change, summary.destroy

    @property
    def warnings(self) -> list[str]:
        """The summaries of all that was found, while planning and while applying."""
        return [each.summary for each in (*self.plan.warnings, *self.applied.warnings)]

    def finished(self, action: str) -> list[str]:
        """The addresses of what an action has been completed for."""
        return [
            each.address
            for each in self.events
            if isinstance(each, Finished) and each.action == action
        ]


def session(variables: Variables | None = None) -> nigari.Session:
    """A session in the working directory."""
    return nigari.open(variables=variables, environ={})


def planned(
    variables: Variables | None = None, **options: Unpack[Options]
) -> tuple[nigari.Plan | None, Sequence[Diagnostic]]:
    """The plan and its warnings; where there is none, everything that was found."""
    try:
        plan = session(variables).plan(**options)
    except nigari.SessionError as error:
        return None, error.diagnostics
    return plan, plan.warnings


def plan(variables: Variables | None = None, **options: Unpack[Options]) -> nigari.Plan:
    """The plan, which there is."""
    return session(variables).plan(**options)


def graph_of(plan: nigari.Plan) -> ExecutionGraph:
    """What is done when a plan is applied, and in which order."""
    made = made_plan(plan)
    return made.outcome.graph


def applied(variables: Variables | None = None, **options: Unpack[Options]) -> Done:
    """Plan and apply, which both succeed."""
    used, events = session(variables), list[Event]()
    made = used.plan(**options, listen=events.append)
    return Done(made, used.apply(made, listen=events.append), events)


def saved(variables: Variables | None = None, **options: Unpack[Options]) -> Path:
    """The file of a plan."""
    path = Path("p")
    plan(variables, **options).save(path)
    return path


def apply_saved(variables: Variables | None = None, path: str = "p") -> nigari.Applied:
    """Apply the plan in a file, in a session of its own."""
    used = session(variables)
    return used.apply(used.read_plan(path))


def failed(variables: Variables | None = None, **options: Unpack[Options]) -> nigari.SessionError:
    """Why a plan cannot be made."""
    with pytest.raises(nigari.SessionError) as caught:
        session(variables).plan(**options)
    return caught.value


def apply_failed(
    variables: Variables | None = None, **options: Unpack[Options]
) -> nigari.SessionError:
    """Why a plan, which could be made, cannot be carried out."""
    used = session(variables)
    made = used.plan(**options)
    with pytest.raises(nigari.SessionError) as caught:
        used.apply(made)
    return caught.value


def words(error: nigari.SessionError) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).split())


def started(events: Sequence[Event], action: str) -> list[str]:
    """The addresses of what an action was begun for."""
    return [each.address for each in events if isinstance(each, Started) and each.action == action]
