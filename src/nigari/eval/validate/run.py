"""The validate phase: evaluation of the whole tree, once, with unknown values.

Nothing is expanded and no variable needs a value: a variable is any value of its type, and a module
tells its caller nothing of its outputs but their names. What the static phase found (the tree,
and what is wrong with its sources) is taken from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from nigari.addrs.absolute import Abs, AbsResource, resource_of, within
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.provider import LocalProviderConfig
from nigari.addrs.resource import ACTION, MANAGED
from nigari.addrs.values import ProviderFunction
from nigari.config.blocks.module_call import ModuleCall
from nigari.config.blocks.output import Output
from nigari.config.blocks.resource import Resource
from nigari.config.blocks.variable import Variable
from nigari.config.core.declared import Repetition
from nigari.config.core.provider_ref import ProviderRef
from nigari.cty.function import Function
from nigari.cty.paths import path_text
from nigari.cty.types import BOOL
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.causes import REPORTED, CauseKind, UnknownCause, causes_within
from nigari.eval.core.deprecation import deprecated_variable
from nigari.eval.core.instances import (
    FAILED,
    CallNode,
    Frame,
    ResourceNode,
    ValueNode,
)
from nigari.eval.core.module_tree import InstanceData, ModuleInstance, deferred_data
from nigari.eval.core.scope import evaluate
from nigari.eval.core.worklist import DONE, Effect, Need, Node, Stages
from nigari.eval.nodes.check_node import CheckNode
from nigari.eval.nodes.module_call import TreeCall, expand, is_remote
from nigari.eval.nodes.phase_run import PhaseRun
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.provider_keys import check_provider_key
from nigari.eval.nodes.provider_names import find_config
from nigari.eval.nodes.resource import (
    Rules,
    Schemas,
    ValidateConfig,
    ValidatedResource,
    needs_of_dependencies,
    needs_of_values,
)
from nigari.eval.nodes.validation import Validation
from nigari.eval.nodes.variable import (
    ArgumentVariable,
    UnknownVariable,
    VariableNode,
    missing_variable,
)
from nigari.eval.static.run import StaticRun
from nigari.eval.validate.output import ValidatedOutput
from nigari.eval.validate.provider import ValidatedProvider, ValidateProvider
from nigari.hcl.body import Attribute
from nigari.hcl.expressions import Expression
from nigari.hcl.suggestion import did_you_mean, listed
from nigari.lang.marks import EPHEMERAL
from nigari.lang.references import Reference
from nigari.lang.types import dropped_attributes
from nigari.providers.api import ProviderDiagnostic

TYPE_CHECKING = False
# Few configurations import anything.
if TYPE_CHECKING:
    from typing import Final

    from nigari.eval.validate.import_block import ValidatedImport

_MOST_NAMED: Final = 3
"""The most instances that one diagnostic lists."""

ProviderValidation = ValidateConfig | ValidateProvider
"""The requests to providers."""


FindFunction = Callable[[Frame, ProviderFunction, Reference, list[Need], Diagnostics], Function]
"""Gives a function of a provider; calls that have no answer yet are put among the needs."""


class CheckedArgument(ArgumentVariable):
    """A variable of a called module: the argument must fit, and is then forgotten by all but the
    variable's own validations.
    """

    __slots__ = ("given",)

    def __init__(self, frame: Frame, variable: Variable, argument: Attribute | None) -> None:
        super().__init__(frame, variable, argument)
        self.given: Value = FAILED

    def step(self) -> Sequence[Need]:
        needs = super().step()
        if not needs:
            self._warn()
            self.given = self.value
            self.take_unknown(missing_variable(self))
        return needs

    def _warn(self) -> None:
        """Point at what is right but surely not meant."""
        argument, variable, diags = self.argument, self.variable, self.frame.run.diags
        if argument is None:
            return
        if variable.deprecated and REPORTED not in causes_within(self.value):
            where, remote = argument.expr.range, is_remote(self.frame)
            diags.append(deprecated_variable(self.label, variable.deprecated, remote, where))
        for dropped in dropped_attributes(argument.expr, variable.type):
            diags.warning(
                "Unused object attribute",
                f"The type of {self.label} has no attribute {path_text(dropped.path)}, so this "
                f"value is dropped.{did_you_mean(dropped.name, dropped.wanted.attributes)}",
                dropped.name_range,
            )


class ArgumentValidation(Validation):
    """The validations of a called module's variable, which alone know what is given for it."""

    __slots__ = ("_argument",)

    def __init__(self, argument: CheckedArgument) -> None:
        super().__init__(argument)
        self._argument = argument

    def _frame(self) -> Frame:
        variable = self._argument.variable
        known = UnknownVariable(self._argument.frame, variable)
        known.value, known.state = self._argument.given, DONE
        return self._argument.frame.with_variable(variable.name, known)


