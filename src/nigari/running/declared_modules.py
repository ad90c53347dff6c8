"""Declarations at the address of a module instance, regardless of its values.

All instances of a call have the same declarations, unless their sources differ. So those of an
instance that no longer exists, or whose call is not expanded yet, are taken from any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.config.blocks.module_call import ModuleCall
from nigari.cty.types import NUMBER, STRING
from nigari.cty.values import DYNAMIC_UNKNOWN, number, string, unknown
from nigari.eval.core.instances import Frame, Run
from nigari.eval.core.module_tree import InstanceData, ModuleInstance


def declared_module(root: ModuleInstance, module: ModuleAddr) -> ModuleInstance | None:
    """Return an instance with the declarations of an address; None if there is no such call."""
    at = root
    for name, key in module.steps:
        found = template(at, name, key)
        if found is None:
            return None
        at = found
    return at


def bare_frame(run: Run, root: ModuleInstance, module: ModuleAddr) -> Frame | None:
    """Open a module instance in which only expressions without references to other values can be
    evaluated: paths, and an object's own repetition. None if the call no longer exists.
    """
    frame = Frame(run, root, None)
    for name, key in module.steps:
        instance = former_instance(frame.instance, name, key)
        if instance is None:
            return None
        frame = Frame(run, instance, frame)
    return frame


def template(parent: ModuleInstance, name: str, key: InstanceKey) -> ModuleInstance | None:
    """Return an instance of a call with the declarations of the given key, unless the sources of
    its instances differ.
    """
    known = parent.children.get(name, {})
    exact = known.get(key) or known.get(DEFERRED) or known.get(None)
    if exact is not None or name in parent.unlike:
        return exact
    others = list({each.variant: each for each in known.values()}.values())
    return others[0] if others and _declare_the_same(others) else None


def _declare_the_same(instances: Sequence[ModuleInstance]) -> bool:
    """Check that instances of a call, and all modules they call, have the same declarations."""
    pending = [instances]
    while pending:
        alike = pending.pop()
        if any(each.compiled.declared is not alike[0].compiled.declared for each in alike):
            return False
        for name in alike[0].module.calls if len(alike) > 1 else ():
            called = {
                child.variant: child
                for each in alike
                for child in each.children.get(name, {}).values()
            }
            if called:
                pending.append(list(called.values()))
    return True


def former_instance(parent: ModuleInstance, name: str, key: InstanceKey) -> ModuleInstance | None:
    """Build an instance that a call had earlier, with the known parts of its repetition."""
    call = parent.module.calls.get(name)
    found = template(parent, name, key)
    if call is None or found is None:
        return None
    return instance_like(found, parent, call, key, former_data(key))


def instance_like(
    found: ModuleInstance,
    parent: ModuleInstance,
    call: ModuleCall,
    key: InstanceKey,
    data: InstanceData,
) -> ModuleInstance:
    """Build an instance of a call with the declarations of another."""
    child = ModuleInstance(parent.addr.child(call.name, key), found.compiled, parent, call, data)
    child.children = found.children
    child.belongs_to(found.variant, found.shown_variant)
    child.unlike = found.unlike
    return child


def former_data(key: InstanceKey) -> InstanceData:
    """Return the known repetition of an instance that existed earlier."""
    return InstanceData(
        string(key) if isinstance(key, str) else unknown(STRING),
        DYNAMIC_UNKNOWN,
        number(key) if isinstance(key, int) else unknown(NUMBER),
    )
