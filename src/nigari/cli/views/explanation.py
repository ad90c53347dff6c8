"""An explanation on the screen, as a tree, and as JSON."""

from __future__ import annotations

from nigari.diagnostics import Range
from nigari.diagnostics.render import ContextOf, place_to_json
from nigari.diagnostics.snippet import Sources, cut_snippet
from nigari.lang.render import value_display
from nigari.workspace.configuration.explain import Explanation

_WORDS = {
    "static": "known before anything runs",
    "missing": "not known: a variable that it depends on has no value",
    "plan": "known when planning",
    "apply": "known after applying",
    "error": "not available: it has an error",
}


_UNKNOWN = {
    "missing": "(no value)",
    "plan": "(known when planning)",
    "apply": "(known after apply)",
    "error": "(error)",
}


def explanation_text(explanation: Explanation, sources: Sources) -> str:
    """The value, when it is known, and the tree of what it comes from."""
    lines = [f"{explanation.name} = {value_text(explanation)}"]
    lines.append(f"  {_WORDS[explanation.phase]}")
    lines += [f"  {chain}" for chain in explanation.chains]
    if explanation.range is not None:
        lines.append(f"  {_place(explanation.range, sources)}")
    lines += _giver(explanation, "  ")
    if explanation.parts:
        lines += ["", "It comes from:"]
        for part in explanation.parts:
            lines += _tree(part, "  ", sources)
    return "\n".join(lines)


def _tree(part: Explanation, indent: str, sources: Sources) -> list[str]:
    value = value_text(part).replace("\n", f"\n{indent}")
    lines = [f"{indent}{part.name} = {value}"]
    if part.range is not None:
        lines.append(f"{indent}  {_place(part.range, sources)}")
    lines += _giver(part, f"{indent}  ")
    for inner in part.parts:
        lines += _tree(inner, f"{indent}  ", sources)
    if part.is_cut:
        lines.append(f"{indent}  …")
    return lines


_GIVERS = {"default": "its default", "argument": "the argument of the call"}


def _giver(explanation: Explanation, indent: str) -> list[str]:
    """Where the value of a variable comes from."""
    giver = explanation.giver
    if not giver:
        return []
    if giver == "none":
        return [f"{indent}no value is given"]
    return [f"{indent}the value comes from {_GIVERS.get(giver, giver)}"]


def value_text(explanation: Explanation) -> str:
    """The value, or in parentheses when there will be one."""
    if explanation.value.is_known:
        return value_display(explanation.value)
    return _UNKNOWN.get(explanation.phase, "(not known)")


def _place(range: Range, sources: Sources) -> str:
    """Where something is written, with its first line."""
    snippet = cut_snippet(range, None, sources)
    code = "" if snippet is None else f": {snippet.code.partition(chr(10))[0].strip()}"
    return f"{range.filename} line {range.start.line}{code}"


def explanation_json(
    explanation: Explanation, sources: Sources, context_of: ContextOf
) -> dict[str, object]:
    """The same for programs. Sensitive values and what is not known have no value there."""
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
