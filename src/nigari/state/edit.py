"""State edits: the `state` commands, `taint` and `untaint`, as functions of states.

Each takes a state and returns a new one, or reports a failure. Reading, locking, writing and
prompting are left to the commands.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import Abs, AbsResource, AbsResourceInstance, instance_of
from nigari.addrs.module import ModuleAddr, module_from_steps
from nigari.addrs.provider import Provider
from nigari.addrs.resource import EPHEMERAL, Resource
from nigari.addrs.targets import Target, Targetable
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.record import record, replace
from nigari.state.draft import StateDraft
from nigari.state.indexed_draft import IndexedDraft
from nigari.state.model import InstanceState, ObjectStatus, ResourceState, State
from nigari.state.selection import near_address, not_in_state


def remove(state: State, addresses: Sequence[AbsResourceInstance]) -> State:
    """Forget these instances; their remote objects continue to exist."""
    draft = StateDraft(state)
    for address in addresses:
        draft.remove_instance(address)
    return draft.finish()


@record
class MoveOutcome:
    """Both states after `state mv`; they are the same unless it moved between states."""

    source: State
    target: State
    moved: tuple[tuple[str, str], ...] = ()


def move(
    source_state: State,
    target_state: State | None,
    source: Target,
    target: Target,
    diags: Diagnostics,
) -> MoveOutcome | None:
    """Move a module instance, a resource or a resource instance.

    `target_state` is another state to move it to; `None` moves within one state.
    """
    origin = IndexedDraft(source_state)
    destination = origin if target_state is None else IndexedDraft(target_state)
    pairs = _pairs(source_state, origin, source, target, diags)
    for old, new in pairs:
        if not _is_free(destination, new):
            diags.append(destination_is_taken(old, new))
    if diags.has_errors:
        return None
    if not pairs:
        diags.append(not_in_state(source, source_state))
        return None
    for old, new in pairs:
        _carry(origin, destination, old, new)
    moved_from = [old for old, _ in pairs]
    left, arrived = origin.finish(), destination.finish()
    remembered = {**left.remembered, **arrived.remembered}
    # Retained provider configurations without an object are dropped when the state is stored.
    arrived = replace(arrived, remembered=remembered).to_be_stored()
    arrived = _without_dependencies_on(arrived, moved_from)
    if target_state is None:
        left = arrived
    return MoveOutcome(left, arrived, tuple((old.text, new.text) for old, new in pairs))


def taint(state: State, address: AbsResourceInstance, diags: Diagnostics) -> State | None:
    """Mark an object to be replaced by the next apply."""
    return _with_status(state, address, ObjectStatus.TAINTED, diags)


def untaint(state: State, address: AbsResourceInstance, diags: Diagnostics) -> State | None:
    """Clear the mark for replacement."""
    return _with_status(state, address, ObjectStatus.READY, diags)


def resources_of_provider(state: State, provider: Provider) -> list[AbsResource]:
    """List the resources that a provider manages, in order."""
    return sorted(each.address for each in state.resources.values() if provider in each.providers())


def replace_provider(state: State, old: Provider, new: Provider) -> State:
    """Replace one provider by another in the whole state."""
    draft = StateDraft(state)
    draft.replace_provider(old, new)
    return draft.finish()


def _pairs(
    state: State, origin: IndexedDraft, source: Target, target: Target, diags: Diagnostics
) -> list[tuple[Targetable, Targetable]]:
    """List the moves, one pair for each object that moves as a whole."""
    old, new = source.subject, target.subject
    if isinstance(old, ModuleAddr):
        if not isinstance(new, ModuleAddr):
            diags.append(kinds_differ(old, new, "a module"))
            return []
        tail = old.depth
        return [
            (each, module_from_steps((*new.steps, *each.steps[tail:])))
            for each in origin.modules_in(old)
        ]
    if isinstance(new, ModuleAddr):
        diags.append(kinds_differ(old, new, "a resource"))
        return []
    pairs = _resource_pairs(state, old, new, diags)
    if not pairs:
        return []
    if _resource(old).mode is not _resource(new).mode or _resource(new).mode is EPHEMERAL:
        diags.append(modes_differ(old, new))
        return []
    if _resource(old).type != _resource(new).type:
        diags.append(types_differ(old, new))
        return []
    return pairs


def _resource_pairs(
    state: State,
    old: AbsResource | AbsResourceInstance,
    new: AbsResource | AbsResourceInstance,
    diags: Diagnostics,
) -> list[tuple[Targetable, Targetable]]:
    if isinstance(old.item, Resource):
        whole = Abs(old.module, old.item)
        known = state.resources.get(whole)
        if known is None:
            return []
        if None not in known.instances:
            if not isinstance(new.item, Resource):
                diags.append(kinds_differ(old, new, "a whole resource"))
                return []
            return [(whole, Abs(new.module, new.item))]
        instance = instance_of(whole)
    else:
        instance = Abs(old.module, old.item)
    if state.instance(instance) is None:
        return []
    return [(instance, _as_instance(new))]


def _resource(address: AbsResource | AbsResourceInstance) -> Resource:
    return address.item if isinstance(address.item, Resource) else address.item.resource


def _as_instance(address: AbsResource | AbsResourceInstance) -> AbsResourceInstance:
    if isinstance(address.item, Resource):
        return instance_of(Abs(address.module, address.item))
    return Abs(address.module, address.item)


def _is_free(places: IndexedDraft, address: Targetable) -> bool:
    if isinstance(address, ModuleAddr):
        return not places.has_module(address)
    if isinstance(address.item, Resource):
        return places.resource(Abs(address.module, address.item)) is None
    return places.instance(Abs(address.module, address.item)) is None


def _carry(
    origin: IndexedDraft, destination: IndexedDraft, old: Targetable, new: Targetable
) -> None:
    """Move an object from one state to another, which may be the same."""
    if isinstance(old, ModuleAddr) and isinstance(new, ModuleAddr):
        for address in origin.resources_in(old):
            _carry_resource(origin, destination, address, Abs(new, address.item))
    elif isinstance(old, Abs) and isinstance(new, Abs):
        if isinstance(old.item, Resource) and isinstance(new.item, Resource):
            _carry_resource(
                origin, destination, Abs(old.module, old.item), Abs(new.module, new.item)
            )
        else:
            _carry_instance(origin, destination, _as_instance(old), _as_instance(new))


def _carry_resource(
    origin: IndexedDraft, destination: IndexedDraft, old: AbsResource, new: AbsResource
) -> None:
    resource = origin.resource(old)
    if resource is not None:
        origin.remove_resource(old)
        destination.put(replace(resource, address=new))


def _carry_instance(
    origin: IndexedDraft,
    destination: IndexedDraft,
    old: AbsResourceInstance,
    new: AbsResourceInstance,
) -> None:
    instance = origin.instance(old)
    if instance is not None:
        origin.remove_instance(old)
        destination.put_instance(new, instance)


def _without_dependencies_on(state: State, moved: Sequence[Targetable]) -> State:
    """Drop dependencies on moved objects; the next apply records them again.

    Dependencies refer to modules without keys. If one instance of a call moves, the dependency is
    still valid, so only moves of whole modules are relevant.
    """
    modules = {each.text for each in moved if isinstance(each, ModuleAddr) and each == each.unkeyed}
    resources = {
        Abs(each.module.unkeyed, _resource(each)).text
        for each in moved
        if not isinstance(each, ModuleAddr)
    }
    draft = StateDraft(state)
    for resource in state.resources.values():
        changed = {
            key: replace(instance, current=instance.current.with_dependencies(()))
            for key, instance in resource.instances.items()
            if instance.current is not None
            and any(_is_among(each, modules, resources) for each in instance.current.dependencies)
        }
        if changed:
            instances = {**resource.instances, **changed}
            draft.put_resource(ResourceState(resource.address, resource.provider, instances))
    return draft.finish()


def _is_among(dependency: AbsResource, modules: set[str], resources: set[str]) -> bool:
    if dependency.text in resources:
        return True
    module: ModuleAddr | None = dependency.module if modules else None
    while module is not None and not module.is_root:
        if module.text in modules:
            return True
        module = module.parent
    return False


def _with_status(
    state: State, address: AbsResourceInstance, status: ObjectStatus, diags: Diagnostics
) -> State | None:
    instance = state.instance(address)
    if instance is None or instance.current is None:
        diags.append(nothing_to_taint(address, instance, state))
        return None
    if status is ObjectStatus.READY and instance.current.status is ObjectStatus.READY:
        diags.append(not_tainted(address))
        return None
    draft = StateDraft(state)
    changed = replace(instance, current=instance.current.with_status(status))
    draft.set_instance(address, changed)
    return draft.finish()


def destination_is_taken(old: Targetable, new: Targetable) -> Diagnostic:
    """Report a move to an address that is in use."""
    return Diagnostic(
        Severity.ERROR,
        "Destination already in use",
        f"{old} cannot be moved to {new}: an object is already there. Nothing was moved.",
    )


def kinds_differ(old: Targetable, new: Targetable, wanted: str) -> Diagnostic:
    """Report a move to an address of another kind."""
    return Diagnostic(
        Severity.ERROR,
        "Destination of a different kind",
        f"{old} is {wanted}, so its destination must be one too, and {new} is not.",
    )


def modes_differ(old: Targetable, new: Targetable) -> Diagnostic:
    """Report a move between managed, data and ephemeral resources."""
    return Diagnostic(
        Severity.ERROR,
        "Destination of a different kind",
        f"{old} cannot become {new}: a managed resource can only become a managed resource, and "
        "a data source a data source; ephemeral resources are not stored at all.",
    )


def types_differ(old: Targetable, new: Targetable) -> Diagnostic:
    """Report a move between resource types, whose objects have different attributes."""
    return Diagnostic(
        Severity.ERROR,
        "Destination of a different type",
        f"{old} cannot become {new}: the object would have the wrong attributes for its new type. "
        "If the provider can convert it, use a moved block in the configuration instead. Nothing "
        "was moved.",
    )


def nothing_to_taint(
    address: AbsResourceInstance, instance: InstanceState | None, state: State
) -> Diagnostic:
    """Report a resource instance without a current object."""
    if instance is None:
        why = f"The state has no object at {address}.{near_address(address.text, state)}"
    else:
        why = f"{address} has no current object: its replacement has failed. Run apply first."
    return Diagnostic(
        Severity.ERROR,
        "Resource instance is not in the state",
        why,
        address=address.text,
    )


def not_tainted(address: AbsResourceInstance) -> Diagnostic:
    """Report an object that is not tainted."""
    return Diagnostic(
        Severity.ERROR,
        "Object is not tainted",
        f"The object of {address} is not tainted, so there is nothing to undo.",
        address=address.text,
    )
