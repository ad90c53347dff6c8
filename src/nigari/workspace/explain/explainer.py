"""Answers to "what is this value, when is it known, and why": for any address or expression.

An address is written as in a configuration, with a module path before it where that is not the
root: `module.net["eu"].local.cidr`. It can also be an expression, such as `aws_instance.web[*].id`,
or a place that needs a value: `module.a.source`, `backend.key`, `provider.aws.by_region`, a
resource's argument.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from nigari.addrs.keys import DEFERRED, InstanceKey, key_from_value, key_text
from nigari.addrs.module import ModuleAddr
from nigari.addrs.parse import parse_given, parse_module
from nigari.addrs.provider import LocalProviderConfig
from nigari.addrs.resource import ResourceInstance
from nigari.backends.harmless import marked
from nigari.config.blocks.module_call import ModuleCall
from nigari.cty.values import object_value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import Phase, UnknownCause
from nigari.eval.core.expansion import Expansion
from nigari.eval.core.instances import CallNode, Frame, Origin
from nigari.eval.core.module_tree import InstanceData
from nigari.hcl.parser import parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean, did_you_mean_name, listed
from nigari.lang.marks import SENSITIVE
from nigari.lang.references import Reference, parse_reference
from nigari.lazy import lazy_pattern
from nigari.record import record, replace
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.explain.explanation import Explanation, ExplanationBuilder
from nigari.workspace.explain.queries import (
    ValueQueries,
    any_instance,
    compiled_origin,
    missing_instances,
    provider_behind,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Match

_MODULE_STEP = lazy_pattern(r'module\.[\w-]+(?:\["(?:[^"\\]|\\.)*"\]|\[\d+\])?(?=\.(?!\*)|$)')


_PROVIDER = lazy_pattern(r'provider\.([\w-]+)(?:\.([\w-]+))?(?:\[("(?:[^"\\]|\\.)*"|\d+)\])?')


@record
class _NamedResource:
    """A resource, or one of its instances, that an address names."""

    key: InstanceKey
    instances: Mapping[InstanceKey, InstanceData]
    """Those that the resource has."""
    argument: Origin | None
    """The expression of the argument that is named, if there is one."""
    missing: UnknownCause | None
    """The cause of an argument's missing value: there are no instances."""

    @property
    def is_there(self) -> bool:
        """Return whether the instance exists, as far as that is known."""
        keys = {None, *(str(key) for key in self.instances if isinstance(key, int))}
        return self.key in keys or self.key in self.instances or DEFERRED in self.instances


