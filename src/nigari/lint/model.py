"""The read model of rules: the modules of one or several root modules, with their values.

A root module is evaluated once for each environment, and for the values that it is given there
(`EvaluatedRoot`). Modules are identified by their directory, however many calls, environments and
root modules use them, so that a rule sees all uses of a module at once. Everything is worked out when
a rule first asks for it, and then once: the cost is linear in what is written and instantiated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from nigari.addrs.module import ModuleAddr
from nigari.config.blocks.module_call import ModuleCall
from nigari.config.module import Module
from nigari.cty.values import DYNAMIC_UNKNOWN, Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import REPORTED
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.hcl.body import Attribute, Body
from nigari.hcl.expressions import Expression
from nigari.lint.influences import Influence, Influences
from nigari.lint.written import WrittenModule
from nigari.record import record
from nigari.workspace.explain.queries import ValueQueries, any_instance, compiled_origin


@record
class EvaluatedRoot:
    """A root module with the values of one environment."""

    path: str
    """The absolute path of its directory."""
    environment: str
    """Empty outside of environments."""
    queries: ValueQueries
    trees: Mapping[str, Body]
    """The trees of all files that were read."""
    packages: Mapping[ModuleAddr, str]
    """The directory of the package of each called module; empty for that of the root module."""
    locate: Callable[[str], str]
    """Gives the absolute path for one as diagnostics have it."""

    @property
    def frames(self) -> Iterator[Frame]:
        """All module instances, callers first."""
        pending = [self.queries.run.root]
        while pending:
            frame = pending.pop()
            yield frame
            for call in frame.calls.values():
                pending.extend(self.queries.module_instances(call).values())


@record
class Instance:
    """A module instance in one evaluation."""

    root: EvaluatedRoot
    frame: Frame

    @property
    def call(self) -> ModuleCall | None:
        """The block that makes it; None for a root module."""
        return self.frame.instance.call


class LintedModule:
    """The module in one directory, with all its instances."""

    def __init__(self, path: str, first: Instance) -> None:
        self.path: str = path
        self.module: Module = first.frame.module
        self.instances: list[Instance] = []
        self._trees = first.root.trees

    @property
    def is_root(self) -> bool:
        """Return whether it is a root module."""
        return any(each.frame.parent is None for each in self.instances)

    @cached_property
    def written(self) -> WrittenModule:
        """Return the expressions and references in the module's files."""
        return WrittenModule(self.module, self._trees)

    @cached_property
    def calls(self) -> tuple[tuple[LintedCall, ...], ...]:
        """The blocks that call the module, each with its instances."""
        found: dict[tuple[str, str], list[LintedCall]] = {}
        for each in self.instances:
            call, parent = each.call, each.frame.parent
            if call is not None and parent is not None:
                key = each.root.locate(parent.module.directory), call.name
                found.setdefault(key, []).append(LintedCall(each, call, parent))
        return tuple(tuple(each) for each in found.values())


@record
class LintedCall:
    """A module instance with the call that makes it."""

    instance: Instance
    call: ModuleCall
    caller: Frame

    @property
    def arguments(self) -> Mapping[str, Attribute]:
        """The arguments for variables."""
        return self.caller.instance.compiled.arguments(self.call, Diagnostics())


class LintedTree:
    """Everything that rules look at."""

    def __init__(
        self,
        roots: Sequence[EvaluatedRoot],
        find_open: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        """`find_open` finds the directories of modules that others than these roots call."""
        self.roots: tuple[EvaluatedRoot, ...] = tuple(roots)
        self._find_open = find_open
        self._values: dict[tuple[Frame, Expression], Value] = {}
        self._influences = {each.queries: Influences(each.queries) for each in roots}

    @cached_property
    def all_modules(self) -> tuple[LintedModule, ...]:
        """All modules, downloaded ones included."""
        found: dict[str, LintedModule] = {}
        for root in self.roots:
            for frame in root.frames:
                path, instance = root.locate(frame.module.directory), Instance(root, frame)
                if path not in found:
                    found[path] = LintedModule(path, instance)
                found[path].instances.append(instance)
        return tuple(found.values())

    @cached_property
    def modules(self) -> tuple[LintedModule, ...]:
        """The modules that belong to the configuration itself, so that they can be mended."""
        return tuple(each for each in self.all_modules if not any(map(is_remote, each.instances)))

    def module_at(self, frame: Frame, root: EvaluatedRoot) -> LintedModule | None:
        """The module of a frame, if it belongs to the configuration itself."""
        path = root.locate(frame.module.directory)
        return next((each for each in self.modules if each.path == path), None)

    def has_all_callers(self, module: LintedModule) -> bool:
        """Return whether all callers of a module are in the tree."""
        return module.path not in self._open_modules

    @cached_property
    def _open_modules(self) -> frozenset[str]:
        return self._find_open()

    def value(
        self, instance: Instance, expr: Expression, data: InstanceData = NO_INSTANCE_DATA
    ) -> Value:
        """Return an expression's static value; unknown if evaluating it fails."""
        key = instance.frame, expr
        is_shared = data is NO_INSTANCE_DATA
        if is_shared and key in self._values:
            return self._values[key]
        queries, found = instance.root.queries, Diagnostics()
        with queries.lock, queries.run.reporting_to(found):
            value = queries.value("lint", compiled_origin(instance.frame, expr, data), REPORTED)
        if found.has_errors:
            value = DYNAMIC_UNKNOWN.with_causes((REPORTED,))
        if is_shared:
            self._values[key] = value
        return value

    def value_in_block(self, instance: Instance, expr: Expression, block: str) -> Value:
        """The same for an expression of a resource, which may refer to `each` and `count`."""
        for addr, resource in instance.frame.module.resources.items():
            if str(addr) == block:
                return self.value(instance, expr, any_instance(instance.frame, resource.repetition))
        return self.value(instance, expr)

    def influence(self, instance: Instance, expr: Expression) -> Influence:
        """Return the direct and indirect influences on an expression's value."""
        return self._influences[instance.root.queries].of(instance.frame, expr)

    @cached_property
    def is_closed(self) -> frozenset[str]:
        """The root modules whose possible values are all known: those with environments."""
        counts: dict[str, int] = {}
        for root in self.roots:
            counts[root.path] = counts.get(root.path, 0) + 1
        return frozenset(path for path, count in counts.items() if count > 1)


def is_remote(instance: Instance) -> bool:
    frame: Frame | None = instance.frame
    while frame is not None and frame.parent is not None:
        if instance.root.packages.get(frame.instance.addr):
            return True
        frame = frame.parent
    return False
