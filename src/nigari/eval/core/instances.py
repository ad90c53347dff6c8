"""The nodes of one module instance in one phase.

A `Frame` is a module instance in one phase: a node for everything it declares. Frames are cheap,
since what a directory declares is decoded once, and a node does nothing before it is asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.resource import ResourceInstance
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, string
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.causes import REPORTED
from nigari.eval.core.compile import Compiled
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData, ModuleInstance
from nigari.eval.core.worklist import Need, Node
from nigari.record import record
from nigari.typed import Protocol

TYPE_CHECKING = False
# The tree of modules is found without importing what evaluates.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, TypeAlias

    from nigari.addrs.values import ProviderFunction
    from nigari.config.blocks.module_call import ModuleCall
    from nigari.config.blocks.resource import Resource
    from nigari.config.module import Module
    from nigari.cty.function import Function
    from nigari.eval.core.shared_values import SharedValues
    from nigari.eval.core.symbol_library import SymbolLibrary
    from nigari.hcl.evaluation import Fault
    from nigari.lang.references import Reference


FAILED: Final = DYNAMIC_UNKNOWN.with_causes((REPORTED,))
"""Stands for a value whose error has been reported."""


@record
class Origin:
    """An expression, the module it is evaluated in, and what `each` and `count` mean to it."""

    frame: Frame
    compiled: Compiled
    data: InstanceData = NO_INSTANCE_DATA


class ValueNode(Node):
    """A node whose result is a value."""

    __slots__ = ("frame", "value")

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame: Frame = frame
        self.value: Value = FAILED

    def fail(self) -> None:
        self.value = FAILED

    def take(self, result: Value | list[Need]) -> Sequence[Need]:
        """Finish with a value, or pass on what must be done first."""
        if isinstance(result, Value):
            self.value = result
            return ()
        return result

    @property
    def about(self) -> str:
        return self.frame.about

    def origin(self) -> Origin | None:
        """The expression of the value, if it has one."""
        return None


class LocalNode(ValueNode):
    """A local value, of which single attributes may be asked for where it is written as an
    object, so that one of them need not wait for the others.
    """

    __slots__ = ()

    @abstractmethod
    def part(self, names: Sequence[str]) -> tuple[ValueNode, int]:
        """The node for the attribute at the end of as many of these names as lead through written
        objects, and how many that are.
        """


class ResourceNode(ValueNode):
    """A resource block; its value has one element for each instance where it is repeated."""

    __slots__ = ("element", "resource")

    def __init__(self, frame: Frame, resource: Resource) -> None:
        super().__init__(frame)
        self.resource: Resource = resource
        self.element: Value = DYNAMIC_UNKNOWN
        """The value of any one instance, as far as it is known without planning."""

    @property
    def label(self) -> str:
        return self.frame.label(str(self.resource.addr))

    @property
    def range(self) -> Range:
        return self.resource.range

    def mention_of(self, other: Node) -> Range:
        repetition = self.resource.repetition
        written = [each for each in (repetition.count, repetition.for_each) if each is not None]
        compiled = self.frame.instance.compiled
        found = [each for expr in written for each in compiled.expression(expr).references]
        for reference in (*found, *self.body_references()):
            subject = reference.subject
            named = subject.resource if isinstance(subject, ResourceInstance) else subject
            if self.frame.label(str(named)) == other.declared_label:
                return reference.range
        return self.range

    def body_references(self) -> Sequence[Reference]:
        """The references of the block's body, once its schema is known."""
        return ()


@record
class Absent:
    """A referenced object that does not exist.

    It is a mistake only if the expression is evaluated: an untaken branch may name it, and `try`
    may request it.
    """

    fault: Fault
    exists: tuple[str, ...]
    """The names that lead as far as there is something."""
    is_null: bool = False
    """True if the reference evaluates to null. Otherwise it lacks the next name."""


class CallNode(Node):
    """A module call; its result is the frames of the instances that it makes."""

    __slots__ = ("call", "contents", "frame", "frames", "has_failed")

    def __init__(self, frame: Frame, call: ModuleCall) -> None:
        super().__init__()
        self.frame: Frame = frame
        self.call: ModuleCall = call
        self.frames: dict[InstanceKey, Frame] = {}
        self.has_failed: bool = False
        """True if instances are missing because of a reported error."""
        self.contents: Node | None = None
        """Done when everything in the module is; None if no node can depend on that."""

    @property
    def about(self) -> str:
        return self.frame.about

    @property
    def expanded(self) -> CallNode:
        """The call with a frame for each instance, as far as it is known which there are."""
        return self

    def has_key(self, name: str) -> bool:
        """Return whether `module.name.NAME` may mean an instance: if NAME is an output and no
        instance has it as its key, the key must be missing.
        """
        if name in self.frames or DEFERRED in self.frames:
            return True
        return not any(name in frame.outputs for frame in self.frames.values())

    @abstractmethod
    def whole(self) -> Value | list[Need]:
        """The value of `module.name`: all outputs of all instances; or what must be done first."""

    @abstractmethod
    def output(self, key: InstanceKey, name: str) -> Value | list[Need] | Absent:
        """The value of `module.name[key].output`; nothing else need be known of the call."""


