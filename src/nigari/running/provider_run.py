"""Base of runs with provider processes, for planning and applying.

A frame has a node for every declaration of its module. The module tree is that of the static phase;
where it has one deferred instance for a whole call, the actual instances replace it. All root
variables have values. Subclasses provide the nodes of resources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import Provider
from nigari.addrs.values import ProviderFunction
from nigari.config.blocks.module_call import ModuleCall
from nigari.config.blocks.resource import Resource
from nigari.config.blocks.variable import Variable
from nigari.cty.function import Function
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, boolean, string
from nigari.diagnostics import Diagnostics
from nigari.eval.core.expansion import Expansion
from nigari.eval.core.inputs import Inputs, missing_value
from nigari.eval.core.instances import Absent, CallNode, Frame, ValueNode
from nigari.eval.core.module_tree import InstanceData, ModuleInstance
from nigari.eval.core.worklist import DONE, Effect, Need
from nigari.eval.nodes.module_call import ModuleCallNode, expand
from nigari.eval.nodes.phase_run import PhaseRun
from nigari.eval.nodes.variable import ArgumentVariable, RootVariable
from nigari.events import SILENCE, Listener
from nigari.hcl.body import Attribute
from nigari.lang.marks import EPHEMERAL
from nigari.lang.references import Reference
from nigari.record import record
from nigari.running.declared_modules import declared_module, instance_like
from nigari.running.deferrals import Deferral, Deferrals, DeferredKind
from nigari.running.ephemeral_objects import EphemeralObjects
from nigari.running.function_calls import FunctionCalls
from nigari.running.provider_instances import ProviderInstances
from nigari.running.provider_pool import ProviderMetas, ProviderPool
from nigari.running.requests import ProviderRequest
from nigari.running.unknown_values import report_unknown_expansion
from nigari.schema.provider import Schema
from nigari.state.model import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.running.round_cache import RoundCache


@record
class RunSettings:
    """Inputs of planning and applying."""

    root: ModuleInstance
    inputs: Inputs
    functions: Mapping[str, Function]
    root_path: str
    working_path: str
    workspace: str = "default"
    listener: Listener = SILENCE
    kept: RoundCache | None = None
    """Cache shared by the rounds of a run, if there are several."""


class ProviderRun(PhaseRun):
    """A run over all modules, in which every variable has a value and every call its instances."""

    is_applying = False
    is_destroying = False
    """True if everything is destroyed, so that new values are irrelevant."""

    def __init__(
        self,
        run_settings: RunSettings,
        pool: ProviderPool,
        prior: State,
        deferrals: Deferrals | None = None,
    ) -> None:
        super().__init__(
            run_settings.functions,
            run_settings.root_path,
            run_settings.working_path,
            self._report,
        )
        self.pool = pool
        self.prior = prior
        """The prior state, after moves."""
        self.deferrals = deferrals
        """Deferrals to a later round; None if everything must be known."""
        self.providers: ProviderInstances = ProviderInstances(
            pool, prior.remembered, self.diags, deferrals
        )
        self.listener: Listener = run_settings.listener
        self.kept: RoundCache | None = run_settings.kept
        self.metas: ProviderMetas = ProviderMetas(pool, self.diags)
        self.ephemeral: EphemeralObjects = EphemeralObjects(pool.opened, self.diags, self.listener)
        self.unread: dict[AbsResourceInstance, str] = {}
        """Data sources of checks that could not be read, with the reason."""
        self._function_calls = FunctionCalls(pool, self.providers_of_functions(), self.diags)
        self._run_settings = run_settings

    def begin(self) -> Frame:
        return self.open(self._run_settings.root, None)

    def terraform(self, name: str) -> Value:
        """Return the value of `terraform.workspace` and similar names."""
        if name == "workspace":
            return string(self._run_settings.workspace)
        if name == "applying":
            return boolean(self.is_applying).mark(EPHEMERAL)
        return DYNAMIC_UNKNOWN

    def provider_function(
        self,
        frame: Frame,
        function: ProviderFunction,
        reference: Reference,
        needs: list[Need],
        diags: Diagnostics,
    ) -> Function | None:
        """Look up a provider-defined function."""
        return self._function_calls.function(frame, function, reference, needs, diags)

    def providers_of_functions(self) -> ProviderInstances:
        """Return the provider instances for function calls."""
        return self.providers

    def input_node(self, frame: Frame, variable: Variable) -> ValueNode:
        return GivenVariable(frame, variable, self._run_settings.inputs.get(variable.name))

    def argument_node(
        self, frame: Frame, variable: Variable, argument: Attribute | None
    ) -> ValueNode:
        return ArgumentVariable(frame, variable, argument)

    def call_node(self, frame: Frame, call: ModuleCall) -> CallNode:
        return ExpandedCall(frame, call, self)

    def schema_of(self, frame: Frame, resource: Resource) -> Schema | None:
        """Return the schema of a resource from its provider."""
        found = self.providers.config_for(frame, resource)
        return self.pool.schema_of(found.provider, resource.addr)

    def meta_at(self, module: ModuleAddr, provider: Provider) -> Value | None:
        """Return a module's metadata for a provider; None if it has none."""
        found = declared_module(self._run_settings.root, module)
        return None if found is None else self.metas.of(found, provider)

    async def perform(self, effect: Effect) -> None:
        """Perform a node's effect. An unexpected exception only affects that node."""
        assert isinstance(effect, ProviderRequest)
        try:
            await effect.perform()
        except Exception as error:  # noqa: BLE001 - nothing may stop the others
            self._report(effect.label, error)
            self.work.abandon(effect)

    def _report(self, label: str, error: Exception) -> None:
        from nigari.diagnostics.unexpected import unexpected

        self.diags.append(unexpected(f"The work on {label}", error))


