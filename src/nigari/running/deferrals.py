"""Deferrals: what is left for a later round because something it needs is known only after apply.

A deferral is made where the evaluator meets an unknown value that it must know: which instances a
block has, how a provider is configured, which object to import. Others see an unknown value in its
place that names the deferral as its cause, and whoever truly needs that value waits as well. What
becomes of the things that wait is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.config.core.declared import Repetition
from nigari.cty.function import MOST_SEARCHED
from nigari.cty.types import DYNAMIC, Type
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.causes import CauseKind, Phase, UnknownCause, causes_within
from nigari.eval.core.compile import Compiled, CompiledBody
from nigari.eval.core.expansion import Expansion
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import nodes_of
from nigari.hcl.expressions import Expression
from nigari.lang.references import Reference
from nigari.record import record
from nigari.running.unknown_values import is_reported


@record
class Written:
    """An expression or a body where it belongs."""

    frame: Frame
    compiled: Compiled | CompiledBody
    data: InstanceData = NO_INSTANCE_DATA

    @property
    def references(self) -> tuple[Reference, ...]:
        """Everything that it refers to."""
        return self.compiled.references

    def expressions(self) -> Iterator[Expression]:
        """The expression, or those of the arguments; what is in blocks is left out."""
        if isinstance(self.compiled, Compiled):
            yield self.compiled.expr
        else:
            for argument in self.compiled.body.just_attributes(Diagnostics()).values():
                yield argument.expr


def written(origin: Origin) -> Written:
    """An expression where it belongs."""
    return Written(origin.frame, origin.compiled, origin.data)


class DeferralReason(Enum):
    """Why something is left for a later round; the value is how programs are told."""

    INSTANCES = "instance_count_unknown"
    PROVIDER = "provider_config_unknown"
    CONFIG = "resource_config_unknown"
    ABSENT = "absent_prereq"
    DEFERRED = "deferred_prereq"


class DeferredKind(Enum):
    """What is left for a later round; the value is how it is called."""

    RESOURCE = "resource"
    MODULE = "module call"
    PROVIDER = "provider"
    IMPORT = "import"
    OUTPUT = "output"
    CHECK = "check"


@record
class Deferral:
    """Something that is left for a later round."""

    kind: DeferredKind
    name: str
    """Its address, in which `[*]` stands for instances that are not known."""
    reason: DeferralReason
    cause: UnknownCause
    """What values are unknown by that depend on it."""
    origins: tuple[Written, ...]
    """The expressions whose values it waits for."""
    before: tuple[Deferral, ...]
    """The deferrals that it waits for itself."""
    needs_values: bool
    """Whether it can only be planned once what it waits for has been applied."""
    depth: int
    """Length of the longest chain of deferrals that ends with this one."""
    settled: tuple[InstanceKey, ...] = ()
    """The instances that there are in any case, and which do not wait."""
    functions: tuple[str, ...] = ()
    """Calls of functions that have another result each time, where these are what is unknown."""

    def value(self, type_: Type = DYNAMIC) -> Value:
        """What others see in its place."""
        return unknown(type_).with_causes((self.cause,))


class Deferrals:
    """Everything that is left for later in one run.

    While a plan is applied, the same things are left for later as when it was made.
    """

    def __init__(self, planned: Mapping[str, Sequence[InstanceKey]] | None = None) -> None:
        self.found: dict[UnknownCause, Deferral] = {}
        self._planned = planned

    @property
    def is_open(self) -> bool:
        """Whether anything else may be left for later."""
        return self._planned is None

    def add(
        self,
        kind: DeferredKind,
        reason: DeferralReason,
        module: ModuleAddr,
        name: str,
        where: Range | None,
        origins: Sequence[Written] = (),
        before: Sequence[Deferral] = (),
        needs_values: bool = True,
        settled: Sequence[InstanceKey] = (),
        unknown_value: Value | None = None,
    ) -> Deferral:
        """Leave something for later; `name` is what it is called in its module.

        What `needs_values` can only be planned once what it waits for has been applied; anything
        else is planned together with it.
        """
        cause = UnknownCause(CauseKind.DEFERRED, module, name, where, Phase.APPLY)
        text = name if module.is_root else f"{module}.{name}"
        deferral = Deferral(
            kind,
            text,
            reason,
            cause,
            tuple(origins),
            tuple(before),
            needs_values,
            1 + max((each.depth for each in before), default=0),
            tuple(settled),
            () if unknown_value is None else _functions_of(unknown_value),
        )
        self.found[cause] = deferral
        return deferral

    def within(self, value: Value) -> list[Deferral]:
        """What a value waits for."""
        if value.is_wholly_known:
            return []
        return self.of_causes(causes_within(value))

    def beside(self, place: Written) -> list[Deferral]:
        """What the values wait for that a place refers to, where these are so many that a value made
        of them may not tell: it keeps a few causes only.
        """
        found: list[Deferral] = []
        for reference in place.references:
            for node in nodes_of(place.frame, reference):
                if _is_large(node.value):
                    found += self.within(node.value)
        return found

    def of_causes(self, causes: Sequence[UnknownCause]) -> list[Deferral]:
        """What values wait for that are unknown for these reasons."""
        return [self.found[each] for each in causes if each in self.found]

    def expanded(
        self,
        kind: DeferredKind,
        frame: Frame,
        name: str,
        repetition: Repetition,
        expansion: Expansion,
        where: Range | None,
    ) -> tuple[Deferral, Mapping[InstanceKey, InstanceData]] | None:
        """The deferral of a block whose instances are not known, with those that are; None where
        all of them are known, or nothing can be done about it.
        """
        module = frame.instance.addr
        text = name if repetition.has_one_value else f"{name}[*]"
        certain = self._certain(text if module.is_root else f"{module}.{text}", expansion)
        if certain is None:
            return None
        value = expansion.deferred_by
        expr = repetition.count or repetition.for_each or repetition.enabled
        origins: list[Written] = []
        if expr is not None:
            origins.append(Written(frame, frame.instance.compiled.expression(expr)))
        before = [] if value is None else self.within(value)
        deferral = self.add(
            kind,
            DeferralReason.INSTANCES,
            module,
            text,
            where,
            origins,
            before,
            settled=tuple(certain),
            unknown_value=value,
        )
        return deferral, certain

    def _certain(
        self, address: str, expansion: Expansion
    ) -> Mapping[InstanceKey, InstanceData] | None:
        """The instances of a block that are known while others are not; None where nothing is
        deferred. A plan that is applied has decided that already.
        """
        value = expansion.deferred_by
        if self._planned is None:
            return None if value is None or is_reported(value) else expansion.certain
        known = self._planned.get(address)
        if known is None:
            return None
        there = expansion.certain if value is not None else expansion.instances
        return {key: there[key] for key in known if key in there}


def _is_large(value: Value) -> bool:
    """Whether more parts of a value are unknown than anybody looks at for causes."""
    pending, count = [value], 0
    while pending and count <= MOST_SEARCHED:
        current = pending.pop()
        if not current.is_known:
            count += 1
        elif not current.is_wholly_known:
            pending.extend(current.elements())
    return count > MOST_SEARCHED


def _functions_of(value: Value) -> tuple[str, ...]:
    causes = causes_within(value)
    return tuple(each.name for each in causes if each.kind is CauseKind.IMPURE_FUNCTION)
