"""Explanations: a value, when it is known, and the tree of values that it comes from.

Which value an address means is found in `nigari.workspace.configuration.explain`.
"""

from __future__ import annotations

from nigari.addrs.values import CountAttr, EachAttr, LocalValue
from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.diagnostics.snippet import cut_snippet
from nigari.eval.base.causes import CauseKind, Phase, UnknownCause, causes_within
from nigari.eval.base.instances import FAILED, Origin, ValueNode
from nigari.eval.base.scope import nodes_of
from nigari.lang.references import Reference
from nigari.lang.render import value_display
from nigari.record import record, replace
from nigari.workspace.configuration.asked import Evaluation, compiled_origin, reasons

_MOST_DEEP = 12


@record
class Explanation:
    """A value, when it is known, where it is written, and what it comes from.

    Printed, it reads as `nigari explain` shows it.
    """

    name: str
    value: Value
    range: Range | None
    chains: tuple[str, ...]
    """For what is not static: the way to each cause."""
    parts: tuple[Explanation, ...]
    """What the value is made of."""
    is_cut: bool = False
    """Whether the parts are left out, because they have been shown or are too deep."""
    giver: str = ""
    """Where the value of a variable comes from; `none` where nothing gives it one."""
    line: str = ""
    """The first line of what is written there."""

    @property
    def is_of_nothing(self) -> bool:
        """Whether what was asked for is itself the mistake."""
        return self.phase == "error" and self.range is None

    @property
    def phase(self) -> str:
        """When the value is known: `static`, `plan` or `apply`.

        `missing` means that a variable has no value, `error` that there is something wrong.
        """
        causes = causes_within(self.value)
        if not causes:
            return Phase.STATIC.value if self.value.is_wholly_known else Phase.PLAN.value
        kinds = {cause.kind for cause in causes}
        if CauseKind.REPORTED in kinds:
            return "error"
        if kinds & {CauseKind.MISSING_VARIABLE, CauseKind.MISSING_ARGUMENT}:
            return "missing"
        return max((cause.known_at for cause in causes), key=list(Phase).index).value

    @property
    def shown_value(self) -> str:
        """The value, or in parentheses when there will be one."""
        if self.value.is_known:
            return value_display(self.value)
        return _UNKNOWN.get(self.phase, "(not known)")

    def __str__(self) -> str:
        return explanation_text(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def __repr__(self) -> str:
        return f"<explanation of {self.name} = {self.shown_value}>"


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
_GIVERS = {"default": "its default", "argument": "the argument of the call"}


def explanation_text(explanation: Explanation) -> str:
    """The value, when it is known, and the tree of what it comes from."""
    lines = [f"{explanation.name} = {explanation.shown_value}"]
    lines.append(f"  {_WORDS[explanation.phase]}")
    lines += [f"  {chain}" for chain in explanation.chains]
    lines += _whence(explanation, "  ")
    if explanation.parts:
        lines += ["", "It comes from:"]
        for part in explanation.parts:
            lines += _tree(part, "  ")
    return "\n".join(lines)


def _tree(part: Explanation, indent: str) -> list[str]:
    value = part.shown_value.replace("\n", f"\n{indent}")
    lines = [f"{indent}{part.name} = {value}", *_whence(part, f"{indent}  ")]
    for inner in part.parts:
        lines += _tree(inner, f"{indent}  ")
    if part.is_cut:
        lines.append(f"{indent}  …")
    return lines


def _whence(explanation: Explanation, indent: str) -> list[str]:
    """Where a value is written, and who gives it to a variable."""
    lines: list[str] = []
    where, giver = explanation.range, explanation.giver
    if where is not None:
        code = f": {explanation.line}" if explanation.line else ""
        lines.append(f"{indent}{where.filename} line {where.start.line}{code}")
    if giver == "none":
        lines.append(f"{indent}no value is given")
    elif giver:
        lines.append(f"{indent}the value comes from {_GIVERS.get(giver, giver)}")
    return lines


class Telling:
    """The work of explaining one value: what has been shown is not shown again."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._shown: set[object] = set()

    def expression(
        self,
        name: str,
        origin: Origin,
        where: Range | None,
        label: str = "",
        missing: UnknownCause | None = None,
        depth: int = 0,
    ) -> Explanation:
        """What an expression is, and what it comes from; `label` is what nodes call it, where
        that is not its name.
        """
        with self._evaluation.lock:
            value = self._evaluation.value(name, origin, missing)
            chains = tuple(_chains(name, value, origin, label))
            line = self._line(where)
            if depth >= _MOST_DEEP:
                return Explanation(name, value, where, chains, (), is_cut=True, line=line)
            parts: list[Explanation] = []
            for reference in origin.compiled.references:
                parts.extend(self._parts(reference, origin, depth + 1))
            return Explanation(name, value, where, chains, tuple(parts), line=line)

    def node(self, node: ValueNode) -> Explanation:
        """What something that is declared is, and what it comes from."""
        with self._evaluation.lock:
            self._evaluation.evaluate([node])
            chains = tuple(_chains(node.label, node.value, node.origin()))
            return replace(self._declared(node, 0), chains=chains)

    def _declared(self, node: ValueNode, depth: int) -> Explanation:
        origin, where = node.origin(), node.range
        giver, line = self._evaluation.giver(node), self._line(node.range)
        value, is_cut = node.value, False
        parts: tuple[Explanation, ...] = ()
        if origin is not None:
            self._shown.add(node)
            told = self.expression(node.label, origin, where, depth=depth)
            value = value if value is not FAILED else told.value
            parts, is_cut = told.parts, told.is_cut
        return Explanation(node.label, value, where, (), parts, is_cut, giver, line)

    def _parts(self, reference: Reference, origin: Origin, depth: int) -> list[Explanation]:
        subject = reference.subject
        if isinstance(subject, EachAttr | CountAttr):
            return [self._instance_value(subject, reference, origin, depth)]
        found: list[Explanation] = []
        for node in nodes_of(origin.frame, reference):
            if node not in self._shown:
                found.append(self._declared(node, depth))
                continue
            cut = isinstance(subject, LocalValue)
            giver, line = self._evaluation.giver(node), self._line(node.range)
            found.append(Explanation(node.label, node.value, node.range, (), (), cut, giver, line))
        return found

    def _instance_value(
        self, subject: EachAttr | CountAttr, reference: Reference, origin: Origin, depth: int
    ) -> Explanation:
        """What `each` or `count` is in one instance, and the argument that it comes from."""
        data = origin.data
        values = {"key": data.each_key, "value": data.each_value, "index": data.count_index}
        found = values[subject.name]
        value = FAILED if found is None else found
        name, where, line = str(subject), reference.range, self._line(reference.range)
        if data.expr is None:
            return Explanation(name, value, where, (), (), line=line)
        argument = "count" if isinstance(subject, CountAttr) else "for_each"
        seen = (origin.frame, data.expr) in self._shown
        self._shown.add((origin.frame, data.expr))
        parts: tuple[Explanation, ...] = ()
        if not seen:
            inner = compiled_origin(origin.frame, data.expr)
            parts = (self.expression(argument, inner, data.expr.range, depth=depth),)
        return Explanation(name, value, where, (), parts, is_cut=seen, line=line)

    def _line(self, where: Range | None) -> str:
        snippet = None if where is None else cut_snippet(where, None, self._evaluation.sources)
        return "" if snippet is None else snippet.code.partition("\n")[0].strip()


def _chains(name: str, value: Value, origin: Origin | None, label: str = "") -> list[str]:
    """The ways to the causes of a value; what is wrong with it is reported elsewhere."""
    causes = causes_within(value)
    found = reasons(name, value, origin, label)
    return [
        each
        for each, cause in zip(found, causes, strict=True)
        if cause.kind is not CauseKind.REPORTED
    ]