def frame_at(root: Frame, module: ModuleAddr) -> Frame | None:
    """Return the frame at an address, if it exists."""
    frame = root
    for name, key in module.steps:
        call = frame.calls.get(name)
        child = None if call is None else call.frames.get(key)
        if child is None:
            return None
        frame = child
    return frame


class GivenVariable(RootVariable):
    """A variable of the root module, which must have a value."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        if self.given is None and self.variable.default is None:
            self.frame.run.diags.append(missing_value(self.variable))
            self.fail()
            return ()
        return super().step()


class ExpandedCall(ModuleCallNode):
    """A call with individually known instances, apart from deferred ones."""

    __slots__ = ("_run", "deferral")

    def __init__(self, frame: Frame, call: ModuleCall, run: ProviderRun) -> None:
        super().__init__(frame, call)
        self._run = run
        self.deferral: Deferral | None = None
        """Deferral of all or some instances."""

    def step(self) -> Sequence[Need]:
        frame, call = self.frame, self.call
        # A destroy follows the state, so mistakes here are irrelevant.
        diags = Diagnostics() if self._run.is_destroying else None
        expansion = expand(frame, call.repetition, diags=diags)
        if isinstance(expansion, list):
            return expansion
        instances = self._settled(expansion)
        if instances is None:
            self.has_failed: bool = True
            return ()
        found = frame.instance.children.get(call.name, {})
        for key, data in instances.items():
            template = found.get(key) or found.get(DEFERRED) or found.get(None)
            if template is None:
                self.has_failed = True
            else:
                child = _instance(frame.instance, call, key, data, template)
                self.frames[key] = frame.run.open(child, frame)
        return ()

    def _settled(self, expansion: Expansion) -> Mapping[InstanceKey, InstanceData] | None:
        """Return the known instances; None after reporting required but unknown ones."""
        frame, call, deferrals = self.frame, self.call, self._run.deferrals
        name = f"module.{call.name}"
        if deferrals is not None:
            found = deferrals.expanded(
                DeferredKind.MODULE,
                frame,
                name,
                call.repetition,
                expansion,
                call.range,
            )
            if found is not None:
                self.deferral, certain = found
                return certain
        if self._run.is_destroying:
            # The state knows the existing instances.
            return expansion.instances if expansion.deferred_by is None else expansion.certain
        return known_instances(frame, expansion, name, call)

    @property
    def undecided(self) -> Value | None:
        return None if self.deferral is None else self.deferral.value()

    def output(self, key: InstanceKey, name: str) -> Value | list[Need] | Absent:
        if self.deferral is None:
            return super().output(key, name)
        certain = self.frames.get(key)
        node = None if certain is None else certain.outputs.get(name)
        if node is None:
            return self.deferral.value()
        return node.value if node.state == DONE else [node]


def known_instances(
    frame: Frame, expansion: Expansion, name: str, block: ModuleCall | Resource
) -> Mapping[InstanceKey, InstanceData] | None:
    """Return the instances of an expansion, all of which must be known; None after reporting
    unknown ones.
    """
    if expansion.deferred_by is None:
        return None if expansion.is_wrong else expansion.instances
    report_unknown_expansion(frame, name, block.repetition, expansion.deferred_by)
    return None


def _instance(
    parent: ModuleInstance,
    call: ModuleCall,
    key: InstanceKey,
    data: InstanceData,
    template: ModuleInstance,
) -> ModuleInstance:
    """Return the instance of the static phase, or build one of those it represents."""
    if template.parent is parent and template.addr.key == key:
        return template
    return instance_like(template, parent, call, key, data)
