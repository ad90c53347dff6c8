"""Differences between the programs that are meant, each with its reason.

The reasons are those of `docs/differences.md`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fuzz.story import destroy_reasons, forget_reasons, reasons, target_reasons
from fuzz.story.comparing import BEYOND
from fuzz.story.difference import Difference
from fuzz.story.judging import complaints, is_located, like, subjects
from fuzz.story.telling import Step


@dataclass(frozen=True)
class Explained:
    """A kind of difference: why it is there, and how it is told from others."""

    reason: str
    explains: Callable[[Step, list[str], Difference], bool]
    comes_with: str = ""
    """What another difference of the same command must be like, whose consequence it is."""
    about: str = ""
    """What the differences are like that must be about all the resources it is about."""
    may_replace: bool = False
    """Whether another error of ours may stand for one that is missing."""

    def holds(
        self, step: Step, command: list[str], given: Difference, found: list[Difference]
    ) -> bool:
        """Whether it is the reason of a difference among others."""
        if not is_located(given) or not self.explains(step, command, given):
            return False
        if not self.may_replace and like(given, "diagnostics: -") and complaints(given, "more"):
            return False
        if self.comes_with and not any(like(each, self.comes_with) for each in found):
            return False
        known = {
            name
            for each in found
            if self.about and like(each, self.about)
            for name in subjects(each)
        }
        return not self.about or subjects(given) <= known


def explanation(
    step: Step, command: list[str], difference: Difference, others: list[Difference]
) -> str:
    """Why a difference may be there; nothing if that is not known. Parts of it may be there for
    different reasons.
    """
    found = _reason(step, command, difference, others)
    parts = difference.parts() if not found else []
    if len(parts) > 1:
        reasons = dict.fromkeys(_reason(step, command, each, others) for each in parts)
        found = "; ".join(reasons) if all(reasons) else ""
    return found


def _reason(
    step: Step, command: list[str], difference: Difference, others: list[Difference]
) -> str:
    holding = (each for each in EXPLAINED if each.holds(step, command, difference, others))
    return next((each.reason for each in holding), "")


EXPLAINED: Final = (
    Explained("forgetting asks no provider", forget_reasons.forgets),
    Explained(
        "forgetting asks no provider",
        forget_reasons.does_not_read,
        "events: missing refresh|calls: missing fail",
    ),
    Explained("forgetting asks no provider", forget_reasons.forgets_what_is_gone),
    Explained("what was forgotten is counted", forget_reasons.counts_what_is_replaced),
    Explained("forgetting asks no provider", forget_reasons.takes_along_with_what_is_gone),
    Explained("forgetting asks no provider", forget_reasons.reports_what_is_gone),
    Explained("forgetting asks no provider", forget_reasons.forgets_what_cannot_be_read),
    Explained("what something needs is not forgotten", forget_reasons.keeps_what_is_needed),
    Explained("whatever a plan of a part shows is applied", forget_reasons.forgets_in_part),
    Explained(
        "whatever a plan of a part shows is applied",
        destroy_reasons.destroys_with_excluded,
        "events: more apply_start delete$",
    ),
    Explained(
        "what depended on an object is known also if that has moved",
        destroy_reasons.goes_by_where_things_are,
        "events: (missing|more) (planned_change|apply_start) delete$",
    ),
    Explained("what is to go is managed by the provider that made it", reasons.falls_back),
    Explained("a destroy looks at nothing that it need not", destroy_reasons.is_lenient_destroy),
    Explained(
        "a destroy looks at nothing that it need not",
        destroy_reasons.moves_in_cycle,
        may_replace=True,
    ),
    Explained("what could not be destroyed is as secret as before", destroy_reasons.keeps_secrets),
    Explained(
        "a destroy reads what it destroys and what providers need",
        destroy_reasons.reads_what_providers_need,
    ),
    Explained(
        "a destroy reads what it destroys and what providers need",
        destroy_reasons.looks_at_what_providers_need,
        "events: missing apply_start read$",
    ),
    Explained(
        "a destroy reads what it destroys and what providers need",
        destroy_reasons.reads_what_it_destroys,
    ),
    Explained(
        "a destroy reads what it destroys and what providers need",
        destroy_reasons.leaves_what_it_read,
    ),
    Explained("what is left keeps its data", destroy_reasons.keeps_data),
    Explained("a destroy tells no results of validations", destroy_reasons.leaves_validations_open),
    Explained(
        "a destroy reads what it destroys and what providers need",
        destroy_reasons.reads_all_it_destroys,
        "reads: missing .* / read more",
    ),
    Explained(
        "a destroy reads what it destroys and what providers need",
        destroy_reasons.notices_what_is_gone,
    ),
    Explained(
        "a destroy reads what it destroys and what providers need", destroy_reasons.fails_to_read
    ),
    Explained(
        "what one instance of a resource needs, all need", destroy_reasons.takes_all_instances
    ),
    Explained(
        "a destroy does not destroy what is gone",
        destroy_reasons.deletes_what_is_gone,
        "calls: missing delete / - more",
    ),
    Explained("state commands need no valid configuration", reasons.edits_with_mistakes),
    Explained("what depends on a mistake is looked at, too", reasons.goes_beyond),
    Explained("what depends on a mistake is looked at, too", reasons.depends_on_mistake),
    Explained(
        "what depends on a mistake is looked at, too",
        reasons.reads_beyond,
        re.escape(BEYOND),
        re.escape(BEYOND),
    ),
    Explained(
        "mistakes are reported of what cannot be read, too", reasons.finds_more_than_what_is_unread
    ),
    Explained("what is wrong besides imports is reported, too", reasons.finds_more_than_imports),
    Explained(
        "a destroy reports all that keeps it from going on",
        destroy_reasons.protects_what_is_not_read,
    ),
    Explained("a destroy does not destroy what is gone", destroy_reasons.protects_what_is_gone),
    Explained(
        "what has no instances has none in a destroy, too", destroy_reasons.knows_what_is_not_there
    ),
    Explained(
        "data waits for changes in its own instance of a module", reasons.opens_in_own_instance
    ),
    Explained(
        "data waits for changes in its own instance of a module",
        reasons.reads_in_own_instance,
        "events: missing planned_change read$",
    ),
    Explained(
        "data waits for changes in its own instance of a module",
        reasons.knows_in_own_instance,
        "events: missing planned_change read$",
    ),
    Explained(
        "data waits for changes in its own instance of a module",
        reasons.had_read_in_own_instance,
        "events: missing apply_start read$",
    ),
    Explained(
        "what fails in one instance of a module does not stop the others",
        reasons.goes_on_elsewhere,
        "events: more apply_start",
        "events: more apply_start",
    ),
    Explained(
        "what is excluded stays",
        target_reasons.leaves_excluded,
        "events: missing (planned_change|apply_start) delete",
    ),
    Explained(
        "whatever a plan of a part shows is applied",
        target_reasons.applies_what_excluded_needed,
        "events: missing planned_change delete$",
        "events: more apply_start",
    ),
    Explained(
        "what depended on an object ends before it changes, also if that has moved",
        reasons.waits_for_dependents,
        "events: missing apply_start (create|update|delete)$",
    ),
    Explained("what failed is forgotten in the end, too", reasons.keeps_marks_of_failed),
    Explained("what is left out keeps its provider", target_reasons.leaves_providers),
    Explained("what must not be destroyed can be refreshed", reasons.is_protection),
    Explained("each instance that must not be destroyed is named", reasons.protects_each),
    Explained(
        "the arguments of a call count for instances that are removed",
        reasons.knows_removed_instances,
    ),
    Explained("an apply opens what something in it uses", reasons.opens_what_is_used),
    Explained("an update keeps create_before_destroy that others need", reasons.inherits),
    Explained(
        "create_before_destroy counts for all that a resource depends on",
        reasons.inherits_from_first,
    ),
    Explained("what depends on an object says when that is made", reasons.outlives_what_went),
    Explained("nothing depends on what is destroyed meanwhile", reasons.depends_on_what_went),
    Explained("an object depends on what its module refers to", reasons.depends_on_own_module),
    Explained("an output that cannot be known is kept", reasons.keeps_outputs),
    Explained("what is no longer declared counts as the state has it", reasons.counts_as_stored),
    Explained("what is to go is managed by the provider that made it", reasons.keeps_providers),
    Explained("a condition without its object stays open", reasons.leaves_conditions_open),
    Explained("a failure that does not matter is a warning", reasons.may_fail),
    Explained("that a deposed object is still there is an event", reasons.reports_failed_end),
    Explained("triggers without instances mean nothing", reasons.triggers_nothing),
    Explained(
        "triggers without instances mean nothing",
        reasons.goes_on_without_triggers,
        "diagnostics: -error no change found for",
    ),
    Explained(
        "an ephemeral value is told where it is written",
        reasons.points_into_block,
        may_replace=True,
    ),
    Explained("OpenTofu cannot order these operations", reasons.is_circle),
    Explained("a mistake is reported once", reasons.is_told_once),
    Explained("try keeps the marks of what is not known yet", reasons.keeps_marks_in_try),
    Explained("try keeps the marks of what is not known yet", reasons.refuses_marks_in_try),
    Explained("an address to replace that nothing has is a warning", reasons.replaces_nothing),
    Explained("an address to replace names one resource", reasons.replaces_exactly),
    Explained(
        "objects in modules called by a module move with it",
        reasons.moves_below_call,
        r"events: missing (refresh_start|planned_change)|state: resources\.\*$",
    ),
    Explained(
        "whatever a plan with targets shows is applied",
        target_reasons.targets_instance,
        "(calls|reads): missing - / .* more",
        "events: more apply_start",
    ),
    Explained(
        "whatever a plan with targets shows is applied",
        target_reasons.targets_data_alone,
        "events: more apply_start",
        "events: more apply_start",
    ),
    Explained(
        "conditions of unused values are checked, and whatever a plan with targets shows is applied",
        target_reasons.leaves_checks_open,
    ),
    Explained("only what a plan of a part shows is applied", target_reasons.leaves_outputs),
    Explained(
        "a destroy of a part takes along nothing in other instances of a module",
        target_reasons.leaves_other_instances,
        "events: missing (planned_change|apply_start) delete$",
    ),
    Explained(
        "whatever a plan with targets shows is applied",
        target_reasons.shows_other_instances,
        "events: missing planned_change delete$",
    ),
    Explained(
        "whatever a plan with targets shows is applied",
        target_reasons.opens_for_others,
        "state: check_results|events: more apply_start",
    ),
    Explained(
        "whatever a plan with targets shows is applied",
        target_reasons.reports_targeted_outputs,
        r"state: outputs\.",
    ),
)
