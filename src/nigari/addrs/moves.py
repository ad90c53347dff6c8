"""Addresses in `moved` and `removed` blocks, and the destinations of moved addresses.

The two endpoints of a `moved` block are read in the module of the block and apply to each of its
instances. `unify_endpoints` converts them to patterns of one granularity (all instances of a call
or resource, or exactly one); patterns match absolute addresses, and the `…_destination` functions
return their new address. Deliberately unknown here: the existing statements, their order, and the
state.
"""

from __future__ import annotations

from enum import Enum

from nigari.addrs.absolute import Abs, AbsResource, AbsResourceInstance
from nigari.addrs.keys import InstanceKey, key_text
from nigari.addrs.module import ModuleAddr, Step, module_from_steps
from nigari.addrs.resource import EPHEMERAL, Resource, ResourceInstance
from nigari.diagnostics import Range
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias


class AnyKey(Enum):
    """Type of `ANY_KEY`, with which a pattern matches every instance key."""

    ANY_KEY = "[*]"


ANY_KEY: Final = AnyKey.ANY_KEY

KeyPattern: TypeAlias = InstanceKey | AnyKey
StepPattern: TypeAlias = tuple[str, KeyPattern]


@record
class MoveEndpoint:
    """The `from` or `to` of a `moved` block, relative to the module of the block."""

    subject: ModuleAddr | AbsResourceInstance
    range: Range | None = None

    def __str__(self) -> str:
        return self.subject.text

    @property
    def names_everything(self) -> bool:
        """True without a key, so that it may apply to all instances."""
        if isinstance(self.subject, ModuleAddr):
            return self.subject.key is None and not self.subject.is_root
        return self.subject.item.key is None

    @property
    def is_movable(self) -> bool:
        """True for objects that a state contains; ephemeral resources are never stored."""
        if isinstance(self.subject, ModuleAddr):
            return True
        return self.subject.item.resource.mode is not EPHEMERAL

    @property
    def block(self) -> ModuleAddr | AbsResource:
        """The block in the configuration: the module call or the resource block."""
        if isinstance(self.subject, ModuleAddr):
            return self.subject.unkeyed
        return Abs(self.subject.module.unkeyed, self.subject.item.resource)


@record
class RemoveEndpoint:
    """The `from` of a `removed` block: a module call or a resource, always without keys."""

    subject: ModuleAddr | AbsResource
    range: Range | None = None

    def __str__(self) -> str:
        return self.subject.text


