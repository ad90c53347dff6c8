"""The resolved view of a configuration as plain data: what a program wants to know of the tree.

Its shape is described by `docs/reference/resolved-configuration.schema.json`. Sensitive values are left out,
and what is not static says why.
"""

from __future__ import annotations

import json

from nigari.addrs.keys import Deferred, InstanceKey
from nigari.backends.harmless import marked, without_credentials
from nigari.config.blocks.required_providers import RequiredProvider
from nigari.cty.json import value_to_json
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import Inputs
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.module_tree import NO_INSTANCE_DATA
from nigari.eval.nodes.provider_config import provider_of
from nigari.hcl.expressions import Expression
from nigari.lang.marks import SENSITIVE
from nigari.workspace.explain.queries import (
    ValueQueries,
    compiled_origin,
    provider_behind,
    reasons,
    value_origin,
)
from nigari.workspace.views.provider_views import reference_text

FORMAT_VERSION = "1.1"

Data = dict[str, object]


def resolved(evaluation: ValueQueries, inputs: Inputs) -> Data:
    """The whole tree, callers before what they call."""
    return {
        "format_version": FORMAT_VERSION,
        "modules": [_module(evaluation, frame, inputs) for frame in _in_order(evaluation)],
        "backend": _backend(evaluation),
    }


def _in_order(evaluation: ValueQueries) -> list[Frame]:
    found = [evaluation.run.root]
    for frame in found:
        for call in frame.calls.values():
            found.extend(evaluation.module_instances(call).values())
    return sorted(found, key=lambda frame: frame.instance.addr.sort_key())


def _module(evaluation: ValueQueries, frame: Frame, inputs: Inputs) -> Data:
    evaluation.evaluate(
        [*frame.variables.values(), *frame.locals.values(), *frame.outputs.values()]
    )
    module = frame.module
    return {
        "address": str(frame.instance.addr),
        "variant": str(frame.instance.shown_variant),
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
        "calls": {name: _call(evaluation, frame, name) for name in module.calls},
        "providers": _providers(evaluation, frame),
        "required_providers": {
            name: _requirement(evaluation, frame, required)
            for name, required in module.required_providers.items()
        },
    }


def _call(evaluation: ValueQueries, frame: Frame, name: str) -> Data:
    call = frame.module.calls[name]
    children = evaluation.module_instances(frame.calls[name])
    found: Data = {"instances": [_key(key) for key in children]}
    for argument, expr in (("source", call.source), ("version", call.version)):
        if expr is not None:
            found[argument] = {
                _text(key): _evaluated(
                    evaluation, f"{argument} of module.{name}", child, frame, expr
                )
                for key, child in children.items()
            }
    found["providers"] = {
        str(each.in_child): reference_text(each.in_parent) for each in call.providers
    }
    return found


def _requirement(evaluation: ValueQueries, frame: Frame, required: RequiredProvider) -> Data:
    found: Data = {"source": str(provider_of(frame.module, required.name))}
    if required.version is not None:
        name = f"version of the required provider {required.name}"
        found["version"] = _evaluated(evaluation, name, None, frame, required.version)
    return found


def _evaluated(
    evaluation: ValueQueries, name: str, child: Frame | None, caller: Frame, expr: Expression
) -> Data:
    data = NO_INSTANCE_DATA if child is None else child.instance.data
    origin = compiled_origin(caller, expr, data)
    return _known(name, evaluation.value(name, origin), origin)


def _providers(evaluation: ValueQueries, frame: Frame) -> Data:
    """The configurations that the module has, and those that its caller gives it."""
    found: Data = {}
    call = frame.instance.call
    passed = {each.in_child.config: each for each in (call.providers if call else ())}
    for addr in [*frame.module.provider_configs, *passed]:
        entry: Data = {"provider": str(provider_of(frame.module, addr.name))}
        own = evaluation.run.providers[frame].get(addr)
        if own is not None:
            evaluation.evaluate([own])
            entry["instances"] = [_key(key) for key in own.instances]
        else:
            entry["passed"] = reference_text(passed[addr].in_parent)
            behind = provider_behind(frame, addr)
            if behind is not None and passed[addr].in_parent.key is None:
                instances = evaluation.run.providers[behind[0]][behind[1]].instances
                entry["instances"] = [_key(key) for key in instances]
        found[str(addr)] = entry
    return found


def _backend(evaluation: ValueQueries) -> Data | None:
    root = evaluation.run.root
    backend = root.module.backend
    if backend is None:
        return None
    arguments: Data = {}
    for name, attribute in backend.body.just_attributes(Diagnostics()).items():
        what, origin = f"backend.{name}", compiled_origin(root, attribute.expr)
        value = marked(backend.type, name, evaluation.value(what, origin))
        arguments[name] = _known(what, value, origin)
    return {"type": backend.type, "arguments": arguments}


def _known(name: str, value: Value, origin: Origin | None) -> Data:
    unmarked, marks = value.unmark_deep()
    found: Data = {"static": unmarked.is_wholly_known}
    if SENSITIVE in marks:
        found["sensitive"] = True
    elif marks:
        found["ephemeral"] = True
    elif unmarked.is_wholly_known:
        found["value"] = without_credentials(json.loads(value_to_json(unmarked, unmarked.type)))
    why = reasons(name, unmarked, origin)
    if why:
        found["reasons"] = why
    return found


def _key(key: InstanceKey) -> str | int | None:
    return "*" if isinstance(key, Deferred) else key


def _text(key: InstanceKey) -> str:
    return "" if key is None else str(_key(key))
