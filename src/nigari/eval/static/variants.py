"""Variants of modules: which instances of a call are alike in all that is known before planning.

Instances are alike that declare the same, with the same values of static arguments and addresses,
and that call what is alike. What planning takes from blocks, it takes once for each variant, so a
thousand equal instances cost what one costs, and two different ones are two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from nigari.addrs.module import ModuleAddr
from nigari.eval.core.module_tree import ModuleInstance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Facts: TypeAlias = Mapping[ModuleInstance, tuple[object, ...]]
"""The values of static arguments and addresses, by module instance; hashable."""

_Kinds: TypeAlias = dict[ModuleInstance, int]


def find_variants(
    instances: Iterable[ModuleInstance],
    facts: Facts,
    differing: AbstractSet[tuple[ModuleAddr, str]],
) -> None:
    """Set the variant of each instance of a tree, whose callers come first.

    `differing` are the calls whose instances may come from several sources. Even if all that are left
    are alike, those that are gone may have been others.
    """
    groups = _groups(instances)
    kinds: _Kinds = {}
    for group in reversed(groups):
        _tell_apart(group, facts, kinds)
    _name(groups[0], groups[0][0].addr.unkeyed, kinds, differing)


def _groups(instances: Iterable[ModuleInstance]) -> list[list[ModuleInstance]]:
    """The instances by the calls that lead to them, whatever the keys; callers first."""
    groups: list[list[ModuleInstance]] = []
    places: dict[tuple[int, str], int] = {}
    numbers: dict[ModuleInstance | None, int] = {None: -1}
    for instance in instances:
        place = numbers[instance.parent], instance.addr.name
        number = numbers[instance] = places.setdefault(place, len(groups))
        if number == len(groups):
            groups.append([])
        groups[number].append(instance)
    return groups


def _tell_apart(group: list[ModuleInstance], facts: Facts, kinds: _Kinds) -> None:
    """Find the kinds of all instances of one group; those of what they call are known."""
    found: dict[tuple[int, tuple[object, ...]], list[ModuleInstance]] = {}
    for instance in group:
        key = id(instance.compiled.declared), facts.get(instance, ())
        found.setdefault(key, []).append(instance)
    for alike in found.values():
        _tell_callers_apart(alike, kinds)


def _tell_callers_apart(alike: list[ModuleInstance], kinds: _Kinds) -> None:
    """Instances that declare the same differ where their calls have instances of other kinds.

    A call without instances is like any other, unless those of others differ among themselves.
    """
    shapes: list[list[frozenset[int] | None]] = []
    for name in alike[0].module.calls:
        called = [
            frozenset(kinds[child] for child in each.children.get(name, {}).values()) or None
            for each in alike
        ]
        if len(set(called) - {None}) > 1:
            shapes.append(called)
    found: dict[tuple[frozenset[int] | None, ...], int] = {}
    for number, instance in enumerate(alike):
        shape = tuple(called[number] for called in shapes)
        kinds[instance] = found.setdefault(shape, len(kinds))


def _name(
    alike: list[ModuleInstance],
    path: ModuleAddr,
    kinds: _Kinds,
    differing: AbstractSet[tuple[ModuleAddr, str]],
) -> None:
    """Name the variants of some instances of one variant, and of whatever they call."""
    pending = [(alike, path, path)]
    while pending:
        instances, path, shown = pending.pop()
        calls = instances[0].module.calls
        unlike = frozenset(name for name in calls if (path.unkeyed, name) in differing)
        for instance in instances:
            instance.belongs_to(path, shown)
            instance.unlike = unlike
        for name in calls:
            callers = [found for each in instances if (found := each.children.get(name))]
            of_kind: dict[int, list[ModuleInstance]] = {}
            for children in callers:
                for child in children.values():
                    of_kind.setdefault(kinds[child], []).append(child)
            is_one = len(of_kind) == 1
            # Callers of one variant call the same kinds, so the keys of one of them distinguish them all.
            for key, child in callers[0].items() if callers else ():
                if kinds[child] in of_kind:
                    below = path.child(name, None if is_one and name not in unlike else key)
                    beneath = shown.child(name, None if is_one else key)
                    pending.append((of_kind.pop(kinds[child]), below, beneath))
