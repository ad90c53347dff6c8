"""What planning and applying share as hosts of the evaluator: real variables, real expansions.

A frame has a node for everything its module declares. The module tree is the one that the static
phase found; where that has one deferred instance for all of a call, the real instances take its
place. What a resource is, the host of the phase says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.values import ProviderFunction
from nigari.config.module_call import ModuleCall
from nigari.config.resource import Resource
from nigari.cty.function import Function
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, boolean, string
from nigari.diagnostics import Diagnostics
from nigari.eval.expansion import Expansion, InstanceData
from nigari.eval.inputs import Inputs
from nigari.eval.instances import Frame, ModuleInstance, ResourceNode
from nigari.eval.local import LocalValue
from nigari.eval.module_call import ModuleCallNode, expand
from nigari.eval.once import Need, Node, WorkList
from nigari.eval.output import OutputNode
from nigari.eval.provider_functions import deferred_function
from nigari.eval.variable import ArgumentVariable, RootVariable
from nigari.lang.references import Reference
from nigari.plan.unknown_values import report_unknown_expansion


class Host(ABC):
    """A run over all modules in which every variable has a value and every call its instances."""

    is_opaque = False
    is_applying = False

    def __init__(
        self,
        root: ModuleInstance,
        inputs: Inputs,
        functions: Mapping[str, Function],
        root_path: str,
        working_path: str,
        workspace: str = "default",
    ) -> None:
        self.diags = Diagnostics()
        self.functions = functions
        self.root_path = root_path
        self.working_path = working_path
        self.work = WorkList()
        self._inputs = inputs
        self._workspace = workspace
        self._frames: list[Frame] = []
        self._root_instance = root

    def begin(self) -> Frame:
        """Open the root module."""
        return self.open(self._root_instance, None)

    @property
    def root(self) -> Frame:
        """The root module."""
        return self._frames[0]

    def frames(self) -> Iterator[Frame]:
        """Every module instance that has been found, callers first."""
        return iter(self._frames)

    def terraform(self, name: str) -> Value:
        """What `terraform.workspace` and its like stand for."""
        if name == "workspace":
            return string(self._workspace)
        if name == "applying":
            return boolean(self.is_applying)
        return DYNAMIC_UNKNOWN

    def provider_function(
        self, frame: Frame, function: ProviderFunction, reference: Reference
    ) -> Function | None:
        """A function that a provider offers, whose results are not asked for yet."""
        return deferred_function(function, None)

    def want(self, node: Node) -> None:
        """Have a node worked out, though nobody waits for it."""
        self.work.want((node,))

    def open(self, instance: ModuleInstance, parent: Frame | None) -> Frame:
        """A frame for a module instance in this phase."""
        frame = Frame(self, instance, parent)
        module = instance.module
        if parent is None or instance.call is None:
            for name, variable in module.variables.items():
                frame.variables[name] = GivenVariable(frame, variable, self._inputs.get(name))
        else:
            arguments = parent.instance.compiled.arguments(instance.call, self.diags)
            for name, variable in module.variables.items():
                frame.variables[name] = ArgumentVariable(frame, variable, arguments.get(name))
        for name, local in module.locals.items():
            frame.locals[name] = LocalValue(frame, local)
        for name, output in module.outputs.items():
            frame.outputs[name] = OutputNode(frame, output)
        for name, call in module.calls.items():
            frame.calls[name] = ExpandedCall(frame, call)
        for addr, resource in module.resources.items():
            frame.resources[addr] = self.resource_node(frame, resource)
        self._frames.append(frame)
        self.opened(frame)
        return frame

    @abstractmethod
    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        """What stands for a resource in this phase."""

    @abstractmethod
    def opened(self, frame: Frame) -> None:
        """Ask for whatever of a new module instance is wanted."""


class GivenVariable(RootVariable):
    """A variable of the root module, which must have a value by now."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        if self.given is None and self.variable.default is None:
            self._report_missing()
            self.fail()
            return ()
        return super().step()

    def _report_missing(self) -> None:
        name = self.variable.name
        self.frame.run.diags.error(
            "No value for a variable",
            f"The root module's variable {name} has no default, and nothing gives it a value. Give "
            f"one with -var {name}=..., in a .tfvars file, or as TF_VAR_{name} in the environment.",
            self.variable.range,
        )


class ExpandedCall(ModuleCallNode):
    """A call whose instances are all known, one by one."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        frame, call = self.frame, self.call
        expansion = known_expansion(frame, call)
        if isinstance(expansion, list):
            return expansion
        found = frame.instance.children.get(call.name, {})
        for key, data in expansion.items():
            template = found.get(key) or found.get(DEFERRED) or found.get(None)
            if template is not None:
                child = _instance(frame.instance, call, key, data, template)
                self.frames[key] = frame.run.open(child, frame)
        return ()


def known_expansion(
    frame: Frame, call: ModuleCall
) -> Mapping[InstanceKey, InstanceData] | list[Need]:
    """The instances of a call; none, after reporting it, where they are not known."""
    expansion = expand(frame, call.repetition)
    if isinstance(expansion, list):
        return expansion
    return settled(frame, expansion, f"module.{call.name}", call)


def settled(
    frame: Frame, expansion: Expansion, name: str, block: ModuleCall | Resource
) -> Mapping[InstanceKey, InstanceData]:
    """The instances of an expansion that must be known by now."""
    if expansion.deferred_by is None:
        return expansion.instances
    report_unknown_expansion(frame, name, block.repetition, expansion.deferred_by)
    return {}


def _instance(
    parent: ModuleInstance,
    call: ModuleCall,
    key: InstanceKey,
    data: InstanceData,
    template: ModuleInstance,
) -> ModuleInstance:
    """The instance that the static phase found, or one of those that it stands for."""
    if template.parent is parent and template.addr.key == key:
        return template
    child = ModuleInstance(parent.addr.child(call.name, key), template.compiled, parent, call, data)
    child.children = template.children
    return child