class Contents(Node):
    """Everything in a called module, for those that depend on the whole of it."""

    __slots__ = ("_call", "_gate", "_run")

    def __init__(self, call: TreeCall, gate: Node | None, run: ValidateRun) -> None:
        super().__init__()
        self._call = call
        self._run = run
        self._gate = gate

    @property
    def label(self) -> str:
        return self._call.label

    @property
    def range(self) -> Range:
        return self._call.range

    def fail(self) -> None:
        """Nothing depends on its result."""

    def step(self) -> Sequence[Need]:
        call = self._call
        if call.state != DONE:
            return (call,)
        needs: list[Need] = []
        if self._gate is not None and self._gate.state != DONE:
            needs.append(self._gate)
        for frame in self._run.first_frames(call.frames.values()):
            inner = [each.contents for each in frame.calls.values() if each.contents is not None]
            for nodes in (
                frame.variables.values(),
                frame.locals.values(),
                frame.outputs.values(),
                frame.resources.values(),
                inner,
            ):
                needs.extend(node for node in nodes if node.state != DONE)
        return needs


class ValidateRun(PhaseRun):
    """One look at the whole tree that the static phase found.

    Of the instances of one variant, one stands for all; but each has arguments of its own.
    """

    is_opaque = True
    checks_instances = True

    def __init__(
        self,
        static: StaticRun,
        schemas: Schemas,
        is_before_plan: bool = False,
        is_before_import: bool = False,
    ) -> None:
        super().__init__(static.functions, static.root_path, static.working_path)
        self._is_before_plan = is_before_plan
        """True if a plan follows, which checks `enabled` itself where it matters."""
        self._is_before_import = is_before_import
        """True if an object is being imported, so that managed resources may be incomplete."""
        self._schemas = schemas
        self._static = static
        self._gates: dict[CallNode, Node | None] = {}
        self._answers: dict[ProviderValidation, Sequence[ProviderDiagnostic]] = {}
        self._imports: dict[AbsResource, list[ValidatedImport]] = {}
        """The import blocks, by the resources that they are for."""
        self._importing: set[Frame] = set()
        """The module instances whose import blocks are among them."""
        self._configured = {frame.instance: nodes for frame, nodes in static.providers.items()}
        """The provider blocks of each module instance, as the static phase saw them."""
        self._providers: set[tuple[Frame, LocalProviderConfig]] = set()
        """The blocks of providers that something uses."""
        self._first: dict[ModuleAddr, Frame] = {}
        """The frames that stand for their variants."""
        self._members: dict[ModuleAddr, list[ModuleAddr]] = {}
        for each in static.frames():
            self._members.setdefault(each.instance.variant, []).append(each.instance.addr)
        self.find_function: FindFunction | None = None
        """The caller of provider functions; without it they give no results."""
        self.open(static.root.instance, None)

    def terraform(self, name: str) -> Value:
        if name == "workspace":
            return self._static.terraform(name)
        cause = UnknownCause(CauseKind.RUN_TIME, ROOT_MODULE, f"terraform.{name}")
        return unknown(BOOL).with_causes((cause,)).mark(EPHEMERAL)

    def provider_function(
        self,
        frame: Frame,
        function: ProviderFunction,
        reference: Reference,
        needs: list[Need],
        diags: Diagnostics,
    ) -> Function | None:
        from nigari.eval.nodes.provider_functions import deferred_function, report_no_provider

        name = function.provider
        if name not in frame.module.required_providers:
            report_no_provider(function, frame, reference, diags)
            return deferred_function(function, None)
        self._use_provider(frame, name, function.alias)
        provider = provider_of(frame.module, name)
        if provider.is_builtin:
            return self._static.provider_function(frame, function, reference, needs, diags)
        offered = self._schemas.of(provider)
        if offered is None:
            return deferred_function(function, None)
        # One that the schema does not have may be there once the provider is configured.
        signature = offered.functions.get(function.function)
        if signature is not None and self.find_function is not None:
            return self.find_function(frame, function, reference, needs, diags)
        return deferred_function(function, signature)

    def input_node(self, frame: Frame, variable: Variable) -> ValueNode:
        return UnknownVariable(frame, variable, variable.name in self._static.inputs)

    def argument_node(
        self, frame: Frame, variable: Variable, argument: Attribute | None
    ) -> ValueNode:
        return CheckedArgument(frame, variable, argument)

    def output_node(self, frame: Frame, output: Output) -> ValueNode:
        return ValidatedOutput(frame, output, self._gate(frame))

    def call_node(self, frame: Frame, call: ModuleCall) -> CallNode:
        node = TreeCall(frame, call)
        self._gates[node] = self._gate_of(node, self._gate(frame))
        node.contents = Contents(node, self._gates[node], self)
        return node

    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        self._open_imports(frame)
        imports = self._imports.get(Abs(frame.instance.addr.unkeyed, resource.addr), ())
        gate = self._gate(frame)
        waits = imports if gate is None else (gate, *imports)
        if self._is_before_import and resource.addr.mode is MANAGED:
            from nigari.eval.validate.incomplete_resource import IncompleteResource

            return IncompleteResource(frame, resource, self._schemas, self, waits)
        if resource.addr.mode is ACTION:
            from nigari.eval.nodes.validated_action import ValidatedAction

            return ValidatedAction(frame, resource, self._schemas, self, waits)
        return ValidatedResource(frame, resource, self._schemas, self, waits)

    def opened(self, frame: Frame) -> None:
        self._open_imports(frame)
        call = frame.instance.call
        if frame.parent is not None and call is not None:
            reported = len(self.diags)
            _check_arguments(frame, call, self.diags)
            self.diags.name_since(reported, frame.about)
        first = self._first.setdefault(frame.instance.variant, frame)
        if first is not frame:
            frame.outputs = first.outputs
            self.work.want(_given(frame))
            # A call may have instances here, and none in the module instance that stands for all.
            self.work.want(frame.calls.values())
            return
        self.work.want(_everything(frame))
        self.work.want(self._provider_repetitions(frame))
        self.work.want(self._passed_keys(frame))
        resources = frame.module.resources.values()
        for name, alias in {(each.provider_name, each.provider_alias) for each in resources}:
            self._use_provider(frame, name, alias)

    def first_frames(self, frames: Iterable[Frame]) -> Iterable[Frame]:
        """Those of some frames that stand for their variants."""
        return (each for each in frames if self._first.get(each.instance.variant) is each)

    def about(self, instance: ModuleInstance) -> str:
        members = self._members.get(instance.variant, [])
        if len(members) < 2:
            return super().about(instance)
        shown = instance.shown_variant
        if shown == shown.unkeyed:
            return ""
        names = [str(each) for each in members]
        if len(names) > _MOST_NAMED + 1:
            names = [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} more"]
        return listed(names)

    def _gate(self, frame: Frame) -> Node | None:
        """The needs of everything in a module instance."""
        call = frame.instance.call
        if frame.parent is None or call is None:
            return None
        return self._gates[frame.parent.calls[call.name]]

    def _open_imports(self, frame: Frame) -> None:
        """Add the import blocks of a module instance; those of its callers are there already."""
        if not frame.module.imports or self._is_before_import or frame in self._importing:
            return
        from nigari.eval.validate.import_block import ValidatedImport

        self._importing.add(frame)
        for block in frame.module.imports:
            node = ValidatedImport(frame, block, self._schemas)
            if block.provider is not None:
                self._use_provider(frame, block.provider.name, block.provider.alias)
            resource = within(frame.instance.addr, resource_of(block.shape)).unkeyed
            self._imports.setdefault(resource, []).append(node)
            self.want(node)

    def _gate_of(self, node: TreeCall, outer: Node | None) -> Node | None:
        """The needs of everything in a called module: the call's repetition and dependencies."""
        frame, call = node.frame, node.call
        if call.repetition.is_single and not call.depends_on:
            return outer
        data = deferred_data(call.repetition)
        gate = CheckNode(
            frame.label(f"module.{call.name}"),
            Stages(
                lambda: () if outer is None or outer.state == DONE else (outer,),
                partial(self.check_repetition, frame, call.repetition),
                partial(needs_of_dependencies, frame, call.depends_on or ()),
                partial(needs_of_values, frame, call.dependency_values, data),
            ),
            call.range,
            frame.about,
        )
        self.want(gate)
        return gate

    def check_repetition(self, frame: Frame, repetition: Repetition) -> Sequence[Need]:
        if self._is_before_plan and repetition.enabled is not None:
            return _check_expression(frame, repetition.enabled)
        expansion = expand(frame, repetition)
        return expansion if isinstance(expansion, list) else ()

    def provider_instances(
        self, frame: Frame, config: LocalProviderConfig
    ) -> Mapping[InstanceKey, InstanceData]:
        node = self._configured.get(frame.instance, {}).get(config)
        return {} if node is None else node.instances

    def _passed_keys(self, frame: Frame) -> Iterable[Node]:
        """The keys of the provider instances that calls pass on."""
        for call in frame.module.calls.values():
            name = frame.label(f"providers of module.{call.name}")
            for passed in call.providers:
                ref = passed.in_parent
                if ref.key is not None:
                    check = partial(self._check_passed_key, frame, call, ref)
                    yield CheckNode(name, Stages(check), ref.key.range, frame.about)

    def _check_passed_key(self, frame: Frame, call: ModuleCall, ref: ProviderRef) -> Sequence[Need]:
        assert ref.key is not None
        compiled = frame.instance.compiled.expression(ref.key)
        value = evaluate(frame, compiled, deferred_data(call.repetition))
        if not isinstance(value, Value):
            return value
        known = self.provider_instances(frame, ref.config)
        check_provider_key(frame, ref, value, known, f"module.{call.name}")
        return ()

    def _provider_repetitions(self, frame: Frame) -> Iterable[Node]:
        for config in frame.module.provider_configs.values():
            repeated = config.for_each or config.count
            if repeated is not None:
                name = frame.label(f"provider.{config.addr}")
                check = partial(_check_expression, frame, repeated)
                yield CheckNode(name, Stages(check), config.range, frame.about)

    def _use_provider(self, frame: Frame, name: str, alias: str) -> None:
        """Check the block behind a name, once. One that nothing uses does not matter, and an
        empty one may be filled from outside.
        """
        found = find_config(frame, name, alias)
        config = found.config
        if config is None or (found.frame, config.addr) in self._providers:
            return
        self._providers.add((found.frame, config.addr))
        offered = self._schemas.of(found.provider)
        if offered is not None and not config.is_empty:
            block = offered.provider.block
            self.want(ValidatedProvider(found.frame, config, found.provider, block, self))

    def answer(self, effect: ProviderValidation) -> Sequence[ProviderDiagnostic] | None:
        return self._answers.get(effect)

    def tell(self, effect: ProviderValidation, reported: Sequence[ProviderDiagnostic]) -> None:
        """Take note of what a provider has said."""
        self._answers[effect] = reported

    def run(self, ask: Callable[[ProviderValidation], Sequence[ProviderDiagnostic]]) -> None:
        """Check everything. `ask` gets a provider's opinion of a configuration."""

        def answer(effects: Sequence[Effect]) -> None:
            for effect in effects:
                assert isinstance(effect, ProviderValidation)
                self._answers[effect] = ask(effect)
                self.work.answer(effect)

        self.work.run(answer)


