"""The variants of a configuration's modules: which there are, and which an address belongs to.

What makes a variant is decided by the static phase (`nigari.eval.static.variants`). Addresses may also
be those of instances that only planning finds, or that only the state still has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from nigari.addrs.absolute import Abs, AbsResource
from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.module import ModuleAddr, ModuleCallInstance
from nigari.addrs.targets import Target
from nigari.config.blocks.module_call import ModuleCall
from nigari.eval.core.module_tree import ModuleInstance


class Variants:
    """The variants of all modules below a root."""

    def __init__(self, root: ModuleInstance) -> None:
        self.representatives: dict[ModuleAddr, ModuleInstance] = {}
        """An instance of each variant."""
        self._members: dict[ModuleAddr, dict[ModuleAddr, None]] = {}
        self._open: set[ModuleAddr] = set()
        """The variants whose instances only planning finds."""
        self._known: dict[ModuleAddr, ModuleAddr] = {}
        self._of_call: dict[ModuleAddr, dict[ModuleAddr, None]] = {}
        """The variants of each call that has several."""
        self._by_key: dict[tuple[ModuleAddr, InstanceKey], dict[ModuleAddr, None]] = {}
        """The same by the keys of the instances."""
        pending = [root]
        while pending:
            instance = pending.pop()
            self._enter(instance)
            for children in reversed(instance.children.values()):
                pending.extend(reversed(children.values()))

    def _enter(self, instance: ModuleInstance) -> None:
        address, path = instance.addr, instance.variant
        self.representatives.setdefault(path, instance)
        self._members.setdefault(path, {})[address] = None
        if any(key is DEFERRED for _, key in address.steps):
            self._open.add(path)
        if instance.parent is None:
            self._known[address] = path
        elif path.key is not None:
            self._known[address] = path
            call = instance.parent.variant.child(path.name)
            self._of_call.setdefault(call, {})[path] = None
            self._by_key.setdefault((call, address.key), {})[path] = None

    @property
    def has_several(self) -> bool:
        """Return whether any call has instances of several variants."""
        return bool(self._of_call)

    def of(self, module: ModuleAddr) -> ModuleAddr:
        """The variant that a module instance belongs to.

        The path of its call stands for an instance that is gone where the others differ.
        """
        found = self._known.get(module)
        if found is None:
            within = None if module.parent is None else self.of(module.parent)
            found = module if within is None else within.child(module.name)
            self._known[module] = found
        return found

    def members(self, path: ModuleAddr) -> Collection[ModuleAddr]:
        """The instances of a variant that the static phase knows."""
        return self._members.get(path, ())

    def is_gone(self, module: ModuleAddr) -> bool:
        """Return whether a module instance is missing from its variant, whose instances are all
        known.
        """
        path = self.of(module)
        return path not in self._open and module not in self.members(path)

    def of_call(self, call: ModuleAddr) -> Iterable[ModuleAddr]:
        """The variants of a call whose instances are of several."""
        return self._of_call.get(call, ())

    def called(self, caller: ModuleAddr, named: ModuleCallInstance) -> Iterable[ModuleAddr]:
        """The variants that an instance of a call may be of, by its key."""
        call = caller.child(named.call.name)
        return self._by_key.get((call, named.key)) or (call,)

    def caller(self, path: ModuleAddr) -> tuple[ModuleCall | None, ModuleInstance | None]:
        """The call that makes the instances of a variant, and an instance that has the call."""
        parent = None if path.parent is None else self.representatives.get(path.parent)
        return None if parent is None else parent.module.calls.get(path.name), parent

    def touches(self, target: Target, path: ModuleAddr, address: AbsResource) -> bool:
        """Return whether a target may name instances of a resource in a variant's module."""
        if not target.touches_block(address):
            return False
        steps = target.module.steps
        return path == path.unkeyed or any(
            all(
                wanted is None or key is DEFERRED or key == wanted
                for (_, wanted), (_, key) in zip(steps, member.steps, strict=False)
            )
            for member in self._members.get(path, ())
        )

    def is_covered(self, target: Target, path: ModuleAddr, address: AbsResource) -> bool:
        """Return whether a target names all instances of a resource in a variant's module."""
        if path == path.unkeyed:
            return target.covers(address)
        return all(target.covers(Abs(at, address.item)) for at in self._members.get(path, ()))


def with_callers(paths: Iterable[ModuleAddr]) -> frozenset[ModuleAddr]:
    """Some variants, those that they are called from, and the paths of the calls on the way."""
    found: set[ModuleAddr] = set()
    for path in paths:
        at: ModuleAddr | None = path
        while at is not None and at not in found:
            found.add(at)
            if at.key is not None and at.parent is not None:
                found.add(at.parent.child(at.name))
            at = at.parent
    return frozenset(found)
