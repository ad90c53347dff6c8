"""Explanations: a value, when it is known, and the tree of values that it comes from.

Which value an address means is found in `nigari.workspace.explain.explainer`.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.address import Address
from nigari.addrs.keys import InstanceKey, key_text
from nigari.addrs.module import ModuleCall, ModuleCallInstance, ModuleCallOutput
from nigari.addrs.resource import Resource, ResourceInstance
from nigari.addrs.values import CountAttr, EachAttr, InputVariable, LocalValue
from nigari.cty.types import KIND_SET
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.diagnostics.secret_urls import hidden_urls
from nigari.diagnostics.snippet import cut_snippet
from nigari.eval.core.causes import CauseKind, Phase, UnknownCause, causes_within
from nigari.eval.core.instances import FAILED, Frame, Origin, ResourceNode, ValueNode
from nigari.eval.core.keyed_references import indexed_references, referenced_value
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import attribute_names, nodes_of
from nigari.eval.core.value_dependencies import part_of, written_part
from nigari.hcl.scanner import is_identifier
from nigari.lang.marks import SENSITIVE
from nigari.lang.references import Reference
from nigari.lang.render import value_display
from nigari.lazy import lazy_pattern
from nigari.record import record, replace
from nigari.workspace.context.shown_sources import ShownSources
from nigari.workspace.explain.queries import ValueQueries, compiled_origin, reasons

_MOST_DEEP = 12
_MOST_CHAINS = 10
"""The most chains of one value: one that is made of many instances may have very many."""
_OF_CALLS = (ModuleCall, ModuleCallInstance, ModuleCallOutput)
_KEYS = ("count.index", "each.key")
"""Sources that identify an instance: another `count` or `for_each` has other instances, and this
one keeps its key.
"""
_WRITTEN_OUT = lazy_pattern(r"[\"0-9]|<<")
"""The characters of a literal value on a line."""


@record
class Explanation:
    """A value, when it is known, its source range, and its origin.

    Printed, it reads as `nigari explain` shows it.
    """

    name: str
    value: Value
    range: Range | None
    chains: tuple[str, ...]
    """For what is not static: the way to each cause."""
    parts: tuple[Explanation, ...]
    """The explanations of the value's parts."""
    is_cut: bool = False
    """True if the parts are omitted because they were shown before or are too deep."""
    is_repeated: bool = False
    """True if it was shown before in the same tree, with its parts."""
    giver: str = ""
    """The source of a variable's value; `none` if nothing gives it one."""
    line: str = ""
    """The first line of what is written there; none where that could be a secret."""
    kind: str = ""
    """The kind of origin: `variable`, `local`, `output`, `resource`, `data`, `ephemeral`, or
    `instance` for `each` and `count`; empty for an expression.
    """
    given_at: Range | None = None
    """The range of a variable's value: in a variables file, or in the call."""
    earlier: Value | None = None
    """The value after the last apply, if it is known."""
    least_rounds: int = 1
    """Rounds that `apply -allow-deferral` certainly takes from an empty state until the value is
    known, by references and provider schemas; 1 where a plain apply may do.
    """
    fate: str = ""
    """The planned action of its resource instance: `create`, `update`, `replace` and so on."""

    @property
    def is_changed(self) -> bool | None:
        """Return whether the value differs from that at the last apply; None if that is unknown."""
        if self.earlier is None:
            return None
        now, then = self.value.unmark_deep()[0], self.earlier.unmark_deep()[0]
        return not now.is_wholly_known or now != then

    def without_values(self) -> Explanation:
        """The same tree without values, for a value that must not be shown."""
        parts = tuple(each.without_values() for each in self.parts)
        return replace(self, value=self.value.mark(SENSITIVE), line="", parts=parts, earlier=None)

    def roots(self) -> tuple[Explanation, ...]:
        """Origins of the value: variables, resources and data sources. An expression without references has none."""
        found: dict[tuple[str, Range | None], Explanation] = {}
        pending = list(reversed(self.parts))
        while pending:
            part = pending.pop()
            if part.parts and part.name not in _KEYS:
                pending.extend(reversed(part.parts))
            elif not part.is_repeated:
                found.setdefault((part.name, part.range), part)
        return tuple(found.values())

    @property
    def is_of_nothing(self) -> bool:
        """Return whether the queried address or expression is itself the mistake."""
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
            return hidden_urls(value_display(self.value))
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
    "apply": "known after apply",
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
    if explanation.least_rounds > 1:
        rounds = f"at least {explanation.least_rounds} rounds of apply -allow-deferral"
        lines.append(f"  {rounds}, starting from an empty state")
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
    """The range of a value, and the source of a variable's."""
    lines: list[str] = []
    where, giver = explanation.range, explanation.giver
    if where is not None:
        code = f": {explanation.line}" if explanation.line else ""
        lines.append(f"{indent}{where.filename} line {where.start.line}{code}")
    if giver == "none":
        lines.append(f"{indent}no value is given")
    elif giver:
        at = explanation.given_at
        line = "" if at is None or giver in _GIVERS else f" line {at.start.line}"
        lines.append(f"{indent}the value comes from {_GIVERS.get(giver, giver)}{line}")
    return lines


