"""A fleet as data for the page: its units, what they need and why, and how their apply went."""

from __future__ import annotations

from nigari.fleet.runs.journal import unfinished
from nigari.fleet.units.documents import graph_document
from nigari.fleet.units.survey import Survey

Data = dict[str, object]


def fleet_data(survey: Survey) -> Data:
    """The units with their edges; where an apply has not come to its end, also how far it is."""
    found: Data = {**graph_document(survey, list(survey.units))}
    journal = unfinished(survey.root)
    if journal is not None:
        states = {name: journal.state(name) for name in survey.units}
        found["journal"] = {
            "states": {name: state for name, state in states.items() if state},
            "entries": [[each.time, each.event, each.unit] for each in journal.entries],
        }
    return found
