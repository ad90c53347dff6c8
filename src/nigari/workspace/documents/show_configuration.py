"""A configuration as JSON data for other programs: the `configuration` of `show -json`.

It tells what is written, in OpenTofu's form: constants as values, everything else as the names it
refers to. How often something is repeated makes no difference here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from nigari.addrs.keys import key_text
from nigari.addrs.module import ModuleCallInstance, ModuleCallOutput
from nigari.addrs.provider import Provider
from nigari.addrs.resource import ACTION, DATA, MANAGED, ResourceInstance
from nigari.config.blocks.module_call import ModuleCall
from nigari.config.blocks.resource import Resource as ResourceBlock
from nigari.config.core.declared import Dependencies
from nigari.cty.errors import CtyError
from nigari.cty.json import value_to_json
from nigari.cty.type_json import type_to_json
from nigari.cty.types import DYNAMIC, STRING
from nigari.cty.values import Value, tuple_value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData, ModuleInstance
from nigari.eval.core.scope import evaluate, evaluate_origin
from nigari.eval.core.worklist import Node
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.provider_names import find_block
from nigari.eval.nodes.resource import resource_schema
from nigari.eval.nodes.variable import VariableNode, fitted
from nigari.eval.static.run import StaticRun
from nigari.hcl.body import Body, BodySchema, Content
from nigari.hcl.decode import schema_of
from nigari.hcl.decode_either import ArgumentOrBlocks
from nigari.hcl.dynamic_template import DYNAMIC_BLOCK
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.traversal import Traversal
from nigari.lang.marks import EPHEMERAL
from nigari.lang.references import (
    Reference,
    parse_reference,
    references_in_body,
    references_in_expression,
)
from nigari.schema.block import Block, Nesting
from nigari.schema.decode import decoder_spec
from nigari.schema.provider import ProviderSchema, Schema
from nigari.schema.provisioners import PROVISIONERS
from nigari.workspace.documents.show_provider_configs import ProviderConfigs, called_by

Data = dict[str, object]
Offered = Callable[[Provider], ProviderSchema | None]
"""Looks up a provider's schema."""

_MODES = {MANAGED: "managed", DATA: "data"}
_IN_ORDER = tuple(_MODES)


def schema_in(instance: ModuleInstance, resource: ResourceBlock, offered: Offered) -> Schema | None:
    """Return the provider's schema of a resource."""
    alias = "" if resource.provider is None else resource.provider.alias
    found = find_block(instance, resource.provider_name, alias)
    return resource_schema(offered(found.address.item.provider), resource.addr)


def configuration_data(run: StaticRun, offered: Offered) -> Data:
    """The whole configuration."""

    def provider_schema(frame: Frame, name: str) -> Block | None:
        schema = offered(provider_of(frame.module, name))
        return None if schema is None else schema.provider.block

    configs = ProviderConfigs(run, provider_schema, expressions)
    data: Data = {}
    found = configs.data()
    if found:
        data["provider_config"] = found
    data["root_module"] = _Modules(run, offered, configs).module([run.root])
    return data


