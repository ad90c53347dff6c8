"""Declarations at the address of a module instance, whatever its values are.

All instances of a call declare the same, unless their sources differ. So what must be known of an
instance that is gone, or whose call is not expanded yet, is found from any other.
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
    """An instance that declares what the one at an address does, or did; None without a call."""
    at = root
    for name, key in module.steps:
        found = template(at, name, key)
        if found is None:
            return None
        at = found
    return at


def bare_frame(run: Run, root: ModuleInstance, module: ModuleAddr) -> Frame | None:
    """A module instance in which only what needs no other values can be evaluated: paths, and what
    an object knows of itself. None where the call is gone.
    """
    frame = Frame(run, root, None)
    for name, key in module.steps:
        instance = former_instance(frame.instance, name, key)
        if instance is None:
            return None
        frame = Frame(run, instance, frame)
    return frame


def template(parent: ModuleInstance, name: str, key: InstanceKey) -> ModuleInstance | None:
    """An instance of a call that looks like the one with this key: all do, unless their sources may
    differ.
    """
    known = parent.children.get(name, {})
    exact = known.get(key) or known.get(DEFERRED) or known.get(None)
    if exact is not None or name in parent.unlike:
        return exact
    others = list({each.variant: each for each in known.values()}.values())
    return others[0] if others and _declare_the_same(others) else None


def _declare_the_same(instances: Sequence[ModuleInstance]) -> bool:
    """Whether some instances of a call, and all that they call, declare the same."""
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
    """An instance that a call had once, with what is still known of its repetition."""
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
    """An instance of a call that declares the same as another."""
    child = ModuleInstance(parent.addr.child(call.name, key), found.compiled, parent, call, data)
    child.children = found.children
    child.variant, child.unlike = found.variant, found.unlike
    return child


def former_data(key: InstanceKey) -> InstanceData:
    """What is still known of the repetition of an instance that was there once."""
    return InstanceData(
        string(key) if isinstance(key, str) else unknown(STRING),
        DYNAMIC_UNKNOWN,
        number(key) if isinstance(key, int) else unknown(NUMBER),
    )
