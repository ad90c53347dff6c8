"""Test coverage: the declarations that runs have touched, and those that none has.

Declarations count, not instances: a resource is covered once any run has planned an instance of it,
a condition once it has both held and failed, a branch once it was taken. An output of the tested
module is covered if an assertion or a later run uses it. Only modules in the working directory
count, not packages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from nigari.addrs.resource import ACTION
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import CheckRule, Repetition
from nigari.config.module import Module
from nigari.config.test_files import TestRun
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.instances import Frame
from nigari.eval.core.keyed_references import element_of
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import Binding, expanded_body
from nigari.hcl.body import Block, Body
from nigari.hcl.decode import schema_of
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.traversal import TraverseAttr
from nigari.record import record
from nigari.running.provider_run import ProviderRun
from nigari.schema.block import Block as SchemaBlock
from nigari.schema.decode import decoder_spec
from nigari.testing.branches import taken_branches, truth_of, written_branches
from nigari.testing.chains import FinishedEvaluation

KINDS: Final = (
    "resource",
    "data",
    "ephemeral",
    "module",
    "output",
    "validation",
    "precondition",
    "postcondition",
    "check",
    "branch",
)
_CONDITIONS: Final = ("validation", "precondition", "postcondition", "check")
_TOUCHED: Final = "touched"
_HELD: Final = "held"
_FAILED: Final = "failed"
_MOST_INSTANCES: Final = 100
"""Maximum number of inspected instances of a block: more of them hardly change the result."""

_Key = tuple[str, str, int]
"""Kind of an item, and its position."""


@record
class CoverageItem:
    """A declaration that tests can touch."""

    kind: str
    """One of `KINDS`."""
    module: str
    """Directory of the module."""
    name: str
    """Name of the item or its owner: `aws_vpc.main`, `output.id`, `var.region`; for a branch, its
    text.
    """
    range: Range
    missing: str = ""
    """Description of the missing test; empty if the item is covered."""

    @property
    def is_covered(self) -> bool:
        return not self.missing


@record
class Coverage:
    """Items touched by tests."""

    items: tuple[CoverageItem, ...]
    """All items, by module and position."""

    def count(self, kind: str = "") -> tuple[int, int]:
        """Count covered and all items, of a kind or altogether."""
        found = [each for each in self.items if not kind or each.kind == kind]
        return sum(each.is_covered for each in found), len(found)

    @property
    def missing(self) -> tuple[CoverageItem, ...]:
        """Items that are not covered."""
        return tuple(each for each in self.items if not each.is_covered)


class CoverageRecorder:
    """Records the items that runs touch."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self._modules: Mapping[str, Module] = {
            each.directory: each for each in modules if not each.directory.startswith(".terraform")
        }
        self._seen: dict[_Key, set[str]] = {}

    def result(self) -> Coverage:
        """Return the coverage so far."""
        found = [
            item
            for directory in sorted(self._modules)
            for item in self._items(self._modules[directory])
        ]
        return Coverage(tuple(found))

    def _items(self, module: Module) -> Iterator[CoverageItem]:
        things = {each.key: each for each in _things(module)}
        for key in sorted(things, key=lambda each: each[1:]):
            thing = things[key]
            where = thing.source.range(thing.start, thing.end)
            missing = _missing(thing.kind, self._seen.get(key, set()))
            yield CoverageItem(thing.kind, module.directory, thing.name, where, missing)

    # -- what a run has touched -----------------------------------------------------------------

    def note_run(self, phase: ProviderRun, evaluation: FinishedEvaluation) -> None:
        """Record everything in a configuration that was planned or applied."""
        for frame in list(phase.frames()):
            if frame.module.directory in self._modules:
                self._frame(frame, phase, evaluation)

    def note_uses(self, module: Module, run: TestRun) -> None:
        """Record the outputs that the assertions of a run use, or that it expects to fail."""
        names = _named([rule.condition for rule in run.asserts], "output")
        names |= {
            step.name
            for traversal in run.expected
            if traversal.root_name == "output"
            for step in traversal.steps[1:2]
            if isinstance(step, TraverseAttr)
        }
        self._note_outputs(module, names)

    def note_outputs(self, module: Module, run: TestRun, earlier: str) -> None:
        """Record the outputs of an earlier run that a run uses."""
        self._note_outputs(module, _named(run.variables.values(), "run", earlier))

    def _note_outputs(self, module: Module, names: Iterable[str]) -> None:
        for name in names:
            output = module.outputs.get(name)
            if output is not None:
                self._touch(_block("output", name, output.block))

    def _touch(self, thing: _Thing, how: str = _TOUCHED) -> None:
        self._seen.setdefault(thing.key, set()).add(how)

    def _frame(self, frame: Frame, phase: ProviderRun, evaluation: FinishedEvaluation) -> None:
        module = frame.module
        for local in module.locals.values():
            self._branches(frame, local.expr)
        for output in module.outputs.values():
            self._branches(frame, output.expr)
            self._rules("precondition", output.preconditions, frame)
            if frame.parent is not None:
                self._touch(_block("output", output.name, output.block))
        for variable in module.variables.values():
            self._rules("validation", variable.validations, frame)
        for check in module.checks.values():
            self._rules("check", check.asserts, frame)
        for name, call in frame.calls.items():
            declared = module.calls[name]
            for expr in _repeating(declared.repetition):
                self._branches(frame, expr)
            for child in list(call.frames.values())[:_MOST_INSTANCES]:
                self._touch(_block("module", name, declared.block))
                for attribute in declared.body.just_attributes(Diagnostics()).values():
                    self._branches(frame, attribute.expr, child.instance.data)
        for resource in _resources(module):
            self._resource(frame, resource, phase, evaluation)

    def _resource(
        self, frame: Frame, resource: Resource, phase: ProviderRun, evaluation: FinishedEvaluation
    ) -> None:
        for expr in _repeating(resource.repetition):
            self._branches(frame, expr)
        instances = evaluation.resource_instances(frame, resource).instances
        node, lifecycle = frame.resources[resource.addr], resource.lifecycle
        kind = resource.addr.mode.value
        for key, data in list(instances.items())[:_MOST_INSTANCES]:
            self._touch(_block(kind, resource.addr.text, resource.block))
            for expr in _evaluated(frame, resource, data, phase):
                self._branches(frame, expr, data)
            self._rules("precondition", lifecycle.preconditions, frame, data)
            value = element_of(node.value, key)
            self._rules("postcondition", lifecycle.postconditions, frame, data, value)

    def _branches(
        self, frame: Frame, expr: Expression, data: InstanceData = NO_INSTANCE_DATA
    ) -> None:
        if any(True for _ in written_branches(expr)):
            for branch in taken_branches(expr, _scope(frame, expr, data)):
                self._touch(_branch(branch))

    def _rules(
        self,
        kind: str,
        rules: Sequence[CheckRule],
        frame: Frame,
        data: InstanceData = NO_INSTANCE_DATA,
        self_value: Value | None = None,
    ) -> None:
        for rule in rules:
            truth = truth_of(rule.condition, _scope(frame, rule.condition, data, self_value))
            if truth is not None:
                self._touch(_block(kind, kind, rule.block), _HELD if truth else _FAILED)


