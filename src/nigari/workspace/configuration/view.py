"""A loaded configuration for Python programs: modules, and what is in them with its value.

Nothing is evaluated before it is asked for, and no provider is needed: resources are told by what
is written in them. What cannot be known before planning says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nigari.addrs.absolute import Abs
from nigari.addrs.keys import InstanceKey
from nigari.config.resource import Resource
from nigari.cty.values import DYNAMIC_UNKNOWN, Value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.base.causes import CauseKind, UnknownCause, causes_within
from nigari.eval.base.expansion import SINGLE_INSTANCE, Expansion, InstanceData
from nigari.eval.base.explain import chain, way_to
from nigari.eval.base.instances import FAILED, Frame, Origin, ValueNode
from nigari.eval.base.once import Need, Node
from nigari.eval.base.scope import evaluate_origin
from nigari.eval.nodes.module_call import expand
from nigari.eval.nodes.resource import deferred_data
from nigari.eval.static.run import StaticRun
from nigari.hcl.body import Body
from nigari.hcl.native_body import NativeBody
from nigari.hcl.quoting import quoted
from nigari.record import replace


class Known:
    """A value as far as it is known before anything runs."""

    __slots__ = ("_origin", "name", "range", "value")

    def __init__(self, name: str, value: Value, range: Range | None, origin: Origin | None) -> None:
        self.name = name
        self.value = value
        self.range = range
        self._origin = origin

    @property
    def is_known(self) -> bool:
        """Whether all of the value is known."""
        return self.value.is_wholly_known

    def to_python(self) -> object:
        """The value as plain Python data; a `CtyError` where it is not known, or is sensitive."""
        return self.value.to_python()

    @property
    def reasons(self) -> list[str]:
        """Why the value, or a part of it, is not known: one chain for each cause."""
        found: list[str] = []
        for cause in causes_within(self.value):
            way = [] if self._origin is None else way_to(cause, self._origin)
            found.append(chain(self.name, cause, way)[0])
        return found

    def __repr__(self) -> str:
        return f"<{self.name} = {self.value!r}>"


class BlockView:
    """A nested block of a resource, with its arguments and the blocks in it."""

    __slots__ = ("arguments", "blocks", "labels", "range", "type")

    def __init__(
        self,
        type: str,
        labels: tuple[str, ...],
        range: Range,
        arguments: Mapping[str, Known],
        blocks: tuple[BlockView, ...],
    ) -> None:
        self.type = type
        self.labels = labels
        self.range = range
        self.arguments = arguments
        self.blocks = blocks

    def __repr__(self) -> str:
        return f"<{' '.join((self.type, *map(quoted, self.labels)))}>"


class ResourceView:
    """A resource of one module instance: the block, which stands for all instances, or one of
    them.
    """

    __slots__ = ("_data", "_frame", "_run", "declaration", "key")

    def __init__(
        self,
        run: StaticRun,
        frame: Frame,
        declaration: Resource,
        key: InstanceKey = None,
        data: InstanceData | None = None,
    ) -> None:
        self._run = run
        self._frame = frame
        self._data = data
        self.declaration = declaration
        self.key = key
        """The key of the instance; None for the block, and where the block is not repeated."""

    def __repr__(self) -> str:
        return f"<{self.mode} {self.address}>"

    @property
    def address(self) -> str:
        """The address of the block, or of the instance, in the tree."""
        addr = self.declaration.addr.instance(self.key)
        return str(Abs(self._frame.instance.addr, addr))

    @property
    def mode(self) -> str:
        """`resource`, `data` or `ephemeral`."""
        return self.declaration.addr.mode.value

    @property
    def type(self) -> str:
        """The resource type."""
        return self.declaration.addr.type

    @property
    def name(self) -> str:
        """The name after the type."""
        return self.declaration.addr.name

    @property
    def range(self) -> Range:
        """Where the header of the block is."""
        return self.declaration.range

    @property
    def instances(self) -> Mapping[InstanceKey, ResourceView]:
        """The instances of the block by key; where it is not known which there are, one with a
        deferred key stands for all.
        """
        return {
            key: ResourceView(self._run, self._frame, self.declaration, key, data)
            for key, data in expansion_of(
                self._run, self._frame, self.declaration
            ).instances.items()
        }

    @property
    def arguments(self) -> Mapping[str, Known]:
        """The arguments that are written in the block, with their values."""
        return self._arguments(self.declaration.body, self.address)

    @property
    def blocks(self) -> tuple[BlockView, ...]:
        """The nested blocks that are written in the block; in JSON they look like arguments."""
        return self._blocks(self.declaration.body, self.address)

    def _arguments(self, body: Body, name: str) -> Mapping[str, Known]:
        frame = self._frame
        data, missing = self._data, None
        if data is None:
            data = deferred_data(self.declaration.repetition)
            if not expansion_of(self._run, self._frame, self.declaration).instances:
                missing = no_instances(frame, self.declaration)
        written = body.just_attributes(Diagnostics())
        found: dict[str, Known] = {}
        for key, attribute in written.items():
            compiled = frame.instance.compiled.expression(attribute.expr)
            origin = Origin(frame, compiled, data)
            where = attribute.expr.range
            found[key] = _evaluated(self._run, f"{name}.{key}", origin, where, missing)
        return found

    def _blocks(self, body: Body, name: str) -> tuple[BlockView, ...]:
        if not isinstance(body, NativeBody):
            return ()
        return tuple(
            BlockView(
                block.type,
                tuple(block.labels),
                block.def_range,
                self._arguments(block.body, f"{name}.{block.type}"),
                self._blocks(block.body, f"{name}.{block.type}"),
            )
            for block in body.blocks
            if block.type not in body.hidden_blocks
        )


class ModuleView:
    """One module instance and everything that it declares."""

    __slots__ = ("_run", "frame")

    def __init__(self, run: StaticRun, frame: Frame) -> None:
        self._run = run
        self.frame = frame

    def __repr__(self) -> str:
        return f"<{self.address or 'root module'} in {self.directory}>"

    @property
    def address(self) -> str:
        """The address of the instance; nothing for the root module."""
        return str(self.frame.instance.addr)

    @property
    def directory(self) -> str:
        """Where the module's files are."""
        return self.frame.module.directory

    @property
    def variables(self) -> Mapping[str, Known]:
        """The input variables with the values they have here."""
        return self._values(self.frame.variables)

    @property
    def locals(self) -> Mapping[str, Known]:
        """The local values."""
        return self._values(self.frame.locals)

    @property
    def outputs(self) -> Mapping[str, Known]:
        """The output values."""
        return self._values(self.frame.outputs)

    @property
    def resources(self) -> Mapping[str, ResourceView]:
        """The resources, data sources and ephemeral resources by their address in the module."""
        return {
            str(addr): ResourceView(self._run, self.frame, resource)
            for addr, resource in self.frame.module.resources.items()
        }

    @property
    def children(self) -> list[ModuleView]:
        """The instances that the module's calls make; where it is not known which there are, one
        stands for all.
        """
        return [
            ModuleView(self._run, child)
            for call in self.frame.calls.values()
            for child in self._run.instances_of(call).values()
        ]

    def _values(self, nodes: Mapping[str, ValueNode]) -> Mapping[str, Known]:
        self._run.evaluate(list(nodes.values()))
        return {
            name: Known(node.label, node.value, node.range, node.origin())
            for name, node in nodes.items()
        }