class Explainer:
    """Looks things up in the static phase of a configuration."""

    def __init__(
        self, evaluation: ValueQueries, diags: Diagnostics, where: WorkingDirectory
    ) -> None:
        self._evaluation = evaluation
        self._run = evaluation.run
        self._builder = ExplanationBuilder(evaluation)
        self._diags = diags
        self._where = where
        self.sources: dict[str, bytes] = {}
        """The query, so that diagnostics can point into it."""

    def address(self, text: str) -> Explanation | None:
        """The object at an address; None if there is none, which is reported."""
        explanation = self._at(text)
        if explanation is None or explanation.phase != Phase.APPLY.value:
            return explanation
        # References and schemas matter only if another block decides.
        from nigari.workspace.explain.round_estimate import least_rounds
        from nigari.workspace.plugins.provider_schemas import schema_lookup

        least = least_rounds(self._evaluation, text, schema_lookup(self._where))
        return replace(explanation, least_rounds=least)

    def _at(self, text: str) -> Explanation | None:
        found = self._split(text)
        if found is None:
            return None
        frame, rest, key = found
        if frame.parent is not None:
            rest = _member(frame, rest)
        several = None if key is not None else self._of_instances(frame, rest, text)
        if several is not None:
            return several
        resource = self._resource(frame, rest)
        if resource is not None and not resource.is_there:
            self._report(text, _keys(resource.instances))
            return None
        errors = self._diags.error_count
        origin = self._place(frame, rest, key) if resource is None else resource.argument
        if self._diags.error_count > errors:
            return None
        if origin is not None:
            missing = None if resource is None else resource.missing
            found_there = self._builder.expression(
                text, origin, origin.compiled.expr.range, "", missing
            )
            if missing is None and not self._is_right(found_there, origin):
                return None
            return self._as_shown(frame, rest, found_there)
        origin = self._named(frame, rest, text)
        if origin is None:
            return None
        # The address itself is written nowhere: what it names is what is explained.
        label = frame.label(rest)
        named = self._builder.expression(text, origin, None, label)
        if not self._is_right(named, origin):
            return None
        own = named.parts[0] if len(named.parts) == 1 else None
        if own is None or own.name != label:
            return named
        if named.phase == "error" and (own.phase != "error" or not _is_declared(own)):
            return named
        return replace(own, name=text, value=named.value, chains=named.chains)

    def _of_instances(self, frame: Frame, rest: str, text: str) -> Explanation | None:
        """A place of a call that differs among its instances, for all of them; None where it does
        not.
        """
        parts = rest.split(".")
        call = frame.calls.get(parts[1]) if parts[0] == "module" and len(parts) == 3 else None
        if call is None or call.call.repetition.has_one_value or DEFERRED in call.frames:
            return None
        expr = call.call.source if parts[2] == "source" else call.call.version
        if expr is None or len(call.frames) < 2:
            return None
        found: list[Explanation] = []
        for key, child in call.frames.items():
            origin = compiled_origin(frame, expr, child.instance.data)
            name = f"{frame.instance.addr.child(call.call.name, key)}.{parts[2]}"
            found.append(self._builder.expression(name, origin, expr.range))
        if len({(str(each.value), each.phase) for each in found}) < 2:
            return None
        by_key = {str(key): each.value for key, each in zip(call.frames, found, strict=True)}
        value = object_value(by_key)
        return Explanation(text, value, expr.range, (), tuple(found), line=found[0].line)

    def _as_shown(self, frame: Frame, rest: str, found: Explanation) -> Explanation:
        """An argument of a backend without its value, where that may be a secret."""
        kind, _, name = rest.rpartition(".")
        backend = frame.module.backend
        if kind != "backend" or backend is None:
            return found
        is_secret = SENSITIVE in marked(backend.type, name, found.value).marks
        return found.without_values() if is_secret else found

    def expression(self, text: str, module: str = "") -> Explanation | None:
        """The value of an expression in a module."""
        frame = self.frame(module)
        if frame is None:
            return None
        errors = self._diags.error_count
        expr = parse_expression(self._source("<expression>", text), self._diags)
        if self._diags.error_count > errors:
            return None
        origin = compiled_origin(frame, expr)
        found = self._builder.expression(text, origin, None)
        return found if self._is_right(found, origin) else None

    def _is_right(self, found: Explanation, origin: Origin) -> bool:
        """Return whether all references behind a value are valid, and report those that are not,
        unless the value's error was reported already.
        """
        if not origin.compiled.references or found.phase == "error":
            return True
        from nigari.workspace.explain.reference_check import check_references
        from nigari.workspace.plugins.provider_schemas import schema_lookup

        errors = self._diags.error_count
        check_references(self._evaluation, origin, schema_lookup(self._where), self._diags)
        return self._diags.error_count == errors

    # -- finding ------------------------------------------------------------------------------

    def _split(self, text: str) -> tuple[Frame, str, InstanceKey] | None:
        """The module that an address begins with, the rest, and the key where that is a place of a
        call.
        """
        last = end = 0
        while match := _MODULE_STEP.match(text, end):
            last, end = end, match.end() + 1
        path, rest = text[: max(end - 1, 0)], text[end:]
        if rest in ("source", "version") or not rest:
            return self._call_place(path, rest or "source")
        frame = self.frame(path)
        if frame is None or frame.parent is None or not _is_inside_output(frame, rest):
            return None if frame is None else (frame, rest, None)
        return frame.parent, text[last:], None

    def _call_place(self, path: str, which: str) -> tuple[Frame, str, InstanceKey] | None:
        addr = parse_module(path, self._diags) if path else None
        if addr is None or addr.parent is None:
            self._report(path or which, "")
            return None
        frame = self.frame(str(addr.parent))
        if frame is None:
            return None
        call = frame.module.calls.get(addr.name)
        if call is None:
            self._report(path, did_you_mean(addr.name, frame.calls))
            return None
        instances = self._call_instances(frame, call).instances
        if addr.key is not None and addr.key not in instances and DEFERRED not in instances:
            self._report(path, _keys(instances))
            return None
        return frame, f"module.{addr.name}.{which}", addr.key

    def _call_instances(self, frame: Frame, call: ModuleCall) -> Expansion:
        """The instances of a call, whether its module is installed or not."""
        name = f"module.{call.name}"
        return self._evaluation.expansion(frame, name, call.repetition, call.range)

    def _call_data(self, frame: Frame, call: ModuleCall, key: InstanceKey) -> InstanceData:
        """The values of `each` and `count` in a call, or in one of its instances."""
        frames = frame.calls[call.name].frames
        if key is None and frames:
            return next(iter(frames.values())).instance.data
        expansion = self._call_instances(frame, call)
        found = expansion.instances.get(key) or expansion.instances.get(DEFERRED)
        missing = missing_instances(expansion, frame, f"module.{call.name}", call.range)
        return found or any_instance(frame, call.repetition, missing)

    def frame(self, path: str) -> Frame | None:
        """The module instance with an address, which is reported if there is none."""
        addr: ModuleAddr | None = self._run.root.instance.addr
        if path:
            addr = parse_given(parse_module, path, self._diags)
        if addr is None:
            return None
        frame = self._run.root
        for name, key in addr.steps:
            call = frame.calls.get(name)
            if call is None:
                self._report(path, did_you_mean(name, frame.calls))
                return None
            child = self._instance(call, key)
            if child is None:
                self._report_key(path, key, self._evaluation.module_instances(call))
                return None
            frame = child
        return frame

    def _instance(self, call: CallNode, key: InstanceKey) -> Frame | None:
        """The instance of a call that has a key; without one, the instance that stands for all."""
        if key is DEFERRED or (key is None and not call.call.repetition.has_one_value):
            return call.frames.get(DEFERRED)
        frames = self._evaluation.module_instances(call)
        return frames.get(key, frames.get(DEFERRED))

    def _place(self, frame: Frame, rest: str, key: InstanceKey) -> Origin | None:
        """The expression of a place that needs a value, if the address is one."""
        parts = rest.split(".")
        module = frame.module
        if parts[0] == "module" and len(parts) == 3 and parts[1] in module.calls:
            call = module.calls[parts[1]]
            expr = call.source if parts[2] == "source" else call.version
            data = self._call_data(frame, call, key)
            return None if expr is None else compiled_origin(frame, expr, data)
        if parts[0] == "backend" and module.backend is not None:
            arguments = module.backend.body.just_attributes(Diagnostics())
            attribute = arguments.get(parts[-1])
            return None if attribute is None else compiled_origin(frame, attribute.expr)
        provider = _PROVIDER.fullmatch(rest)
        if provider is not None:
            return self._provider(frame, provider)
        if parts[0] == "output" and len(parts) == 2 and parts[1] in module.outputs:
            return compiled_origin(frame, module.outputs[parts[1]].expr)
        return None

    def _provider(self, frame: Frame, named: Match[str]) -> Origin | None:
        """The expression of a provider's instances, or of one of them."""
        name, alias, key = named.groups()
        found = provider_behind(frame, LocalProviderConfig(name, alias or ""))
        if found is None:
            return None
        config = found[0].module.provider_configs[found[1]]
        expr = config.for_each or config.count
        if expr is None or key is None:
            return None if expr is None else compiled_origin(found[0], expr)
        index = parse_expression(self._source("<address>", key), self._diags)
        value = index.value(Scope(), self._diags)
        instances = self._run.providers[found[0]][found[1]].instances
        wanted = key_from_value(value)
        if wanted not in instances:
            self._report(named[0], _keys(instances))
            return None
        argument = "each.value" if config.for_each is not None else "count.index"
        expr = parse_expression(self._source("<address>", argument), self._diags)
        data = replace(instances[wanted], expr=config.for_each or config.count)
        return compiled_origin(found[0], expr, data)

    def _resource(self, frame: Frame, rest: str) -> _NamedResource | None:
        """The resource that an address begins with, if it does."""
        reference = self._reference(rest)
        subject = None if reference is None else reference.subject
        if reference is None or not isinstance(subject, ResourceInstance):
            return None
        resource = frame.module.resources.get(subject.resource)
        if resource is None:
            return None
        expansion = self._evaluation.resource_instances(frame, resource)
        instances = expansion.instances
        missing = missing_instances(expansion, frame, str(resource.addr), resource.range)
        argument: Origin | None = None
        if len(reference.remaining) == 1:
            name = str(reference.remaining).lstrip(".")
            repetition = resource.repetition
            repeated = {"count": repetition.count, "for_each": repetition.for_each}
            written = resource.body.just_attributes(Diagnostics()).get(name)
            data = instances.get(subject.key) or instances.get(DEFERRED)
            data = data or any_instance(frame, repetition, missing)
            if (expr := repeated.get(name)) is not None:
                argument = compiled_origin(frame, expr)
            elif written is not None:
                argument = compiled_origin(frame, written.expr, data)
        return _NamedResource(subject.key, instances, argument, missing)

    def _reference(self, text: str) -> Reference | None:
        """The references of an address, as in an expression; None if it is none."""
        problems = Diagnostics()
        traversal = parse_expression(Source("<address>", text), problems).static_traversal()
        return None if traversal is None else parse_reference(traversal, problems)

    def _named(self, frame: Frame, rest: str, text: str) -> Origin | None:
        """An expression that names what the address means."""
        kind, _, name = rest.partition(".")
        declared = _declared_names(frame, kind)
        if declared is not None:
            # In an expression these words would be the type of a resource.
            if name in declared:
                self._diags.error("Nothing to explain", f"{text} is declared, but has no value.")
            else:
                meant = did_you_mean_name(name, declared)
                self._report(text, f' Did you mean "{kind}.{meant}"?' if meant else "")
            return None
        if not name and frame.parent is not None:
            # What a module has under a name of its own are outputs, and this is none of them.
            meant = did_you_mean_name(kind, frame.module.outputs)
            self._report(text, f' Did you mean the output "{meant}"?' if meant else "")
            return None
        problems = Diagnostics()
        expr = parse_expression(self._source("<address>", rest), problems)
        if problems.has_errors or not expr.variables():
            self._report(text, "")
            return None
        return compiled_origin(frame, expr)

    def _source(self, name: str, text: str) -> Source:
        self.sources[name] = text.encode("utf-8", "surrogateescape")
        return Source(name, text)

    def _report_key(
        self, text: str, key: InstanceKey, instances: Mapping[InstanceKey, object]
    ) -> None:
        if key is None and instances:
            detail = f'"{text}" stands for instances that differ. Add a key.{_keys(instances)}'
            self._diags.error("Missing instance key", detail)
        else:
            self._report(text, _keys(instances))

    def _report(self, text: str, hint: str) -> None:
        self._diags.error(
            "Nothing at this address", f'The configuration has nothing named "{text}".{hint}'
        )