@record
class _Thing:
    """An item of coverage with its position."""

    kind: str
    name: str
    source: Source
    start: int
    end: int

    @property
    def key(self) -> _Key:
        return (self.kind, self.source.filename, self.start)


def _block(kind: str, name: str, block: Block) -> _Thing:
    return _Thing(kind, name, block.source, block.def_start, block.def_end)


def _branch(expr: Expression) -> _Thing:
    text = expr.source.glimpse(expr.start, expr.end)
    return _Thing("branch", text, expr.source, expr.start, expr.end)


def _things(module: Module) -> Iterator[_Thing]:
    """Yield all items of a module."""
    for name, variable in module.variables.items():
        yield from (
            _block("validation", f"var.{name}", each.block) for each in variable.validations
        )
    for name, output in module.outputs.items():
        yield _block("output", f"output.{name}", output.block)
        rules = output.preconditions
        yield from (_block("precondition", f"output.{name}", each.block) for each in rules)
    for name, check in module.checks.items():
        yield from (_block("check", f"check.{name}", each.block) for each in check.asserts)
    for name, call in module.calls.items():
        yield _block("module", f"module.{name}", call.block)
    for resource in _resources(module):
        addr, lifecycle = resource.addr, resource.lifecycle
        yield _block(addr.mode.value, str(addr), resource.block)
        for kind, rules in (
            ("precondition", lifecycle.preconditions),
            ("postcondition", lifecycle.postconditions),
        ):
            yield from (_block(kind, str(addr), each.block) for each in rules)
    for expr in _expressions(module):
        yield from map(_branch, written_branches(expr))


