"""The static phase: everything that can be known before anything runs.

It finds the tree of module instances and where each comes from, and gives values to whatever does
not depend on resources. A resource is unknown here, and so is a variable without a value:
neither is an error unless a place that needs a value now depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.provider import LocalProviderConfig, Provider
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.core.literals import is_written_out
from nigari.cty.values import FALSE, Value, string, unknown
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import CauseKind, Phase, UnknownCause
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.instances import CallNode, Frame, ResourceNode, ValueNode
from nigari.eval.core.module_tree import (
    NO_INSTANCE_DATA,
    InstallModule,
    InstanceData,
    ModuleInstance,
    Modules,
)
from nigari.eval.core.static_position import StaticPosition, fill, fill_text
from nigari.eval.core.worklist import Effect, Need, Node, Stages
from nigari.eval.nodes.phase_run import MakeCall, PhaseRun
from nigari.eval.nodes.provider_config import ProviderConfigNode, provider_of
from nigari.eval.static.variants import find_variants
from nigari.record import record

TYPE_CHECKING = False
# A node is imported when something has to be evaluated by it: nothing has in a configuration that
# says literally what it calls and requires.
if TYPE_CHECKING:
    from typing import TypeVar

    from nigari.addrs.values import ProviderFunction
    from nigari.config.blocks.encryption import EncryptionBlock
    from nigari.config.blocks.module_call import ModuleCall
    from nigari.config.blocks.output import Output
    from nigari.config.blocks.removed import Removed
    from nigari.config.blocks.resource import Resource
    from nigari.config.blocks.symbols import LibraryCall
    from nigari.config.blocks.variable import Variable
    from nigari.config.core.written_address import WrittenAddress
    from nigari.config.symbol_files import LibraryDeclarations
    from nigari.cty.function import Function
    from nigari.eval.core.inputs import Inputs
    from nigari.eval.core.symbol_library import Libraries, SymbolLibrary
    from nigari.eval.nodes.lifecycle import RemovedSettings, ResourceSettings, StaticAddress
    from nigari.eval.nodes.resource import Schemas
    from nigari.eval.nodes.variable import VariableNode
    from nigari.eval.static.required import RequiredSourceNode
    from nigari.hcl.body import Attribute
    from nigari.hcl.expressions import Expression
    from nigari.lang.references import Reference

    T = TypeVar("T")


@record
class StaticSettings:
    """The surroundings of the static phase."""

    inputs: Inputs
    functions: Mapping[str, Function]
    modules: Modules
    workspace: str = "default"
    root_path: str = "."
    working_path: str = "."
    address: ModuleAddr = ROOT_MODULE
    """The address of the module that the run starts with."""
    schemas: Schemas | None = None
    """Provider schemas that are available without starting a process."""
    expanded: frozenset[tuple[ModuleAddr, str]] = frozenset()
    """The calls whose instances must be known one by one, each with its module without keys."""
    provider_function: Callable[[Provider, ProviderFunction], Function | None] | None = None
    """Functions of providers that can be called without starting any."""


class MissingValues:
    """Missing inputs that would make more values known: calls to expand and variables to prompt
    for.
    """

    __slots__ = ("differing", "expansions", "variables")

    def __init__(self) -> None:
        self.expansions: set[tuple[ModuleAddr, str]] = set()
        self.differing: set[tuple[ModuleAddr, str]] = set()
        """The calls whose `each` or `count` decides from where a module comes."""
        self.variables: dict[str, UnknownCause] = {}


class StaticResource(ResourceNode):
    """A resource in the static phase: it will be something, once it has been planned."""

    __slots__ = ()

    def __init__(self, frame: Frame, resource: Resource, schemas: Schemas | None) -> None:
        from nigari.eval.nodes.resource import resource_schema

        super().__init__(frame, resource)
        provider = provider_of(frame.module, resource.provider_name)
        offered = None if schemas is None else schemas.of(provider)
        schema = resource_schema(offered, resource.addr)
        repetition = resource.repetition
        if schema is not None and repetition.count is None and repetition.for_each is None:
            self.element: Value = unknown(schema.block.implied_type)

    def step(self) -> Sequence[Need]:
        resource = self.resource
        cause = UnknownCause(
            CauseKind.RESOURCE,
            self.frame.instance.addr,
            str(resource.addr),
            resource.range,
            Phase.APPLY,
        )
        self.value: Value = self.element.with_causes((cause,))
        return ()


class StaticRun(PhaseRun):
    """One pass over the whole tree. What it asks for, another one is given."""

    hides_dynamic = True
    """True if variables with `const = false` have no value, so that static positions cannot use
    them.
    """

    def __init__(
        self,
        root: CompiledModule,
        settings: StaticSettings,
        expanded: frozenset[tuple[ModuleAddr, str]] = frozenset(),
        can_ask: bool = False,
    ) -> None:
        super().__init__(settings.functions, settings.root_path, settings.working_path)
        self.missing: MissingValues = MissingValues()
        self._settings = settings
        self._expanded = expanded
        self._can_ask = can_ask
        self.endless: list[CompiledModule] = []
        self.recursions = 0
        self._answers: dict[Effect, CompiledModule | None] = {}
        self.providers: dict[Frame, dict[LocalProviderConfig, ProviderConfigNode]] = {}
        """The provider configurations of each module instance."""
        self.resource_settings: dict[tuple[Frame, ResourceAddr], ResourceSettings] = {}
        """The static arguments of the resources that have any."""
        self.removed: dict[tuple[Frame, Removed], RemovedSettings] = {}
        """Settings of `removed` blocks."""
        self._sources: list[RequiredSourceNode] = []
        self.addresses: dict[tuple[Frame, WrittenAddress], StaticAddress] = {}
        """The addresses in `moved` and `removed` blocks that have keys to be evaluated."""
        self._library_users: dict[ModuleAddr, ModuleInstance] = {}
        """Symbol libraries, as callers of those that they use themselves."""
        self._libraries: dict[int, tuple[LibraryDeclarations, SymbolLibrary]] = {}
        """Evaluated symbol libraries, by the identity of their declarations."""
        self._completed: dict[tuple[int, ...], CompiledModule] = {}
        self.open(ModuleInstance(settings.address, root), None)

    def noting(self, work: Callable[[], T]) -> tuple[T, Diagnostics]:
        """Return the result of a function and the diagnostics that it reported."""
        child = self.diags.child()
        with self.reporting_to(child):
            result = work()
        self.diags.extend(child)
        return result, child

    # -- what nodes ask for ---------------------------------------------------------------------

    def terraform(self, name: str) -> Value:
        if name == "workspace":
            return string(self._settings.workspace)
        from nigari.lang.marks import EPHEMERAL

        # Nothing is being applied while the static phase lasts.
        return FALSE.mark(EPHEMERAL)

    def provider_function(
        self,
        frame: Frame,
        function: ProviderFunction,
        reference: Reference,
        needs: list[Need],
        diags: Diagnostics,
    ) -> Function | None:
        from nigari.eval.nodes.provider_functions import deferred_function, report_no_provider

        if function.provider not in frame.module.required_providers:
            report_no_provider(function, frame, reference, diags)
            return deferred_function(function, None)
        provider = provider_of(frame.module, function.provider)
        find, schemas = self._settings.provider_function, self._settings.schemas
        found = None if find is None else find(provider, function)
        offered = None if schemas is None else schemas.of(provider)
        if found is not None or offered is not None:
            return found
        return deferred_function(function, None)

    def opened(self, frame: Frame) -> None:
        if frame.symbols or frame.module.has_open_types:
            from nigari.eval.static.libraries import CompletedModule

            self.work.want((CompletedModule(frame, self),))
        self.work.want(frame.calls.values())
        self.work.want(self.providers[frame].values())
        self.work.want(self._static_places(frame))

    def look_into(self, instance: ModuleInstance, parent: Frame, like: Frame) -> Frame:
        from nigari.eval.static.module_call import InstancedCall

        frame = self.make_frame(
            instance,
            parent,
            lambda frame, call: InstancedCall(frame, call, self, like.calls[call.name]),
        )
        frame.symbols = like.symbols
        return frame

    def instances_of(self, call: CallNode) -> Mapping[InstanceKey, Frame]:
        """The instances of a call, as far as it is known which there are."""
        expanded = call.expanded
        self.evaluate([expanded])
        return expanded.frames

    def make_frame(
        self, instance: ModuleInstance, parent: Frame | None, call_node: MakeCall
    ) -> Frame:
        frame = super().make_frame(instance, parent, call_node)
        if frame.module.symbols and not instance.compiled.libraries:
            from nigari.eval.static.libraries import library_nodes

            frame.symbols = library_nodes(frame, self)
        self.providers[frame] = {
            addr: ProviderConfigNode(frame, config, self.request)
            for addr, config in frame.module.provider_configs.items()
        }
        return frame

    def input_node(self, frame: Frame, variable: Variable) -> ValueNode:
        from nigari.eval.nodes.variable import DynamicVariable, RootVariable

        given = self._settings.inputs.get(variable.name)
        if variable.open_type is not None:
            from nigari.eval.static.libraries import OpenDynamicVariable, OpenRootVariable

            if self._is_hidden(variable):
                return _validated(OpenDynamicVariable(frame, variable))
            return _validated(OpenRootVariable(frame, variable, given))
        if self._is_hidden(variable):
            return _validated(DynamicVariable(frame, variable))
        return _validated(RootVariable(frame, variable, given))

    def argument_node(
        self, frame: Frame, variable: Variable, argument: Attribute | None
    ) -> ValueNode:
        from nigari.eval.nodes.variable import DynamicVariable, StaticArgument

        if variable.open_type is not None:
            from nigari.eval.static.libraries import OpenArgument, OpenDynamicVariable

            if self._is_hidden(variable):
                return _validated(OpenDynamicVariable(frame, variable))
            return _validated(OpenArgument(frame, variable, argument))
        if self._is_hidden(variable):
            return _validated(DynamicVariable(frame, variable))
        return _validated(StaticArgument(frame, variable, argument))

    def output_node(self, frame: Frame, output: Output) -> ValueNode:
        if output.open_type is None:
            return super().output_node(frame, output)
        from nigari.eval.static.libraries import OpenOutput

        return OpenOutput(frame, output)

    def _is_hidden(self, variable: Variable) -> bool:
        return variable.const is False and self.hides_dynamic

    def call_node(self, frame: Frame, call: ModuleCall) -> CallNode:
        from nigari.eval.static.module_call import StaticCall

        return StaticCall(frame, call, self)

    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        """Return the node that represents a resource in this phase."""
        return StaticResource(frame, resource, self._settings.schemas)

    def _static_places(self, frame: Frame) -> Iterator[Node]:
        """Everything else in a module that needs a value before anything runs."""
        module, compiled = frame.module, frame.instance.compiled
        for name, variable in module.variables.items():
            if variable.const:
                from nigari.eval.static.const_variable import ConstVariable

                yield ConstVariable(frame.variables[name], self.request)
            elif variable.default is not None and not compiled.is_written_out(variable.default):
                from nigari.eval.static.const_variable import default_check

                yield default_check(frame, variable.name, variable.default, self.request)
        for addr, resource in module.resources.items():
            if resource.has_static_arguments:
                from nigari.eval.nodes.lifecycle import ResourceSettings

                settings = ResourceSettings(frame, resource, self._request_later)
                self.resource_settings[frame, addr] = settings
                yield settings
        yield from self._required(frame)
        if frame.parent is None and module.encryption is not None:
            yield from self._enforced(frame, module.encryption)
        for removed in module.removed:
            from nigari.eval.nodes.lifecycle import RemovedSettings

            self.removed[frame, removed] = RemovedSettings(frame, removed, self._request_later)
            yield self.removed[frame, removed]
        written = [address for each in module.moved for address in (each.source, each.target)]
        for address in (*written, *(each.source for each in module.removed)):
            if address.keys:
                from nigari.eval.nodes.lifecycle import StaticAddress

                node = StaticAddress(frame, address, self._request_later)
                self.addresses[frame, address] = node
                yield node

    def _required(self, frame: Frame) -> Iterator[Node]:
        """Yield the nodes for a module's provider and version requirements that are not literals."""
        for version in frame.module.required_versions:
            if version.counts and not is_written_out(version.expr):
                from nigari.eval.static.required import ProgramVersion

                yield ProgramVersion(frame, version, self.request)
        for required in frame.module.required_providers.values():
            source = required.source
            if source is not None and not is_written_out(source):
                from nigari.eval.static.required import RequiredSourceNode

                node = RequiredSourceNode(frame, required, self.request)
                self._sources.append(node)
                yield node

    def _enforced(self, frame: Frame, encryption: EncryptionBlock) -> Iterator[Node]:
        """Yield the nodes that determine whether states and plans must be encrypted, if that is not
        literal.
        """
        for target in (encryption.state, encryption.plan):
            expr = None if target is None else target.enforced
            if target is not None and expr is not None and not is_written_out(expr):
                slot = StaticPosition(
                    f"enforced of {target.name}", frame, expr, self.request, takes_secrets=True
                )
                from nigari.eval.nodes.check_node import CheckNode

                yield CheckNode(slot.what, Stages(partial(_filled, slot)), expr.range)

    def must_expand(self, module: ModuleAddr, call: str) -> bool:
        return (module.unkeyed, call) in self._expanded

    def module_source(
        self, frame: Frame, call: ModuleCall, data: InstanceData
    ) -> tuple[str, str | None] | list[Need] | None:
        return self._source(frame, f"module.{call.name}", call, data)

    def library_source(
        self, frame: Frame, call: LibraryCall
    ) -> tuple[str, str | None] | list[Need] | None:
        return self._source(frame, f"symbols.{call.name}", call)

    def _source(
        self,
        frame: Frame,
        name: str,
        call: ModuleCall | LibraryCall,
        data: InstanceData = NO_INSTANCE_DATA,
    ) -> tuple[str, str | None] | list[Need] | None:
        source = fill_text(
            StaticPosition(
                f"source of {frame.label(name)}",
                frame,
                call.source,
                self._request_source,
                data,
            )
        )
        if isinstance(source, list):
            return source
        if call.version is None:
            return None if source is None else (source, None)
        slot = StaticPosition(
            f"version of {frame.label(name)}", frame, call.version, self._request_source, data
        )
        version = fill_text(slot, takes_null=True)
        if isinstance(version, list):
            return version
        if version is not None and not _is_constraint(version, call.version, self.diags):
            return None
        return None if source is None else (source, version)

    def request(self, cause: UnknownCause) -> bool:
        """Request what would make a value known; False if nothing would."""
        if cause.kind in (CauseKind.EACH, CauseKind.COUNT):
            return self.request_expansion(cause.module, cause.name.removeprefix("module."))
        if cause.kind is CauseKind.MISSING_VARIABLE and self._can_ask:
            self.missing.variables[cause.name.removeprefix("var.")] = cause
            return True
        return False

    def request_expansion(self, module: ModuleAddr, call: str) -> bool:
        """Have a call expanded in the next run; False where it is in this one."""
        wanted = (module.unkeyed, call)
        if self.must_expand(*wanted):
            return False
        self.missing.expansions.add(wanted)
        return True

    def _request_source(self, cause: UnknownCause) -> bool:
        """The same for what decides from where a module comes."""
        if cause.kind in (CauseKind.EACH, CauseKind.COUNT):
            call = cause.name.removeprefix("module.")
            self.missing.differing.add((cause.module.unkeyed, call))
        return self.request(cause)

    def _request_later(self, cause: UnknownCause) -> bool:
        """The same for what only planning needs: by then every variable has a value."""
        return cause.kind is CauseKind.MISSING_VARIABLE or self.request(cause)

    def is_answered(self, effect: Effect) -> bool:
        return effect in self._answers

    def installed(self, effect: Effect) -> CompiledModule | None:
        return self._answers[effect]

    def library_at(self, directory: str) -> LibraryDeclarations | None:
        return self._settings.modules.library_at(directory, self.diags)

    def add_library(self, instance: ModuleInstance) -> None:
        self._library_users[instance.addr] = instance

    def evaluated_library(self, declared: LibraryDeclarations, inner: Libraries) -> SymbolLibrary:
        from nigari.eval.static.library_values import evaluate_library

        known = self._libraries.get(id(declared))
        if known is None:
            library = evaluate_library(declared, inner, self.functions, self.diags)
            known = self._libraries[id(declared)] = declared, library
        return known[1]

    def completed(self, module: CompiledModule, libraries: Libraries) -> CompiledModule:
        key = (id(module.declared), *(id(each) for each in libraries.values()))
        known = self._completed.get(key)
        if known is None:
            known = self._completed[key] = module.with_libraries(libraries, self.diags)
        return known.at(module.module.directory)

    @property
    def inputs(self) -> Inputs:
        """The values that are given for the variables of the first module."""
        return self._settings.inputs

    @property
    def static_settings(self) -> StaticSettings:
        """The surroundings of the run."""
        return self._settings

    def libraries(self) -> Iterator[ModuleAddr]:
        """The addresses of the symbol libraries that have been found."""
        return iter(self._library_users)

    # -- running --------------------------------------------------------------------------------

    def providers_found(self) -> Mapping[str, Provider]:
        """The providers that the root module means, where their sources have been evaluated."""
        return {
            node.required.name: node.provider
            for node in self._sources
            if node.provider is not None and node.required.provider is None
        }

    def find_variants(self, differing: AbstractSet[tuple[ModuleAddr, str]]) -> None:
        """Group module instances into variants, now that all static values are known."""
        found: dict[ModuleInstance, list[tuple[object, ...]]] = {}
        for (frame, _), settings in self.resource_settings.items():
            found.setdefault(frame.instance, []).append(settings.facts)
        for (frame, _), removed in self.removed.items():
            found.setdefault(frame.instance, []).append(removed.facts)
        for (frame, _), address in self.addresses.items():
            found.setdefault(frame.instance, []).append((str(address.traversal),))
        facts = {instance: tuple(each) for instance, each in found.items()}
        find_variants((frame.instance for frame in self.frames()), facts, differing)

    def evaluate(self, nodes: Sequence[Node]) -> None:
        """Work out these nodes and whatever they need."""
        self.work.want(nodes)
        self.work.run(self._answer)

    def _answer(self, effects: Sequence[Effect]) -> None:
        """Answer all effects of a round at once, so that whatever they wait for overlaps."""
        wanted: list[tuple[InstallModule, ModuleInstance]] = []
        for effect in effects:
            assert isinstance(effect, InstallModule)
            wanted.append((effect, self._instance(effect.addr.parent or ROOT_MODULE)))
        # A value that a validation has refused causes no second error.
        refused = {each.checked for each in self.diags if each.checked}
        allowed = [each for each in wanted if not (refused and _comes_from(refused, *each))]
        modules = self._settings.modules.load_all(allowed, self.diags)
        loaded = dict(zip((effect for effect, _ in allowed), modules, strict=True))
        for effect, _ in wanted:
            self._answers[effect] = loaded.get(effect)
            self.work.answer(effect)

    def _instance(self, addr: ModuleAddr) -> ModuleInstance:
        library = self._library_users.get(addr)
        if library is not None:
            return library
        instance = self.root.instance
        for name, key in addr.steps[instance.addr.depth :]:
            instance = instance.children[name][key]
        return instance


