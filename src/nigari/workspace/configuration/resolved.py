"""The resolved view of a configuration as plain data: what a program wants to know of the tree.

Its shape is described by `docs/resolved-configuration.schema.json`. Sensitive values are left out,
and what is not static says why.
"""

from __future__ import annotations

import json

from nigari.addrs.keys import Deferred, InstanceKey
from nigari.config.provider_ref import ProviderRef
from nigari.config.required_providers import RequiredProvider
from nigari.cty.json import value_to_json
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.base.causes import causes_within
from nigari.eval.base.expansion import NO_INSTANCE_DATA
from nigari.eval.base.explain import chain, way_to
from nigari.eval.base.inputs import Inputs
from nigari.eval.base.instances import Frame, Origin
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.static.run import StaticRun
from nigari.hcl.expressions import Expression
from nigari.lang.marks import SENSITIVE
from nigari.workspace.configuration.explain import provider_behind, value_origin
from nigari.workspace.configuration.view import Question

FORMAT_VERSION = "1.1"

Data = dict[str, object]


def resolved(run: StaticRun, inputs: Inputs) -> Data:
    """The whole tree, callers before what they call."""
    return {
        "format_version": FORMAT_VERSION,
        "modules": [_module(run, frame, inputs) for frame in _in_order(run)],
        "backend": _backend(run),
    }


def _in_order(run: StaticRun) -> list[Frame]:
    found = [run.root]
    for frame in found:
        for call in frame.calls.values():
            found.extend(run.instances_of(call).values())
    return sorted(found, key=lambda frame: frame.instance.addr.sort_key())


def _module(run: StaticRun, frame: Frame, inputs: Inputs) -> Data:
    run.evaluate([*frame.variables.values(), *frame.locals.values(), *frame.outputs.values()])
    module = frame.module
    return {
        "address": str(frame.instance.addr),
        "directory": module.directory,
        "variables": {
            name: {
                **_known(f"var.{name}", node.value, node.origin()),
                "origin": value_origin(frame, name, inputs),
            }
            for name, node in frame.variables.items()
        },
        "locals": {
            name: _known(f"local.{name}", node.value, node.origin())
            for name, node in frame.locals.items()
        },
        "outputs": {
            name: _known(f"output.{name}", node.value, node.origin())
            for name, node in frame.outputs.items()
        },
        "resources": [str(addr) for addr in module.resources],
        "calls": {name: _call(run, frame, name) for name in module.calls},
        "providers": _providers(run, frame),
        "required_providers": {
            name: _requirement(run, frame, required)
            for name, required in module.required_providers.items()
        },
    }


def _call(run: StaticRun, frame: Frame, name: str) -> Data:
    call = frame.module.calls[name]
    children = run.instances_of(frame.calls[name])
    found: Data = {"instances": [_key(key) for key in children]}
    for argument, expr in (("source", call.source), ("version", call.version)):
        if expr is not None:
            found[argument] = {
                _text(key): _evaluated(run, f"{argument} of module.{name}", child, frame, expr)
                for key, child in children.items()
            }
    found["providers"] = {str(each.in_child): _reference(each.in_parent) for each in call.providers}
    return found


def _requirement(run: StaticRun, frame: Frame, required: RequiredProvider) -> Data:
    found: Data = {"source": str(provider_of(frame.module, required.name))}
    if required.version is not None:
        name = f"version of the required provider {required.name}"
        found["version"] = _evaluated(run, name, None, frame, required.version)
    return found


def _evaluated(
    run: StaticRun, name: str, child: Frame | None, caller: Frame, expr: Expression
) -> Data:
    compiled = caller.instance.compiled.expression(expr)
    data = NO_INSTANCE_DATA if child is None else child.instance.data
    origin = Origin(caller, compiled, data)
    question = Question(name, origin)
    run.evaluate([question])
    return _known(name, question.value, origin)


def _providers(run: StaticRun, frame: Frame) -> Data:
    """The configurations that the module has, and those that its caller gives it."""
    found: Data = {}
    call = frame.instance.call
    passed = {each.in_child.config: each for each in (call.providers if call else ())}
    for addr in [*frame.module.provider_configs, *passed]:
        entry: Data = {"provider": str(provider_of(frame.module, addr.name))}
        own = run.providers[frame].get(addr)
        if own is not None:
            run.evaluate([own])
            entry["instances"] = [_key(key) for key in own.instances]
        else:
            entry["passed"] = _reference(passed[addr].in_parent)
            behind = provider_behind(frame, addr)
            if behind is not None and passed[addr].in_parent.key is None:
                instances = run.providers[behind[0]][behind[1]].instances
                entry["instances"] = [_key(key) for key in instances]
        found[str(addr)] = entry
    return found


def _reference(reference: ProviderRef) -> str:
    """A reference to a provider configuration as it is written."""
    key = reference.key
    text = str(reference.config)
    return text if key is None else f"{text}[{key.source.text[key.start : key.end]}]"


def _backend(run: StaticRun) -> Data | None:
    backend = run.root.module.backend
    if backend is None:
        return None
    arguments: Data = {}
    for name, attribute in backend.body.just_attributes(Diagnostics()).items():
        compiled = run.root.instance.compiled.expression(attribute.expr)
        origin = Origin(run.root, compiled)
        question = Question(f"backend.{name}", origin)
        run.evaluate([question])
        arguments[name] = _known(f"backend.{name}", question.value, origin)
    return {"type": backend.type, "arguments": arguments}


def _known(name: str, value: Value, origin: Origin | None) -> Data:
    unmarked, marks = value.unmark_deep()
    found: Data = {"static": unmarked.is_wholly_known}
    if SENSITIVE in marks:
        found["sensitive"] = True
    elif marks:
        found["ephemeral"] = True
    elif unmarked.is_wholly_known:
        found["value"] = json.loads(value_to_json(unmarked, unmarked.type))
    causes = causes_within(unmarked)
    if causes:
        found["reasons"] = [
            chain(name, cause, [] if origin is None else way_to(cause, origin))[0]
            for cause in causes
        ]
    return found


def _key(key: InstanceKey) -> str | int | None:
    return "*" if isinstance(key, Deferred) else key


def _text(key: InstanceKey) -> str:
    return "" if key is None else str(_key(key))
