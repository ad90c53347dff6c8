"""Deferrals: work for a later round, because a value that it requires is known after apply.

A deferral is created when the evaluator meets an unknown value that must be known: the instances of
a block, a provider configuration, the object to import. References to it evaluate to an unknown
value whose cause is the deferral, and work that requires that value is deferred as well.
Deliberately unknown here: the later rounds.
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
    """An expression or body, with the frame and instance data it is evaluated in."""

    frame: Frame
    compiled: Compiled | CompiledBody
    data: InstanceData = NO_INSTANCE_DATA

    @property
    def references(self) -> tuple[Reference, ...]:
        """All its references."""
        return self.compiled.references

    def expressions(self) -> Iterator[Expression]:
        """Yield the expression, or those of the arguments; nested blocks are excluded."""
        if isinstance(self.compiled, Compiled):
            yield self.compiled.expr
        else:
            for argument in self.compiled.body.just_attributes(Diagnostics()).values():
                yield argument.expr


def written(origin: Origin) -> Written:
    """Convert an origin to the expression with its frame."""
    return Written(origin.frame, origin.compiled, origin.data)


class DeferralReason(Enum):
    """Reason for a deferral; the value is its name for programs."""

    INSTANCES = "instance_count_unknown"
    PROVIDER = "provider_config_unknown"
    CONFIG = "resource_config_unknown"
    ABSENT = "absent_prereq"
    DEFERRED = "deferred_prereq"


class DeferredKind(Enum):
    """Kind of a deferred object; the value is its name in messages."""

    RESOURCE = "resource"
    MODULE = "module call"
    PROVIDER = "provider"
    IMPORT = "import"
    OUTPUT = "output"
    CHECK = "check"


@record
class Deferral:
    """A deferred object."""

    kind: DeferredKind
    name: str
    """Its address, in which `[*]` stands for unknown instances."""
    reason: DeferralReason
    cause: UnknownCause
    """Cause of all unknown values that depend on it."""
    origins: tuple[Written, ...]
    """The expressions with the missing values."""
    before: tuple[Deferral, ...]
    """The deferrals that it depends on."""
    needs_values: bool
    """True if it can only be planned after its dependencies have been applied."""
    depth: int
    """Length of the longest chain of deferrals that ends with this one."""
    settled: tuple[InstanceKey, ...] = ()
    """Instances that certainly exist, and are not deferred."""
    functions: tuple[str, ...] = ()
    """Calls of impure functions that made the value unknown."""

    def value(self, type_: Type = DYNAMIC) -> Value:
        """Return the unknown value that represents it in expressions."""
        return unknown(type_).with_causes((self.cause,))


class Deferrals:
    """All deferrals of one run.

    While a plan is applied, they are the same as in the plan.
    """

    def __init__(self, planned: Mapping[str, Sequence[InstanceKey]] | None = None) -> None:
        self.found: dict[UnknownCause, Deferral] = {}
        self._planned = planned

    @property
    def is_open(self) -> bool:
        """True if further deferrals may be added."""
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
        """Defer an object; `name` is its name in its module.

        With `needs_values` it can only be planned after its dependencies have been applied;
        otherwise it is planned together with them.
        """
        cause = UnknownCause(CauseKind.DEFERRED, module, name, where, Phase.APPLY)
        text = name if module.is_root else f"{module}.{name}"
        deferral = Deferral(
            kind=kind,
            name=text,
            reason=reason,
            cause=cause,
            origins=tuple(origins),
            before=tuple(before),
            needs_values=needs_values,
            depth=1 + max((each.depth for each in before), default=0),
            settled=tuple(settled),
            functions=() if unknown_value is None else _functions_of(unknown_value),
        )
        self.found[cause] = deferral
        return deferral

    def within(self, value: Value) -> list[Deferral]:
        """Return the deferrals that a value depends on."""
        if value.is_wholly_known:
            return []
        return self.of_causes(causes_within(value))

    def beside(self, place: Written) -> list[Deferral]:
        """Return the deferrals that an expression's references depend on. A value computed from
        many unknowns may omit some, as it retains only a few causes.
        """
        found: list[Deferral] = []
        for reference in place.references:
            for node in nodes_of(place.frame, reference):
                if _is_large(node.value):
                    found += self.within(node.value)
        return found

    def of_causes(self, causes: Sequence[UnknownCause]) -> list[Deferral]:
        """Return the deferrals among the causes of unknown values."""
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
        """Defer a block with unknown instances; also return its known instances. None if all of
        them are known, or the causes are not deferrals.
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
        """Return the known instances of a block with unknown ones; None if nothing is deferred.
        While a plan is applied, the plan has decided that already.
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
    """Check for more unknown parts than the search for causes covers."""
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
