"""Lookup of resource instances in a state by address.

A module includes everything in it, a resource all of its instances. If nothing matches, the
diagnostic suggests similar addresses.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import Abs, AbsResourceInstance, resource_of
from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import Resource
from nigari.addrs.targets import Target
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.state.model import State, StoredObject

TYPE_CHECKING = False
# Only commands that name addresses need this.
if TYPE_CHECKING:
    from nigari.state.indexed_draft import IndexedDraft


def select(
    state: State, targets: Sequence[Target], diags: Diagnostics, allow_missing: bool = False
) -> list[AbsResourceInstance]:
    """List the resource instances that each target covers, in order; without targets, all of them."""
    if not targets:
        return [address for address, _ in state.instances()]
    from nigari.state.indexed_draft import IndexedDraft

    selected: dict[AbsResourceInstance, None] = {}
    places = IndexedDraft(state)
    for target in targets:
        found = _instances_at(places, target)
        if not found and not allow_missing:
            diags.append(not_in_state(target, state))
        selected.update(dict.fromkeys(sorted(found)))
    return list(selected)


def no_state(path: str = "") -> Diagnostic:
    """A command that needs a state where none was ever stored; `path` is the file if one was named."""
    where = f"in {path}" if path else "yet. The first apply stores one"
    return Diagnostic(Severity.ERROR, "No state", f"There is no state {where}.")


def with_id(
    state: State, addresses: Sequence[AbsResourceInstance], wanted: str
) -> list[AbsResourceInstance]:
    """Select the instances whose attribute `id` has the wanted value."""
    return [
        address
        for address in addresses
        if (instance := state.instance(address)) is not None
        and instance.current is not None
        and _id_of(instance.current) == wanted
    ]


def _instances_at(places: IndexedDraft, target: Target) -> list[AbsResourceInstance]:
    subject = target.subject
    if isinstance(subject, ModuleAddr):
        modules = _modules_at(places, subject)
        resources = [each for module in modules for each in places.resources_in(module)]
        return [instance for each in resources for instance in places.instances_of(each)]
    if isinstance(subject.item, Resource):
        return places.instances_of(Abs(subject.module, subject.item))
    instance = Abs(subject.module, subject.item)
    return [] if places.instance(instance) is None else [instance]


def _modules_at(places: IndexedDraft, module: ModuleAddr) -> list[ModuleAddr]:
    """List the module instances that an address covers: without a key, all those of the call."""
    if module.is_root or module.key is not None or module.parent is None:
        return places.modules_in(module)
    covered = Target(module)
    return [each for each in places.modules_in(module.parent) if covered.covers(each)]


def _id_of(stored: StoredObject) -> str | None:
    if stored.flat_attributes is not None:
        return stored.flat_attributes.get("id")
    import json

    attributes = json.loads(stored.attributes, parse_float=str, parse_int=str)
    found = attributes.get("id") if isinstance(attributes, dict) else None
    return found if isinstance(found, str) else None


def near_address(text: str, state: State) -> str:
    """Suggest the address in the state that was probably meant; empty without a suggestion."""
    from nigari.hcl.suggestion import did_you_mean

    known: dict[str, None] = {}
    for address, _ in state.instances():
        known |= dict.fromkeys((address.text, resource_of(address).text, address.module.text))
    return did_you_mean(text, known)


def not_in_state(target: Target, state: State) -> Diagnostic:
    """Report an address that matches nothing in the state."""
    return Diagnostic(
        Severity.ERROR,
        "Nothing at that address",
        f'The state has nothing at {target}. Run "nigari state list" to see what it has; a '
        "resource that was just added to the configuration is stored by the next apply."
        f"{near_address(str(target), state)}",
        target.range,
    )