def _evaluated(
    run: StaticRun, name: str, origin: Origin, where: Range, missing: UnknownCause | None
) -> Known:
    """The value of an expression, which may belong to something `missing`."""
    question = Question(name, origin, missing)
    run.evaluate([question])
    return Known(name, question.value, where, origin)


class Question(Node):
    """An expression that somebody asks about.

    What goes wrong with an expression of something `missing` is no mistake, since nobody else
    evaluates it: it has no value for that reason.
    """

    __slots__ = ("_missing", "_name", "_origin", "value")

    def __init__(self, name: str, origin: Origin, missing: UnknownCause | None = None) -> None:
        super().__init__()
        self._name = name
        self._origin = origin
        self._missing = missing
        self.value: Value = FAILED

    @property
    def label(self) -> str:
        return self._name

    def fail(self) -> None:
        self.value = FAILED

    def step(self) -> Sequence[Need]:
        result = self._evaluate()
        if not isinstance(result, Value):
            return result
        self.value = result
        return ()

    def _evaluate(self) -> Value | list[Need]:
        if self._missing is None:
            return evaluate_origin(self._origin)
        found = Diagnostics()
        value = evaluate_origin(self._origin, found)
        return DYNAMIC_UNKNOWN.with_causes((self._missing,)) if found.has_errors else value


