"""An explanation as JSON, for programs."""

from __future__ import annotations

from nigari.diagnostics.render import ContextOf, place_to_json
from nigari.diagnostics.snippet import Sources
from nigari.workspace.configuration.explanation import Explanation


def explanation_json(
    explanation: Explanation, sources: Sources, context_of: ContextOf
) -> dict[str, object]:
    """The tree of an explanation. Sensitive values and what is not known have no value there."""
    import json

    from nigari.cty.json import value_to_json

    value, marks = explanation.value.unmark_deep()
    result: dict[str, object] = {
        "name": explanation.name,
        "phase": explanation.phase,
        "type": explanation.value.type.friendly_name(),
    }
    if marks:
        result["marks"] = sorted(str(getattr(mark, "value", mark)) for mark in marks)
    elif value.is_wholly_known:
        result["value"] = json.loads(value_to_json(value, value.type))
    if explanation.chains:
        result["chains"] = list(explanation.chains)
    if explanation.range is not None:
        result.update(place_to_json(explanation.range, sources, context_of))
    if explanation.giver:
        result["origin"] = explanation.giver
    if explanation.is_cut:
        result["is_cut"] = True
    result["from"] = [explanation_json(part, sources, context_of) for part in explanation.parts]
    return result