def _declared_names(frame: Frame, kind: str) -> list[str] | None:
    """The names of a kind that has addresses, but no expressions."""
    module = frame.module
    if kind == "output":
        return [*module.outputs]
    if kind == "check":
        return [*module.checks]
    return [str(each) for each in module.provider_configs] if kind == "provider" else None


def _keys(instances: Mapping[InstanceKey, object]) -> str:
    """The keys that there are, for who has named another."""
    if None in instances:
        return " It has one instance, without a key."
    keys = [key_text(key) for key in instances]
    if not keys:
        return " It is declared, but has no instances."
    return (
        f" The only instance is {keys[0]}."
        if len(keys) == 1
        else f" The instances are {listed(keys)}."
    )


def _is_declared(found: Explanation) -> bool:
    """Return whether the value comes from a file rather than from the query itself."""
    return found.range is not None and not found.range.filename.startswith("<")


def _is_inside_output(frame: Frame, rest: str) -> bool:
    """Return whether the rest of a module's path is a part of an output, or a splat over one."""
    name = re.split(r"[.\[]", rest, maxsplit=1)[0]
    types = {each.type for each in frame.module.resources}
    return name != rest and name in frame.module.outputs and name not in types


def _member(frame: Frame, rest: str) -> str:
    """The meaning of a bare name after a module's path: an output, as in expressions, or else an
    argument of the call.
    """
    if rest in frame.module.outputs:
        return f"output.{rest}"
    return f"var.{rest}" if rest in frame.module.variables else rest
