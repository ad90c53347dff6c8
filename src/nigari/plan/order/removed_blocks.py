"""`removed` blocks: what is no longer declared, and whether it is destroyed or only forgotten.

A block counts for the instances of the module that it is in, and for no others of the same call.
Where several name the same thing, the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from nigari.addrs.absolute import Abs, AbsResourceInstance
from nigari.addrs.module import ModuleAddr
from nigari.addrs.moves import ANY_KEY, MoveEndpoint, MovePattern, steps_match
from nigari.addrs.parse import parse_move_endpoint
from nigari.diagnostics import Diagnostics
from nigari.eval.static.run import StaticRun
from nigari.plan.order.variants import Variants
from nigari.record import record
from nigari.schema.provisioners import PROVISIONERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.blocks.provisioner import Provisioner
    from nigari.config.blocks.removed import Removed


@record
class RemoveStatement:
    """The settings of one `removed` block in one variant of its module."""

    module: ModuleAddr
    """The variant that the block is in."""
    place: MovePattern
    """The removed address, relative to a module instance."""
    destroys: bool
    provisioners: tuple[Provisioner, ...]

    def covers(self, address: AbsResourceInstance) -> bool:
        """Return whether it applies to a resource instance of the variant."""
        steps, place = address.module.steps[self.module.depth :], self.place
        if len(steps) < len(place.steps) or not steps_match(place.steps, steps):
            return False
        if place.resource is None:
            return True
        is_there = len(steps) == len(place.steps) and place.resource == address.item.resource
        return is_there and place.key in (ANY_KEY, address.item.key)


class RemoveStatements:
    """Everything that `removed` blocks say."""

    def __init__(self, variants: Variants, found: Iterable[RemoveStatement] = ()) -> None:
        self._variants = variants
        self._by_module: dict[ModuleAddr, list[tuple[int, RemoveStatement]]] = {}
        for number, each in enumerate(found):
            self._by_module.setdefault(each.module, []).append((number, each))

    def of(self, address: AbsResourceInstance) -> RemoveStatement | None:
        """The statement that counts for a resource instance."""
        found: list[tuple[int, RemoveStatement]] = []
        at: ModuleAddr | None = self._variants.of(address.module)
        while at is not None and self._by_module:
            found += [each for each in self._by_module.get(at, ()) if each[1].covers(address)]
            at = at.parent
        return max(found, key=lambda each: each[0])[1] if found else None


def remove_statements(
    static: StaticRun, variants: Variants, diags: Diagnostics
) -> RemoveStatements:
    """Everything that `removed` blocks say."""
    found: list[RemoveStatement] = []
    for frame in static.frames():
        path = frame.instance.variant
        if variants.representatives[path] is not frame.instance:
            continue
        for removed in frame.module.removed:
            from nigari.eval.nodes.validated_provisioner import report_provisioner

            address = static.addresses.get((frame, removed.source))
            traversal = removed.source.shape if address is None else address.traversal
            endpoint = None if traversal is None else parse_move_endpoint(traversal, diags)
            place = None if endpoint is None else _place(endpoint)
            if place is not None:
                destroys = static.removed[frame, removed].destroys
                found.append(RemoveStatement(path, place, destroys, removed.provisioners))
                _check_gone(variants, path, place, removed, diags)
            for provisioner in removed.provisioners:
                if provisioner.type not in PROVISIONERS:
                    report_provisioner(provisioner, diags)
    return RemoveStatements(variants, found)


def _place(endpoint: MoveEndpoint) -> MovePattern:
    """An address without keys stands for all instances."""
    subject = endpoint.subject
    module = subject if isinstance(subject, ModuleAddr) else subject.module
    steps = tuple((name, ANY_KEY if key is None else key) for name, key in module.steps)
    if isinstance(subject, ModuleAddr):
        return MovePattern(0, steps)
    key = subject.item.key
    return MovePattern(0, steps, subject.item.resource, ANY_KEY if key is None else key)


def _check_gone(
    variants: Variants, path: ModuleAddr, place: MovePattern, removed: Removed, diags: Diagnostics
) -> None:
    """Report what is said to be removed and is still declared. Whether single instances are is known
    only once there is a plan, in which such a block then has no effect.
    """
    # OpenTofu accepts no keys here. With keys, other instances may still be declared.
    if not all(key is ANY_KEY for _, key in place.steps):
        return
    callers, last = place.names, ""
    if place.resource is None:
        callers, last = callers[:-1], callers[-1]
    for name in callers:
        path = next(iter(variants.of_call(path.child(name))), path.child(name))
    instance = variants.representatives.get(path)
    if instance is None:
        return
    name = path.child(last).text
    is_declared = last in instance.module.calls
    if place.resource is not None:
        name = Abs(path, place.resource).text
        is_declared = place.key is ANY_KEY and place.resource in instance.module.resources
    if not is_declared:
        return
    diags.error(
        "Removed and still declared",
        f"This block says that {name} is removed, but the configuration still declares it. "
        "Remove either the declaration or this block.",
        removed.range,
    )