@record
class MovePattern:
    """One endpoint of a move, for the instances of the declaring module."""

    declared: int
    """Number of steps that lead to the declaring module."""
    steps: tuple[StepPattern, ...]
    resource: Resource | None = None
    """`None` if the endpoint is a module."""
    key: KeyPattern = None
    """Key of the resource instance."""
    range: Range | None = None

    def __str__(self) -> str:
        parts = [f"module.{name}{_key_pattern_text(key)}" for name, key in self.steps]
        if self.resource is not None:
            parts.append(self.resource.text + _key_pattern_text(self.key))
        return ".".join(parts)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the calls that lead to the module."""
        return tuple(name for name, _ in self.steps)

    @property
    def address(self) -> str:
        """The address in its usual spelling: without keys where every key matches."""
        parts = [f"module.{name}{_written_key(key)}" for name, key in self.steps]
        if self.resource is not None:
            parts.append(self.resource.text + _written_key(self.key))
        return ".".join(parts)

    def is_declared_in(self, module: ModuleAddr) -> bool:
        """Check whether an instance of the declaring module is among those that declare the move."""
        return steps_match(self.steps[: self.declared], module.steps)

    def within(self, module: ModuleAddr) -> MovePattern:
        """Narrow the endpoint to one instance of the declaring module."""
        steps = module.steps + self.steps[self.declared :]
        return MovePattern(0, steps, self.resource, self.key)

    def selects_module(self, module: ModuleAddr) -> bool:
        """Check whether the module part of the pattern matches a module instance."""
        return len(self.steps) == module.depth and steps_match(self.steps, module.steps)

    def selects_resource(self, resource: AbsResource) -> bool:
        """Check whether the pattern matches a resource or one of its instances."""
        return self.resource == resource.item and self.selects_module(resource.module)

    def can_chain_from(self, other: MovePattern) -> bool:
        """Check whether an object that moved to `other` may move again from this endpoint."""
        if len(self.steps) != len(other.steps) or not _patterns_overlap(self.steps, other.steps):
            return False
        if self.resource is None or other.resource is None:
            return self.resource is other.resource
        # OpenTofu (CanChainFrom): a chain needs exactly the same object; one instance cannot
        # continue a move of the whole resource, nor the other way round.
        return self.resource == other.resource and self.key == other.key

    def is_nested_within(self, other: MovePattern) -> bool:
        """Check whether this endpoint is inside the object that `other` addresses."""
        if len(other.steps) > len(self.steps) or not _patterns_overlap(self.steps, other.steps):
            return False
        if other.resource is None:
            if self.resource is not None or len(self.steps) > len(other.steps):
                return True
            # A single instance of a call is nested in the whole call.
            return other.steps[-1][1] is ANY_KEY and self.steps[-1][1] is not ANY_KEY
        return (
            len(self.steps) == len(other.steps)
            and other.key is ANY_KEY
            and self.key is not ANY_KEY
            and self.resource == other.resource
        )


def unify_endpoints(
    declaring: ModuleAddr, source: MoveEndpoint, target: MoveEndpoint
) -> tuple[MovePattern, MovePattern] | None:
    """Build the patterns of a move statement; `None` if a module is paired with a resource.

    All instances of a module declare the statement, but if the module's address has keys only those
    with these keys.

    If neither endpoint has a key, both stand for all instances; if one has a key, each stands for
    exactly one. As in OpenTofu, both sides of a move thus have the same granularity.
    """
    if isinstance(source.subject, ModuleAddr) is not isinstance(target.subject, ModuleAddr):
        return None
    # OpenTofu: without keys on either side, both addresses mean all instances; a single key on one
    # side makes both exact.
    whole = source.names_everything and target.names_everything
    return _pattern(declaring, source, whole), _pattern(declaring, target, whole)


def implied_endpoint(subject: AbsResourceInstance | ModuleAddr) -> MovePattern:
    """Build an endpoint that no block declares: exactly one object."""
    if isinstance(subject, ModuleAddr):
        return MovePattern(0, subject.steps)
    return MovePattern(0, subject.module.steps, subject.item.resource, subject.item.key)


def _pattern(declaring: ModuleAddr, endpoint: MoveEndpoint, whole: bool) -> MovePattern:
    # The keys of the declaring module's instances are preserved unless its address has keys.
    prefix = tuple((name, ANY_KEY if key is None else key) for name, key in declaring.steps)
    subject = endpoint.subject
    if isinstance(subject, ModuleAddr):
        steps: tuple[StepPattern, ...] = subject.steps
        if whole:
            steps = (*steps[:-1], (subject.name, ANY_KEY))
        return MovePattern(len(prefix), prefix + steps, range=endpoint.range)
    return MovePattern(
        len(prefix),
        prefix + subject.module.steps,
        subject.item.resource,
        ANY_KEY if whole else subject.item.key,
        endpoint.range,
    )


def module_destination(
    module: ModuleAddr, source: MovePattern, target: MovePattern
) -> ModuleAddr | None:
    """Return the new address of a module instance; `None` if the move does not affect it."""
    length = len(source.steps)
    if source.resource is not None or module.is_root or module.depth < length:
        return None
    steps = module.steps
    if not steps_match(source.steps, steps):
        return None
    moved = _new_module_steps(steps, source, target)
    return module_from_steps(moved + steps[length:])


def resource_destination(
    resource: AbsResource, source: MovePattern, target: MovePattern
) -> AbsResource | None:
    """Return the new address of a whole resource; `None` if the move affects only one instance or
    none.
    """
    if source.resource is None or target.resource is None:
        module = module_destination(resource.module, source, target)
        return None if module is None else Abs(module, resource.item)
    if source.key is not ANY_KEY or not source.selects_resource(resource):
        return None
    steps = _new_module_steps(resource.module.steps, source, target)
    return Abs(module_from_steps(steps), target.resource)


def instance_destination(
    instance: AbsResourceInstance, source: MovePattern, target: MovePattern
) -> AbsResourceInstance | None:
    """Return the new address of a resource instance; `None` if the move does not affect it."""
    if source.resource is None or target.resource is None:
        module = module_destination(instance.module, source, target)
        return None if module is None else Abs(module, instance.item)
    if instance.item.resource != source.resource or not source.selects_module(instance.module):
        return None
    if source.key is not ANY_KEY and source.key != instance.item.key:
        return None
    key = instance.item.key if target.key is ANY_KEY else target.key
    steps = _new_module_steps(instance.module.steps, source, target)
    return Abs(module_from_steps(steps), ResourceInstance(target.resource, key))


def is_module_reindex(source: MovePattern, target: MovePattern) -> bool:
    """True if the move only changes the key of a module call's instance."""
    if source.resource is not None or target.resource is not None:
        return False
    if source.steps and source.steps[-1][1] is ANY_KEY:
        return False
    return source.names == target.names


def _new_module_steps(
    steps: tuple[Step, ...], source: MovePattern, target: MovePattern
) -> tuple[Step, ...]:
    """Return the target's steps, with the keys that its pattern leaves open taken from `steps`."""
    result = list(steps[: source.declared])
    for name, key in target.steps[target.declared :]:
        kept = steps[len(source.steps) - 1][1] if key is ANY_KEY else key
        result.append((name, kept))
    return tuple(result)


def steps_match(pattern: tuple[StepPattern, ...], steps: tuple[Step, ...]) -> bool:
    """Check whether steps begin with a match of the pattern."""
    return all(
        name == actual and (key is ANY_KEY or key == actual_key)
        for (name, key), (actual, actual_key) in zip(pattern, steps, strict=False)
    )


def _patterns_overlap(pattern: tuple[StepPattern, ...], other: tuple[StepPattern, ...]) -> bool:
    return all(
        name == other_name and (key is ANY_KEY or other_key is ANY_KEY or key == other_key)
        for (name, key), (other_name, other_key) in zip(pattern, other, strict=False)
    )


def _written_key(key: KeyPattern) -> str:
    return "" if isinstance(key, AnyKey) else key_text(key)


def _key_pattern_text(key: KeyPattern) -> str:
    return "[*]" if isinstance(key, AnyKey) else key_text(key)
