"""Explanations as commands show them: as JSON for programs, and what stands below the text."""

from __future__ import annotations

from nigari.backends.harmless import without_credentials
from nigari.cty.values import Value
from nigari.diagnostics.render import ContextOf, place_to_json
from nigari.diagnostics.snippet import Sources
from nigari.workspace.context.shown_sources import ShownSources
from nigari.workspace.explain.explanation import Explanation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

USE_THE_STATE: Final = "To evaluate with the values of the state, use nigari console."


def explanation_json(
    explanation: Explanation, sources: Sources, context_of: ContextOf
) -> dict[str, object]:
    """The tree of an explanation. Sensitive values and what is not known have no value there."""
    return _tree(explanation, ShownSources(sources), context_of)


def _tree(explanation: Explanation, sources: Sources, context_of: ContextOf) -> dict[str, object]:
    result: dict[str, object] = {
        "name": explanation.name,
        "phase": explanation.phase,
        "type": explanation.value.type.friendly_name(),
        **value_members(explanation.value),
    }
    if explanation.kind:
        result["kind"] = explanation.kind
    if explanation.earlier is not None:
        result["earlier"] = value_members(explanation.earlier)
        result["is_changed"] = explanation.is_changed
    if explanation.fate:
        result["action"] = explanation.fate
    if explanation.least_rounds > 1:
        result["least_rounds"] = explanation.least_rounds
    if explanation.chains:
        result["chains"] = list(explanation.chains)
    if explanation.range is not None:
        # What is written there is left out where that could be a secret.
        shown = sources if explanation.line else {}
        result.update(place_to_json(explanation.range, shown, context_of))
    if explanation.giver:
        result["origin"] = explanation.giver
    if explanation.given_at is not None:
        result["given_at"] = place_to_json(explanation.given_at, {}, context_of)["range"]
    if explanation.is_cut:
        result["is_cut"] = True
    result["from"] = [_tree(part, sources, context_of) for part in explanation.parts]
    return result


def value_members(value: Value) -> dict[str, object]:
    """A value for programs, or the marks for which it is not shown; nothing for what is unknown."""
    import json

    from nigari.cty.json import value_to_json

    plain, marks = value.unmark_deep()
    if marks:
        return {"marks": sorted(str(getattr(mark, "value", mark)) for mark in marks)}
    if not plain.is_wholly_known:
        return {}
    return {"value": without_credentials(json.loads(value_to_json(plain, plain.type)))}