class _Modules:
    """Tells modules, each with those that it calls in it."""

    def __init__(self, run: StaticRun, offered: Offered, configs: ProviderConfigs) -> None:
        self._run = run
        self._offered = offered
        self._configs = configs

    def module(self, alike: Sequence[Frame]) -> Data:
        """Return a module's declarations, for instances that are alike."""
        frame = alike[0]
        module = frame.module
        data: Data = {}
        if module.outputs:
            data["outputs"] = {name: _output(frame, name) for name in sorted(module.outputs)}
        blocks = sorted(module.resources.values(), key=_order)
        resources = [each for each in blocks if each.addr.mode is not ACTION]
        if resources:
            data["resources"] = [self._resource(frame, each) for each in resources]
        if len(resources) < len(blocks):
            actions = [each for each in blocks if each.addr.mode is ACTION]
            data["actions"] = [self._action(frame, each) for each in actions]
        if module.calls:
            data["module_calls"] = {
                name: found
                for call in sorted(module.calls)
                for name, found in self._variants(alike, call)
            }
        if module.variables:
            data["variables"] = {
                name: _variable(self._run, alike, name) for name in sorted(module.variables)
            }
        return data

    def _variants(self, callers: Sequence[Frame], name: str) -> Iterator[tuple[str, Data]]:
        """A call as one member, or as one for each variant of its instances."""
        variants = called_by(callers, name)
        for path, alike in variants.items():
            data = self._call(callers[0], name, alike)
            if len(variants) == 1:
                yield name, data
                continue
            keys = dict.fromkeys(each.instance.addr.key for each in alike)
            data["instance_keys"] = [*keys]
            yield f"{name}{key_text(path.key)}", data
        if not variants:
            yield name, self._call(callers[0], name, ())

    def _call(self, frame: Frame, name: str, alike: Sequence[Frame]) -> Data:
        call = frame.module.calls[name]
        child = alike[0] if alike else None
        if child is not None and child.parent is not None:
            frame = child.parent
        given = NO_INSTANCE_DATA if child is None else child.instance.data
        data: Data = {}
        source = _static_text(frame, call.source, given)
        if source:
            data["source"] = source
        wanted = set(_arguments(call)) if child is None else set(child.module.variables)
        arguments = {
            key: expression_data(expr) for key, expr in _arguments(call).items() if key in wanted
        }
        if arguments:
            data["expressions"] = dict(sorted(arguments.items()))
        data.update(_repetition(call.repetition.count, call.repetition.for_each))
        if child is not None:
            data["module"] = self.module(alike)
        version = "" if call.version is None else _static_text(frame, call.version, given)
        if version:
            data["version_constraint"] = version
        if call.depends_on:
            data["depends_on"] = _dependencies(call.depends_on)
        return data

    def _resource(self, frame: Frame, resource: ResourceBlock) -> Data:
        addr = resource.addr
        data: Data = {
            "address": str(addr),
            "mode": _MODES.get(addr.mode, "ephemeral"),
            "type": addr.type,
            "name": addr.name,
            "provider_config_key": self._configs.key_of(frame, resource),
        }
        if resource.provisioners:
            data["provisioners"] = [
                {"type": each.type, **_expressions(each.body, PROVISIONERS.get(each.type))}
                for each in resource.provisioners
            ]
        schema = schema_in(frame.instance, resource, self._offered)
        if schema is not None:
            data.update(_expressions(resource.body, schema.block))
            data["schema_version"] = schema.version
        data.update(_repetition(resource.repetition.count, resource.repetition.for_each))
        if resource.depends_on:
            data["depends_on"] = _dependencies(resource.depends_on)
        return data

    def _action(self, frame: Frame, action: ResourceBlock) -> Data:
        """An action in Terraform's form."""
        return {
            "address": str(action.addr),
            "type": action.addr.type,
            "name": action.addr.name,
            "provider_config_key": self._configs.key_of(frame, action),
            **_repetition(action.repetition.count, action.repetition.for_each),
        }


def _order(resource: ResourceBlock) -> tuple[int, str]:
    mode = resource.addr.mode
    return _IN_ORDER.index(mode) if mode in _IN_ORDER else len(_IN_ORDER), str(resource.addr)


def _output(frame: Frame, name: str) -> Data:
    output = frame.module.outputs[name]
    data: Data = {}
    if output.sensitive:
        data["sensitive"] = True
    if output.ephemeral:
        data["ephemeral"] = True
    if output.deprecated:
        data["deprecated"] = output.deprecated
    data["expression"] = expression_data(output.expr)
    if output.depends_on:
        data["depends_on"] = _dependencies(output.depends_on)
    if output.description:
        data["description"] = output.description
    return data


def _variable(run: StaticRun, alike: Sequence[Frame], name: str) -> Data:
    variable = alike[0].module.variables[name]
    data: Data = {}
    if variable.type is not DYNAMIC:
        data["type"] = json.loads(type_to_json(variable.type))
    if variable.default is None:
        data["required"] = True
    else:
        default = _common_default(run, alike, name)
        # What a default takes from secrets is a value, and the configuration has none.
        if default is not None and not default.contains_marked:
            data["default"] = json.loads(value_to_json(default, default.type))
    if variable.description:
        data["description"] = variable.description
    if variable.sensitive:
        data["sensitive"] = True
    if variable.ephemeral:
        data["ephemeral"] = True
    if variable.deprecated:
        data["deprecated"] = variable.deprecated
    return data


def _common_default(run: StaticRun, alike: Sequence[Frame], name: str) -> Value | None:
    """The default as the variable has it, after conversion to its type; None where instances that are
    alike in all else have several.
    """
    first, *others = alike
    default = converted_default(run, first, name)
    written = first.module.variables[name].default
    if default is None or written is None or first.instance.compiled.is_written_out(written):
        return default
    is_common = all(converted_default(run, each, name) == default for each in others)
    return default if is_common else None