def _comes_from(refused: set[str], effect: InstallModule, caller: ModuleInstance) -> bool:
    """Return whether the source or version of a call depends on one of these variables."""
    from nigari.eval.static.input_dependencies import variables_behind

    call = caller.module.call_at(effect.addr.name)
    return any(
        f"{place.addr.text}.var.{name}".removeprefix(".") in refused
        for expr in (call.source, call.version)
        if expr is not None
        for place, name in variables_behind(caller, expr)
    )


def _validated(node: VariableNode) -> VariableNode:
    """Make a variable check its validations as soon as it has its value."""
    if node.variable.validations:
        from nigari.eval.nodes.validation import Validation

        node.then = Validation(node)
    return node


def _is_constraint(text: str, expr: Expression, diags: Diagnostics) -> bool:
    """Return whether a module call's version constraint is valid, and report it otherwise."""
    from nigari.lang.versions import parse_module_constraints

    return parse_module_constraints(text, diags, expr.range) is not None


def _filled(slot: StaticPosition) -> Sequence[Need]:
    found = fill(slot)
    return found if isinstance(found, list) else ()


def run_static(
    root: CompiledModule,
    settings: StaticSettings,
    can_ask: bool = False,
    fill_places: Callable[[StaticRun], None] | None = None,
) -> StaticRun:
    """The static phase, repeated until every expansion that a static place needs is made, and
    every provider of the root module is known.

    `fill_places` fills the static places that are not found in modules as they are opened.
    """
    expanded, differing = settings.expanded, set[tuple[ModuleAddr, str]]()
    while True:
        run = StaticRun(root, settings, expanded, can_ask)
        run.evaluate(())
        providers = run.providers_found()
        if providers:
            # Parts evaluated so far have assumed other providers.
            root = root.with_providers(providers)
            continue
        if fill_places is not None:
            fill_places(run)
        if not run.missing.expansions:
            run.find_variants(differing)
            return run
        differing |= run.missing.differing
        expanded |= run.missing.expansions


def slot_value(run: StaticRun, slot: StaticPosition) -> Value | None:
    """The value of a slot, with whatever it needs worked out first."""
    while True:
        value = fill(slot)
        if value is None or isinstance(value, Value):
            return value
        run.evaluate([need for need in value if isinstance(need, Node)])
