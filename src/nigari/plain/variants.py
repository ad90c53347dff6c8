"""The modules that are written: one for each variant, with what becomes of its calls."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.config.blocks.module_call import ModuleCall
from nigari.config.module import Module
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.static.variants import find_variants
from nigari.plain.names import names_for_keys
from nigari.plain.static_values import StaticValues
from nigari.record import record


@record
class CallPlan:
    """The plain form of a call: unchanged (`names` is None), or one call for each instance."""

    call: ModuleCall
    names: Mapping[InstanceKey, str] | None
    children: Mapping[InstanceKey, ModuleInstance]
    """An instance for each call that is written; one if the call stays."""


@record
class Variant:
    """A module as it is written, for all instances that are alike."""

    path: ModuleAddr
    frames: tuple[Frame, ...]
    calls: Mapping[str, CallPlan]

    @property
    def frame(self) -> Frame:
        """The instance that stands for all."""
        return self.frames[0]

    @property
    def module(self) -> Module:
        """Return the module's declarations."""
        return self.frame.module


def variants(values: StaticValues) -> dict[ModuleAddr, Variant]:
    """The variants by their paths, callers first."""
    instances = [frame.instance for frame in values.run.frames()]
    facts = {each: [*found] for each, found in values.facts.items()}
    split: set[tuple[ModuleInstance, str]] = set()
    while True:
        find_variants(
            instances, {each: tuple(facts.get(each, ())) for each in instances}, frozenset()
        )
        more = {
            (instance, name)
            for instance in instances
            for name, children in instance.children.items()
            if any(is_split(values, child) for child in children.values())
        } - split
        if not more:
            break
        split |= more
        # Callers share a file only if what they call has the same keys.
        for instance, name in sorted(more, key=lambda each: (str(each[0].addr), each[1])):
            facts.setdefault(instance, []).append((name, tuple(instance.children[name])))
    found: dict[ModuleAddr, list[Frame]] = {}
    for frame in values.run.frames():
        found.setdefault(frame.instance.variant, []).append(frame)
    return {
        path: Variant(path, tuple(frames), _calls(values, frames[0]))
        for path, frames in found.items()
    }


def is_split(values: StaticValues, child: ModuleInstance) -> bool:
    """Check whether a call instance needs a call of its own."""
    assert child.call is not None
    if child.addr.key is DEFERRED:
        return False
    return child.variant.key is not None or (
        child in values.alone and not child.call.repetition.is_single
    )


def _calls(values: StaticValues, frame: Frame) -> dict[str, CallPlan]:
    plans: dict[str, CallPlan] = {}
    taken = set(frame.module.calls)
    for name, call in frame.module.calls.items():
        children = frame.instance.children.get(name, {})
        names: Mapping[InstanceKey, str] | None = None
        if any(is_split(values, child) for child in children.values()):
            names = names_for_keys(name, children, taken)
            taken.update(names.values())
        elif not children and not call.repetition.is_single:
            # Its source depends on its keys, or leads back to the module itself.
            names = {}
        elif children:
            key, child = next(iter(children.items()))
            children = {key: child}
        plans[name] = CallPlan(call, names, children)
    return plans