def _resources(module: Module) -> list[Resource]:
    """The resources that evaluation knows instances of: an action has them only when it is invoked."""
    return [each for each in module.resources.values() if each.addr.mode is not ACTION]


def _expressions(module: Module) -> Iterator[Expression]:
    """Yield the expressions whose branches are items."""
    yield from (local.expr for local in module.locals.values())
    yield from (output.expr for output in module.outputs.values())
    for call in module.calls.values():
        yield from _repeating(call.repetition)
        yield from _written(call.body)
    for resource in _resources(module):
        yield from _repeating(resource.repetition)
        yield from _written(resource.body)


def _repeating(repetition: Repetition) -> Iterator[Expression]:
    for expr in (repetition.count, repetition.for_each, repetition.enabled):
        if expr is not None:
            yield expr


def _written(body: Body) -> Iterator[Expression]:
    """Yield the expressions in a body, at any depth."""
    pending = [body]
    while pending:
        current = pending.pop()
        for attribute in current.just_attributes(Diagnostics()).values():
            yield attribute.expr
        if isinstance(current, NativeBody):
            hidden = current.hidden_blocks
            pending += [block.body for block in current.blocks if block.type not in hidden]


def _decoded(body: Body, schema: SchemaBlock) -> Iterator[Expression]:
    """Yield the expressions of a body as decoded by its schema, at any depth."""
    pending = [(body, schema)]
    while pending:
        current, known = pending.pop()
        content, _ = current.partial_content(schema_of(decoder_spec(known)), Diagnostics())
        yield from (attribute.expr for attribute in content.attributes.values())
        for block in content.blocks:
            nested = known.blocks.get(block.type)
            if nested is not None:
                pending.append((block.body, nested.block))


def _evaluated(
    frame: Frame, resource: Resource, data: InstanceData, phase: ProviderRun
) -> Iterator[Expression]:
    """Yield the expressions of a resource instance, including those of `dynamic` blocks."""
    schema = phase.schema_of(frame, resource)
    if schema is None:
        return
    compiled = frame.instance.compiled.body(resource.body, decoder_spec(schema.block))
    body = expanded_body(frame, compiled, data)
    if not isinstance(body, list):
        yield from _decoded(body, schema.block)


def _missing(kind: str, seen: set[str]) -> str:
    """Describe the missing test of an item."""
    if kind in _CONDITIONS:
        if not seen:
            return "no run has checked it"
        if len(seen) == 1:
            return "it has never failed" if _HELD in seen else "it has never held"
        return ""
    if seen:
        return ""
    if kind == "output":
        return "no assertion and no other run uses it"
    return "no run has taken it" if kind == "branch" else "no run has planned it"


def _scope(
    frame: Frame, expr: Expression, data: InstanceData, self_value: Value | None = None
) -> Scope:
    """Build the scope of an expression's evaluation, without values that are unknown."""
    binding = Binding(frame, data, self_value, diags=Diagnostics())
    binding.bind(frame.instance.compiled.expression(expr).references)
    return binding.scope()


def _named(expressions: Iterable[Expression], root: str, second: str = "") -> set[str]:
    """Collect the names after `root.`, or after `root.second.`, in expressions."""
    found: set[str] = set()
    at = 2 if second else 1
    for expr in expressions:
        for traversal in expr.variables():
            names = [each.name for each in traversal.steps[1:] if isinstance(each, TraverseAttr)]
            if traversal.root_name != root or len(names) < at:
                continue
            if not second or names[0] == second:
                found.add(names[at - 1])
    return found
