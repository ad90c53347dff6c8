"""The static arguments of a resource: how it is replaced, what is ignored, when
provisioners run. Also the addresses of `moved` and `removed` blocks, whose keys are static.

OpenTofu wants these written out. Here each may be any expression that is known before anything
runs, and is a slot like a module's source. Only planning uses them, and every variable has a value
by then: one that has none is no reason to stop anything before.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL, STRING, ListType
from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData, deferred_data
from nigari.eval.core.static_position import RequestValue, StaticPosition, fill
from nigari.eval.core.worklist import Need, Node, Stages
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_traversal
from nigari.hcl.source import Source
from nigari.hcl.static import expr_as_keyword
from nigari.hcl.traversal import Traversal, TraverseAttr, TraverseRoot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.config.blocks.provisioner import Provisioner
    from nigari.config.blocks.removed import Removed
    from nigari.config.blocks.resource import Resource
    from nigari.config.core.written_address import WrittenAddress


ALL: Final = "all"


class ResourceSettings(Node):
    """The static arguments of a resource in one module instance."""

    __slots__ = (
        "_stages",
        "_request",
        "create_before_destroy",
        "destroy",
        "frame",
        "ignore_all",
        "ignored",
        "moments",
        "resource",
    )

    def __init__(self, frame: Frame, resource: Resource, request: RequestValue) -> None:
        super().__init__()
        self.frame: Frame = frame
        self.resource: Resource = resource
        self.create_before_destroy: bool | None = None
        self.destroy: bool | None = None
        """False where an object that is not wanted any more is only forgotten."""
        self.ignore_all: bool = resource.lifecycle.ignore_all_changes
        self.ignored: tuple[Traversal, ...] = ()
        self.moments: ProvisionerMoments = ProvisionerMoments(
            frame,
            resource.provisioners,
            str(resource.addr),
            request,
            deferred_data(resource.repetition),
        )
        self._request = request
        self._stages = Stages(
            self._replacement, self._ending, self._ignored_changes, self.moments.step
        )

    @property
    def facts(self) -> tuple[object, ...]:
        """All that was found, to compare instances by."""
        ignored = tuple(map(str, self.ignored))
        ending = self.create_before_destroy, self.destroy
        return (*ending, self.ignore_all, ignored, *self.moments.facts)

    @property
    def label(self) -> str:
        return self.frame.label(f"lifecycle of {self.resource.addr}")

    @property
    def range(self) -> Range:
        return self.resource.range

    def fail(self) -> None:
        """Keep the defaults of what is not known."""

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    def _slot(self, argument: str, expr: Expression) -> StaticPosition:
        what = f"{argument} of {self.frame.label(str(self.resource.addr))}"
        return StaticPosition(
            what, self.frame, expr, self._request, deferred_data(self.resource.repetition)
        )

    def _replacement(self) -> Sequence[Need]:
        found = self._truth("create_before_destroy", self.resource.lifecycle.create_before_destroy)
        if isinstance(found, list):
            return found
        self.create_before_destroy = found
        return ()

    def _ending(self) -> Sequence[Need]:
        found = self._truth("destroy", self.resource.lifecycle.destroy)
        if isinstance(found, list):
            return found
        self.destroy = found
        return ()

    def _truth(self, argument: str, expr: Expression | None) -> bool | list[Need] | None:
        """Return whether an argument is true; None if it is not set."""
        return None if expr is None else _truth(self._slot(argument, expr))

    def _ignored_changes(self) -> Sequence[Need]:
        ignored = self.resource.lifecycle.ignore_changes
        if ignored is None:
            return ()
        if isinstance(ignored, tuple):
            self.ignored = ignored
            return ()
        slot = self._slot("ignore_changes", ignored)
        value = fill(slot)
        if not isinstance(value, Value):
            return value or ()
        if value.data == ALL:
            self.ignore_all = True
            return ()
        try:
            texts = convert(value, ListType(STRING))
        except CtyError:
            _report(slot, 'a list of strings, each a path such as "tags" or "a.b[0]", or "all"')
            return ()
        if not texts.is_null:
            paths = [self._path(slot, each) for each in texts.sequence() if not each.is_null]
            self.ignored = tuple(path for path in paths if path is not None)
        return ()

    def _path(self, slot: StaticPosition, text: Value) -> Traversal | None:
        """The path that a string stands for, as one would have written it in brackets."""
        source = Source(f"<{slot.what}>", text.as_string())
        path = parse_traversal(source, self.frame.run.diags)
        if path is None:
            return None
        root = path.steps[0]
        assert isinstance(root, TraverseRoot)
        first = TraverseAttr(root.name, root.start, root.end)
        return Traversal(source, [first, *path.steps[1:]])


class RemovedSettings(Node):
    """The arguments of a `removed` block, and when its provisioners run."""

    __slots__ = ("_frame", "_slot", "_stages", "destroys", "moments", "removed")

    def __init__(self, frame: Frame, removed: Removed, request: RequestValue) -> None:
        super().__init__()
        what = f"the removed block for {removed.source.shape}"
        self.removed: Removed = removed
        self.destroys: bool = False
        """True if the object is destroyed rather than forgotten."""
        self.moments: ProvisionerMoments = ProvisionerMoments(
            frame, removed.provisioners, what, request
        )
        self._frame = frame
        expr = removed.destroy
        self._slot = (
            None if expr is None else StaticPosition(f"destroy of {what}", frame, expr, request)
        )
        self._stages = Stages(self._ending, self.moments.step)

    @property
    def facts(self) -> tuple[object, ...]:
        """All that was found, to compare instances by."""
        return self.destroys, *self.moments.facts

    @property
    def label(self) -> str:
        return self._frame.label(f"lifecycle of the removed block for {self.removed.source.shape}")

    @property
    def range(self) -> Range:
        return self.removed.range

    def fail(self) -> None:
        """Keep the defaults of what is not known."""

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    def _ending(self) -> Sequence[Need]:
        found = None if self._slot is None else _truth(self._slot)
        if isinstance(found, list):
            return found
        self.destroys = bool(found)
        return ()


class ProvisionerMoments(Node):
    """When the provisioners of a block run, and whether their failure matters."""

    __slots__ = ("_data", "_frame", "_provisioners", "_what", "_request", "on_failure", "when")

    def __init__(
        self,
        frame: Frame,
        provisioners: tuple[Provisioner, ...],
        what: str,
        request: RequestValue,
        data: InstanceData = NO_INSTANCE_DATA,
    ) -> None:
        super().__init__()
        self._frame = frame
        self._provisioners = provisioners
        self._what = what
        self._request = request
        self._data = data
        self.when: dict[Provisioner, str] = {}
        self.on_failure: dict[Provisioner, str] = {}

    @property
    def facts(self) -> tuple[object, ...]:
        """All that was found, to compare instances by."""
        return tuple(self.when.values()), tuple(self.on_failure.values())

    @property
    def label(self) -> str:
        return self._frame.label(f"provisioners of {self._what}")

    @property
    def range(self) -> Range:
        return self._provisioners[0].range

    def fail(self) -> None:
        """Keep the defaults of what is not known."""

    def step(self) -> Sequence[Need]:
        needs: list[Need] = []
        for provisioner in self._provisioners:
            for argument, expr, words, results in (
                ("when", provisioner.when, ("create", "destroy"), self.when),
                ("on_failure", provisioner.on_failure, ("fail", "continue"), self.on_failure),
            ):
                if expr is None:
                    results[provisioner] = words[0]
                    continue
                found = self._word(argument, expr, words)
                if isinstance(found, str):
                    if found == "destroy" and provisioner not in results:
                        self._check_references(provisioner)
                    results[provisioner] = found
                else:
                    needs.extend(found)
        return needs

    def _check_references(self, provisioner: Provisioner) -> None:
        """Hold a provisioner to what can be used at destroy, as reading does where that is written
        out.
        """
        if not provisioner.is_written_destroy:
            from nigari.config.blocks.provisioner import check_destroy_references

            body, diags = provisioner.connection_over(None), self._frame.run.diags
            check_destroy_references(provisioner.body, diags)
            if body is not None:
                check_destroy_references(body, diags)

    def _word(
        self, argument: str, expr: Expression, words: tuple[str, ...]
    ) -> str | Sequence[Need]:
        keyword = expr_as_keyword(expr)
        if keyword in words:
            return keyword
        what = f"{argument} of a provisioner of {self._frame.label(self._what)}"
        slot = StaticPosition(what, self._frame, expr, self._request, self._data)
        value = fill(slot)
        if not isinstance(value, Value):
            return value or words[0]
        if value.data in words:
            return str(value.data)
        _report(slot, " or ".join(f'"{word}"' for word in words))
        return words[0]


class StaticAddress(Node):
    """An address of a `moved` or `removed` block with its keys worked out in one module instance."""

    __slots__ = ("_request", "address", "frame", "keys", "traversal")

    def __init__(self, frame: Frame, address: WrittenAddress, request: RequestValue) -> None:
        super().__init__()
        self.frame: Frame = frame
        self.address: WrittenAddress = address
        self.keys: tuple[Value, ...] = ()
        self.traversal: Traversal | None = None if address.keys else address.shape
        self._request = request

    @property
    def label(self) -> str:
        return self.frame.label(f"the address {self.address.shape}")

    @property
    def range(self) -> Range:
        return self.address.range

    def fail(self) -> None:
        self.traversal = None

    def step(self) -> Sequence[Need]:
        keys: list[Value] = []
        needs: list[Need] = []
        for expr in self.address.keys:
            slot = StaticPosition("key of an address", self.frame, expr, self._request)
            value = fill(slot)
            if isinstance(value, Value):
                if _is_key(value):
                    keys.append(value)
                else:
                    _report(slot, "a string or a whole number that is not negative")
            elif value is not None:
                needs.extend(value)
        if needs:
            return needs
        if len(keys) == len(self.address.keys):
            self.keys = tuple(keys)
            self.traversal = self.address.with_keys(keys)
        return ()


def _is_key(value: Value) -> bool:
    data = value.data
    return isinstance(data, str) or (
        isinstance(data, int) and not isinstance(data, bool) and data >= 0
    )


def _truth(slot: StaticPosition) -> bool | list[Need] | None:
    """Return whether an argument is true; None if it is null or was reported."""
    value = fill(slot)
    if not isinstance(value, Value):
        return value
    try:
        value = convert(value, BOOL)
    except CtyError:
        _report(slot, "true or false")
        return None
    return None if value.is_null else value.as_bool()


def _report(slot: StaticPosition, wanted: str) -> None:
    slot.frame.run.diags.error(
        "Invalid value before planning", f"The {slot.what} must be {wanted}.", slot.expr.range
    )