def _everything(frame: Frame) -> Iterable[Node]:
    """Whatever there is to look at in a module instance."""
    module = frame.module
    yield from _given(frame)
    yield from frame.locals.values()
    yield from frame.outputs.values()
    yield from frame.calls.values()
    yield from frame.resources.values()
    for check in module.checks.values():
        name = frame.label(f"check.{check.name}")
        rules = Rules(frame, check.asserts, check=check.name)
        yield CheckNode(name, Stages(rules.step), about=frame.about)


def _given(frame: Frame) -> Iterable[Node]:
    """Check the arguments of a module instance."""
    yield from frame.variables.values()
    for variable in frame.variables.values():
        if not isinstance(variable, VariableNode):
            continue
        if variable.does_without_default:
            name = f"default of {variable.label}"
            yield CheckNode(name, Stages(variable.check_default), about=frame.about)
        if variable.variable.validations:
            if isinstance(variable, CheckedArgument):
                yield ArgumentValidation(variable)
            else:
                yield Validation(variable)


def _check_expression(frame: Frame, expr: Expression) -> Sequence[Need]:
    value = evaluate(frame, frame.instance.compiled.expression(expr))
    return value if isinstance(value, list) else ()


def _check_arguments(frame: Frame, call: ModuleCall, diags: Diagnostics) -> None:
    """Compare the arguments of a call with the variables of the module it calls."""
    caller = frame.parent
    assert caller is not None
    variables = frame.module.variables
    arguments = caller.instance.compiled.arguments(call, Diagnostics())
    for name, attribute in arguments.items():
        if name not in variables:
            hint = did_you_mean(name, [other for other in variables if other not in arguments])
            diags.error(
                "Unexpected argument",
                f'The module has no variable named "{name}".{hint}',
                attribute.name_range,
            )
    for name, variable in variables.items():
        if variable.default is None and name not in arguments:
            diags.error(
                "Missing argument",
                f'The module requires a value for its variable "{name}". Add an argument with '
                "that name to the call.",
                call.body.missing_item_range,
            )
