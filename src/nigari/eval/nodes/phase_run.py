"""The run of a phase over all modules: how every phase opens module instances.

A frame gets a node for everything that its module declares. What kind of node that is, the phase
says, one method for each kind of declaration; everything else about frames is the same for all.
What is worked out, and when, is the phase's affair.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping

from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import CallNode, Frame, ResourceNode, ValueNode
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.core.worklist import Need, Node, WorkList

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from nigari.addrs.resource import Resource as ResourceAddr
    from nigari.addrs.values import ProviderFunction
    from nigari.config.blocks.module_call import ModuleCall
    from nigari.config.blocks.output import Output
    from nigari.config.blocks.resource import Resource
    from nigari.config.blocks.variable import Variable
    from nigari.cty.function import Function
    from nigari.cty.values import Value
    from nigari.hcl.body import Attribute
    from nigari.lang.references import Reference

MakeCall: TypeAlias = "Callable[[Frame, ModuleCall], CallNode]"


class PhaseRun(ABC):
    """One phase over all modules. Subclasses are the phases."""

    is_opaque = False
    checks_instances = False

    def __init__(
        self,
        functions: Mapping[str, Function],
        root_path: str,
        working_path: str,
        report: Callable[[str, Exception], None] | None = None,
    ) -> None:
        """`report` hears of nodes that fail by an exception, so that the others can go on."""
        self.diags: Diagnostics = Diagnostics()
        self.functions: Mapping[str, Function] = functions
        self.root_path: str = root_path
        self.working_path: str = working_path
        self.work: WorkList = WorkList(self.diags, report)
        self._frames: list[Frame] = []

    @property
    def root(self) -> Frame:
        """The module instance that was opened first."""
        return self._frames[0]

    def frames(self) -> Iterator[Frame]:
        """Every module instance that has been opened, callers first."""
        return iter(self._frames)

    def want(self, node: Node) -> None:
        """Have a node evaluated that no other node depends on."""
        self.work.want((node,))

    def reporting_to(self, child: Diagnostics) -> _ReportingTo:
        """Report to a child collector meanwhile; its owner adopts what it finds, or does not."""
        return _ReportingTo(self, child)

    def open(self, instance: ModuleInstance, parent: Frame | None) -> Frame:
        """A frame for a module instance in this phase."""
        frame = self.make_frame(instance, parent, self.call_node)
        self._frames.append(frame)
        self.opened(frame)
        return frame

    def about(self, instance: ModuleInstance) -> str:
        """The address of a module instance, where it is one of several."""
        return str(instance.addr) if instance.addr.has_known_key else ""

    def make_frame(
        self, instance: ModuleInstance, parent: Frame | None, call_node: MakeCall
    ) -> Frame:
        """A module instance with a node for everything in it; nothing is asked for yet."""
        frame = Frame(self, instance, parent, self._nodes)
        if parent is not None and instance.call is not None:
            # Mistakes in the arguments are reported now, not when a variable is used.
            parent.instance.compiled.arguments(instance.call, self.diags)
        frame.calls = {name: call_node(frame, call) for name, call in frame.module.calls.items()}
        return frame

    def _nodes(
        self, frame: Frame, kind: str
    ) -> Mapping[str, ValueNode] | Mapping[ResourceAddr, ResourceNode]:
        module = frame.module
        if kind == "variables":
            return self._variables(frame)
        if kind == "locals":
            from nigari.eval.nodes.local import LocalValueNode

            return {name: LocalValueNode(frame, local) for name, local in module.locals.items()}
        if kind == "outputs":
            return {name: self.output_node(frame, each) for name, each in module.outputs.items()}
        return {addr: self.resource_node(frame, each) for addr, each in module.resources.items()}

    def _variables(self, frame: Frame) -> dict[str, ValueNode]:
        variables, parent, call = frame.module.variables, frame.parent, frame.instance.call
        if parent is None or call is None:
            return {name: self.input_node(frame, each) for name, each in variables.items()}
        given = parent.instance.compiled.arguments(call, self.diags)
        return {
            name: self.argument_node(frame, each, given.get(name))
            for name, each in variables.items()
        }

    @abstractmethod
    def terraform(self, name: str) -> Value:
        """The value of `terraform.workspace` and its like."""

    @abstractmethod
    def provider_function(
        self,
        frame: Frame,
        function: ProviderFunction,
        reference: Reference,
        needs: list[Need],
        diags: Diagnostics,
    ) -> Function | None:
        """A function that a provider offers; None where it has none of that name."""

    @abstractmethod
    def input_node(self, frame: Frame, variable: Variable) -> ValueNode:
        """The node for a variable of the root module, or of another that no call leads to."""

    @abstractmethod
    def argument_node(
        self, frame: Frame, variable: Variable, argument: Attribute | None
    ) -> ValueNode:
        """The node for a variable of a called module, with the argument of the call."""

    def output_node(self, frame: Frame, output: Output) -> ValueNode:
        """The node for an output."""
        from nigari.eval.nodes.output import OutputNode

        return OutputNode(frame, output)

    @abstractmethod
    def call_node(self, frame: Frame, call: ModuleCall) -> CallNode:
        """The node for a module call."""

    @abstractmethod
    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        """The node for a resource."""

    @abstractmethod
    def opened(self, frame: Frame) -> None:
        """Ask for whatever of a new module instance is wanted."""


class _ReportingTo:
    """A context in which a run reports to another collector. `contextlib` takes longer to import
    than the short commands can spare.
    """

    __slots__ = ("_child", "_outer", "_run")

    def __init__(self, run: PhaseRun, child: Diagnostics) -> None:
        self._run = run
        self._child = child
        self._outer = run.diags

    def __enter__(self) -> None:
        self._outer = self._run.diags
        self._run.diags = self._run.work.diags = self._child

    def __exit__(self, *_: object) -> None:
        self._run.diags = self._run.work.diags = self._outer