def no_instances(frame: Frame, resource: Resource) -> UnknownCause:
    """Why the arguments of a resource may have no values: there is none of it."""
    addr = frame.instance.addr
    return UnknownCause(CauseKind.NO_INSTANCES, addr, str(resource.addr), resource.range)


class Instances(Node):
    """The instances of a resource that somebody asks about."""

    __slots__ = ("_frame", "_resource", "expansion")

    def __init__(self, frame: Frame, resource: Resource) -> None:
        super().__init__()
        self._frame = frame
        self._resource = resource
        self.expansion: Expansion = SINGLE_INSTANCE

    @property
    def label(self) -> str:
        return self._frame.label(f"instances of {self._resource.addr}")

    @property
    def range(self) -> Range:
        return self._resource.range

    def fail(self) -> None:
        """What is not known keeps its default."""

    def step(self) -> Sequence[Need]:
        repetition = self._resource.repetition
        expansion = expand(self._frame, repetition)
        if isinstance(expansion, list):
            return expansion
        expr = repetition.count or repetition.for_each
        found = {key: replace(data, expr=expr) for key, data in expansion.instances.items()}
        self.expansion = replace(expansion, instances=found)
        return ()


def expansion_of(run: StaticRun, frame: Frame, resource: Resource) -> Expansion:
    """The instances of a resource, as far as it is known which there are."""
    if resource.repetition.is_single:
        return SINGLE_INSTANCE
    node = Instances(frame, resource)
    run.evaluate([node])
    return node.expansion


class Configuration:
    """A configuration that has been loaded: its tree of modules, and what is wrong with it."""

    __slots__ = ("_found", "_run", "_sources")

    def __init__(
        self, run: StaticRun | None, found: Diagnostics, sources: Mapping[str, bytes]
    ) -> None:
        self._run = run
        self._found = found
        self._sources = sources

    def __repr__(self) -> str:
        return f"<Configuration of {'nothing' if self._run is None else self.root}>"

    def _repr_html_(self) -> str:
        from html import escape

        from nigari.diagnostics.html import diagnostics_html, table

        rows = []
        for module in self.modules():
            name = escape(module.address or "root module")
            resources = ", ".join(f"<code>{escape(each)}</code>" for each in module.resources)
            rows.append((name, f"<code>{escape(module.directory)}</code>", resources))
        problems = diagnostics_html(self.diagnostics.in_order(), self._sources)
        return table(("module", "directory", "resources"), rows) + problems

    @property
    def diagnostics(self) -> Diagnostics:
        """Everything that has been found wrong so far; evaluating more may find more."""
        more = () if self._run is None else self._run.diags
        return Diagnostics(dict.fromkeys([*self._found, *more]))

    def describe(self) -> str:
        """The diagnostics as text for people, with the lines they are about."""
        from nigari.diagnostics import to_text

        return to_text(self.diagnostics.in_order(), self._sources)

    @property
    def root(self) -> ModuleView:
        """The root module; a `ValueError` where the configuration cannot be read at all."""
        if self._run is None:
            raise ValueError(f"the configuration could not be read\n{self.describe()}")
        return ModuleView(self._run, self._run.root)

    def modules(self) -> Iterator[ModuleView]:
        """Every module instance, callers before those they call."""
        pending = [] if self._run is None else [self.root]
        while pending:
            module = pending.pop()
            yield module
            pending.extend(reversed(module.children))