def converted_default(run: StaticRun, frame: Frame, name: str) -> Value | None:
    """The default of a variable, as the variable has it; None where it is not known, or must not be
    stored. It may be any static expression.
    """
    node = frame.variables[name]
    origin = node.default_origin if isinstance(node, VariableNode) else None
    if origin is None:
        return None
    with run.reporting_to(Diagnostics()):
        while not isinstance(value := evaluate_origin(origin), Value):
            run.evaluate([need for need in value if isinstance(need, Node)])
    with suppress(CtyError):
        value = fitted(frame.module.variables[name], value)
    is_storable = value.is_wholly_known and EPHEMERAL not in value.unmark_deep()[1]
    return value if is_storable else None


def _repetition(count: Expression | None, for_each: Expression | None) -> Data:
    expr = count if count is not None else for_each
    found = {} if expr is None else expression_data(expr)
    if not found:
        return {}
    return {"for_each_expression" if count is None else "count_expression": found}


def _dependencies(written: Dependencies) -> list[str]:
    found = [parse_reference(each, Diagnostics()) for each in written]
    return ["" if each is None else str(each.subject) for each in found]


def _arguments(call: ModuleCall) -> dict[str, Expression]:
    attributes = call.body.just_attributes(Diagnostics())
    return {name: each.expr for name, each in attributes.items()}


# -- expressions ------------------------------------------------------------------------------


def _expressions(body: Body, block: Block | None) -> Data:
    found = {} if block is None else expressions(body, block)
    return {"expressions": found} if found else {}


def expressions(body: Body, block: Block) -> Data:
    """The arguments and nested blocks of a body, each as its expressions."""
    spec = decoder_spec(block)
    wanted = schema_of(spec)
    # Dynamic blocks are left out, but one in an override file replaces other blocks.
    asked = BodySchema(wanted.attributes, (*wanted.blocks, DYNAMIC_BLOCK))
    content, _ = body.partial_content(asked, Diagnostics())
    data: Data = {name: expression_data(each.expr) for name, each in content.attributes.items()}
    for name, piece in spec.pieces.items():
        if isinstance(piece, ArgumentOrBlocks) and content.blocks_of(name):
            data[name] = _blocks_data(piece, content)
    for name, nested in block.blocks.items():
        inner = [
            (each.labels, expressions(each.body, nested.block)) for each in content.blocks_of(name)
        ]
        if not inner:
            continue
        if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
            data[name] = inner[-1][1]
        elif nested.nesting is Nesting.MAP:
            data[name] = {labels[0]: each for labels, each in inner}
        else:
            data[name] = [each for _, each in inner]
    return dict(sorted(data.items()))


def expression_data(expr: Expression) -> Data:
    """An expression: its value if it is a constant, else what it refers to."""
    unreported = Diagnostics()
    value = expr.value(Scope(), unreported)
    references = references_in_expression(expr, Diagnostics())
    return _told(None if unreported.has_errors else value, references)


def _blocks_data(piece: ArgumentOrBlocks, content: Content) -> Data:
    """An attribute that is written as blocks, shown as an expression that is a list of them."""
    blocks = content.blocks_of(piece.type_name)
    unreported = Diagnostics()
    value = tuple_value([piece.decode_one(block, Scope(), unreported) for block in blocks])
    references = [
        reference
        for block in blocks
        for reference in references_in_body(block.body, piece.nested, Diagnostics())
    ]
    return _told(None if unreported.has_errors else value, references)


def _told(value: Value | None, references: Iterable[Reference]) -> Data:
    data: Data = {}
    if value is not None and value.is_wholly_known:
        plain, _ = value.unmark_deep()
        data["constant_value"] = json.loads(value_to_json(plain, plain.type))
    names = [text for reference in references for text in _names(reference)]
    if names:
        data["references"] = names
    return data


def _static_text(frame: Frame, expr: Expression, data: InstanceData) -> str:
    """The value of an expression in a static place."""
    value = evaluate(frame, frame.instance.compiled.expression(expr), data)
    if not isinstance(value, Value) or value.type != STRING:
        return ""
    plain, _ = value.unmark()
    return "" if plain.is_null or not plain.is_known else plain.as_string()


def _names(reference: Reference) -> Iterable[str]:
    """A reference, step by step less of it, down to what can be referred to."""
    subject = reference.subject
    remaining = reference.remaining
    for count in range(len(remaining.steps), 0, -1):
        yield f"{subject}{Traversal(remaining.source, remaining.steps[:count])}"
    yield str(subject)
    if isinstance(subject, ModuleCallOutput):
        yield str(subject.instance)
    elif isinstance(subject, ModuleCallInstance) and subject.key is not None:
        yield str(subject.call)
    elif isinstance(subject, ResourceInstance) and subject.key is not None:
        yield str(subject.resource)