class ExplanationBuilder:
    """The work of explaining one value: what has been shown is not shown again."""

    def __init__(
        self, evaluation: ValueQueries, follows_keys: bool = True, follows_resources: bool = False
    ) -> None:
        """`follows_keys` says whether `each.key` and `count.index` come from anything: from what
        decides which instances there are, and not for an instance that there is.
        `follows_resources` says whether an argument of a resource comes from what is written for
        it, or from the resource.
        """
        self._evaluation = evaluation
        self._follows_keys = follows_keys
        self._follows_resources = follows_resources
        self._shown: set[object] = set()
        self._sources = ShownSources(evaluation.sources)

    def expression(
        self,
        name: str,
        origin: Origin,
        where: Range | None,
        label: str = "",
        missing: UnknownCause | None = None,
        depth: int = 0,
        names: Sequence[str] = (),
    ) -> Explanation:
        """Explain an expression and its origins; `label` is its name in diagnostics, if that
        differs. With `names`, explain only the attribute at their end.
        """
        with self._evaluation.lock:
            value = part_of(self._evaluation.value(name, origin, missing), names)
            chains = tuple(_chains(name, value, origin, label))
            line = self._line(where, value)
            if depth >= _MOST_DEEP:
                return Explanation(name, value, where, chains, (), is_cut=True, line=line)
            parts = self._behind(origin, names, depth + 1)
            return Explanation(name, value, where, chains, parts, line=line)

    def references(
        self, frame: Frame, data: InstanceData, references: Sequence[Reference]
    ) -> tuple[Explanation, ...]:
        """Explain references, for an object that has more than one expression."""
        with self._evaluation.lock:
            found = [self._parts(each, frame, data, 1) for each in references]
            return tuple(part for parts in found for part in parts)

    def node(self, node: ValueNode) -> Explanation:
        """Explain a declared object and its origins."""
        with self._evaluation.lock:
            self._evaluation.evaluate([node])
            chains = tuple(_chains(node.label, node.value, node.origin()))
            return replace(self._declared(node, node.label, "", 0), chains=chains)

    def _behind(self, origin: Origin, names: Sequence[str], depth: int) -> tuple[Explanation, ...]:
        """Explain the origins of an expression, or of one of its attributes."""
        expr, rest = written_part(origin.compiled.expr, names)
        # Of what is only passed on, the same part is passed on.
        passed = rest if expr.static_traversal() is not None else ()
        found: list[Explanation] = []
        references = self._evaluation.decisive(origin, names)
        for reference in indexed_references(origin, references):
            found += self._parts(reference, origin.frame, origin.data, depth, passed)
        return tuple(found)

    def _declared(
        self, node: ValueNode, name: str, kind: str, depth: int, names: Sequence[str] = ()
    ) -> Explanation:
        evaluation, origin, value = self._evaluation, node.origin(), node.value
        key = (node, *names)
        is_cut, is_repeated = False, key in self._shown
        parts: tuple[Explanation, ...] = ()
        if is_repeated:
            is_cut = kind == "local"
        elif origin is not None:
            self._shown.add(key)
            explained = self.expression(node.label, origin, node.range, depth=depth, names=names)
            value = value if value is not FAILED else explained.value
            parts, is_cut = explained.parts, explained.is_cut
        value, earlier = part_of(value, names), evaluation.earlier(node)
        return Explanation(
            name=name,
            value=value,
            range=node.range,
            chains=(),
            parts=parts,
            is_cut=is_cut,
            is_repeated=is_repeated,
            giver=evaluation.giver(node),
            line=self._line(node.range, value),
            kind=kind,
            given_at=evaluation.given_at(node),
            earlier=None if earlier is None else part_of(earlier, names),
        )

    def _parts(
        self,
        reference: Reference,
        frame: Frame,
        data: InstanceData,
        depth: int,
        passed: Sequence[str] = (),
    ) -> list[Explanation]:
        """Explain the objects of a reference; `passed` leads to the relevant part."""
        subject = reference.subject
        if isinstance(subject, EachAttr | CountAttr):
            return [self._instance_value(subject, reference, frame, data, depth, passed)]
        nodes = nodes_of(frame, reference)
        if isinstance(subject, Resource | ResourceInstance):
            return [self._resource(node, reference, frame, depth) for node in nodes]
        kind = _kind(subject)
        if isinstance(subject, LocalValue) and subject.name in frame.locals:
            names = attribute_names(reference)
            node, used = frame.locals[subject.name].part(names)
            names = [*names[used:], *passed]
            return [self._declared(node, _named(node, names), kind, depth, names)]
        if len(nodes) == 1 and not isinstance(subject, ModuleCall | ModuleCallInstance):
            names = [*attribute_names(reference), *passed]
            return [self._declared(nodes[0], _named(nodes[0], names), kind, depth, names)]
        return [self._declared(node, node.label, kind, depth) for node in nodes]

    def _resource(
        self, node: ValueNode, reference: Reference, frame: Frame, depth: int
    ) -> Explanation:
        """A part of a resource, where its value is known, and the whole of it where it is not."""
        assert isinstance(node, ResourceNode)
        subject, evaluation = reference.subject, self._evaluation
        key = subject.key if isinstance(subject, ResourceInstance) else None
        kind, line = node.resource.addr.mode.value, self._line(node.range, node.value)
        value = referenced_value(node, node.value, reference)
        if value is None:
            return Explanation(node.label, node.value, node.range, (), (), line=line, kind=kind)
        whole = evaluation.earlier(node)
        parts: tuple[Explanation, ...] = ()
        if self._follows_resources and depth < _MOST_DEEP:
            parts = self._argument(node, key, reference, frame, depth)
        return Explanation(
            frame.label(str(reference)),
            value,
            node.range,
            (),
            parts,
            line=line,
            kind=kind,
            earlier=None if whole is None else referenced_value(node, whole, reference),
            fate=evaluation.fate(node, key),
        )

    def _argument(
        self, node: ResourceNode, key: InstanceKey, reference: Reference, frame: Frame, depth: int
    ) -> tuple[Explanation, ...]:
        """Explain the resource argument that a reference leads to."""
        names = attribute_names(reference)
        written = node.resource.body.just_attributes(Diagnostics())
        argument = written.get(names[0]) if names else None
        shown = (node, key, *names)
        if argument is None or shown in self._shown:
            return ()
        self._shown.add(shown)
        instances = self._evaluation.resource_instances(frame, node.resource).instances
        data = instances.get(key, NO_INSTANCE_DATA)
        return self._behind(compiled_origin(frame, argument.expr, data), names[1:], depth + 1)

    def _instance_value(
        self,
        subject: EachAttr | CountAttr,
        reference: Reference,
        frame: Frame,
        data: InstanceData,
        depth: int,
        passed: Sequence[str],
    ) -> Explanation:
        """Explain `each` or `count` in one instance, and the argument that it comes from."""
        values = {"key": data.each_key, "value": data.each_value, "index": data.count_index}
        found = values[subject.name]
        value = FAILED if found is None else found
        name, where, line = str(subject), reference.range, self._line(reference.range, value)
        is_key = subject.name != "value" or self._is_of_set(frame, data)
        if data.expr is None or (is_key and not self._follows_keys):
            return Explanation(name, value, where, (), (), line=line, kind="instance")
        argument = "count" if isinstance(subject, CountAttr) else "for_each"
        names: list[str] = []
        key = None if data.each_key is None else data.each_key.unmark_deep()[0].data
        if not is_key and isinstance(key, str):
            names = [key, *attribute_names(reference), *passed]
            argument += key_text(key)
        shown = (frame, data.expr, *names)
        seen = shown in self._shown
        self._shown.add(shown)
        parts: tuple[Explanation, ...] = ()
        if not seen:
            inner, at = compiled_origin(frame, data.expr), data.expr.range
            parts = (self.expression(argument, inner, at, depth=depth, names=names),)
        return Explanation(
            name, value, where, (), parts, is_cut=seen, is_repeated=seen, line=line, kind="instance"
        )

    def _is_of_set(self, frame: Frame, data: InstanceData) -> bool:
        """Return whether an instance comes from an element of a set, which is its own key."""
        if data.expr is None or data.each_key is None or data.each_key != data.each_value:
            return False
        value = self._evaluation.value("for_each", compiled_origin(frame, data.expr))
        return value.type.kind == KIND_SET

    def _line(self, where: Range | None, value: Value) -> str:
        snippet = None if where is None else cut_snippet(where, None, self._sources)
        line = "" if snippet is None else snippet.code.partition("\n")[0].strip()
        # A secret that is written out must not be shown either.
        is_secret = value.contains_marked and SENSITIVE in value.unmark_deep()[1]
        return "" if is_secret and _WRITTEN_OUT.search(line) else line


def _kind(subject: Address) -> str:
    if isinstance(subject, InputVariable):
        return "variable"
    if isinstance(subject, LocalValue):
        return "local"
    return "output" if isinstance(subject, _OF_CALLS) else ""


def _named(node: ValueNode, names: Sequence[str]) -> str:
    """Return a node's name, with the selected attribute."""
    if not names:
        return node.label
    name, of, module = node.label.partition(" of ")
    steps = "".join(f".{each}" if is_identifier(each) else f'["{each}"]' for each in names)
    return f"{name}{steps}{of}{module}"


def _chains(name: str, value: Value, origin: Origin | None, label: str = "") -> list[str]:
    """The ways to the causes of a value; what is wrong with it is reported elsewhere."""
    causes = causes_within(value)
    found = reasons(name, value, origin, label, _MOST_CHAINS)
    chains = [
        each
        for each, cause in zip(found, causes, strict=False)
        if cause.kind is not CauseKind.REPORTED
    ]
    if len(causes) > _MOST_CHAINS:
        chains.append(f"{name} ← {len(causes) - _MOST_CHAINS} more causes")
    return chains