class SymbolsNode(Node):
    """A symbol library that a module uses; its result is what the library offers."""

    __slots__ = ("library",)

    def __init__(self) -> None:
        super().__init__()
        self.library: SymbolLibrary | None = None
        """None if there is none, which has been reported."""


class Run(Protocol):
    """The evaluation that nodes are part of."""

    diags: Diagnostics
    functions: Mapping[str, Function]
    root_path: str
    working_path: str

    is_opaque: bool
    """True if modules see only the types of each other's values."""
    checks_instances: bool
    """True if references to repeated resources must have a key, and to attributes must exist in the
    schema.
    """

    def terraform(self, name: str) -> Value:
        """The value of `terraform.workspace` and its like."""
        ...

    def provider_function(
        self,
        frame: Frame,
        function: ProviderFunction,
        reference: Reference,
        needs: list[Need],
        diags: Diagnostics,
    ) -> Function | None:
        """A function that a provider offers; None where it has none of that name.

        What must be done first is put among the needs, now or when the function is called.
        """
        ...

    def want(self, node: Node) -> None:
        """Have a node evaluated that no other node depends on."""
        ...

    def open(self, instance: ModuleInstance, parent: Frame | None) -> Frame:
        """A frame for a module instance in this phase."""
        ...

    def about(self, instance: ModuleInstance) -> str:
        """The module instances that diagnostics in one are about; nothing where that is clear."""
        ...


MakeNodes: TypeAlias = "Callable[[Frame, str], Mapping[str, Node] | Mapping[ResourceAddr, Node]]"

_KINDS: Final = frozenset(("calls", "locals", "outputs", "resources", "variables"))


class Frame:
    """One module instance in one phase: a node for each thing that the module declares."""

    __slots__ = (
        "_make",
        "calls",
        "instance",
        "locals",
        "outputs",
        "parent",
        "resources",
        "run",
        "shared",
        "symbols",
        "variables",
    )

    variables: dict[str, ValueNode]
    locals: dict[str, LocalNode]
    outputs: dict[str, ValueNode]
    calls: dict[str, CallNode]
    resources: dict[ResourceAddr, ResourceNode]

    def __init__(
        self,
        run: Run,
        instance: ModuleInstance,
        parent: Frame | None,
        make: MakeNodes | None = None,
    ) -> None:
        """`make` gives all nodes of one kind, such as `"locals"`; without it there are none yet."""
        self.run: Run = run
        self.instance: ModuleInstance = instance
        self.parent: Frame | None = parent
        self._make = make
        self.symbols: Mapping[str, SymbolsNode] = {}
        """The symbol libraries of the module while they are being found; later on they are those
        of the compiled module.
        """
        self.shared: dict[int, SharedValues] = {}
        """Values that the instances of repeated blocks share, by the identity of the evaluated
        object.
        """

    def __getattr__(self, name: str) -> object:
        """Make the nodes of a kind when they are first used: those of most modules never are."""
        if name not in _KINDS:
            raise AttributeError(f"a frame has no attribute {name!r}")
        nodes = {} if self._make is None else self._make(self, name)
        setattr(self, name, nodes)
        return nodes

    @property
    def module(self) -> Module:
        return self.instance.compiled.module

    def with_variable(self, name: str, node: ValueNode) -> Frame:
        """Copy the instance with another node for one variable."""
        frame = Frame(self.run, self.instance, self.parent)
        frame.variables, frame.symbols = {**self.variables, name: node}, self.symbols
        frame.locals, frame.outputs = self.locals, self.outputs
        frame.calls, frame.resources = self.calls, self.resources
        return frame

    def with_resources(self, nodes: Mapping[ResourceAddr, ResourceNode]) -> Frame:
        """The same instance with other nodes of some resources."""
        frame = Frame(self.run, self.instance, self.parent)
        frame.variables, frame.locals, frame.outputs = self.variables, self.locals, self.outputs
        frame.calls, frame.resources = self.calls, {**self.resources, **nodes}
        frame.symbols = self.symbols
        return frame

    @property
    def place(self) -> str:
        """The module in words."""
        addr = self.instance.addr
        return "the root module" if addr.is_root else str(addr)

    @property
    def about(self) -> str:
        """The addresses of the module instances that this stands for, where there are others."""
        return self.run.about(self.instance)

    def path(self, name: str) -> Value:
        """The value of `path.module`, `path.root` and `path.cwd`."""
        if name == "cwd":
            return string(self.run.working_path)
        return string(self.module.directory if name == "module" else self.run.root_path)

    def label(self, name: str) -> str:
        """The name of something in this module, as users see it."""
        addr = self.instance.addr
        return name if addr.is_root else f"{name} of {addr}"
