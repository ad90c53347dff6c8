"""The tree of module instances: which there are, and what each was called with.

What a module instance is worth in a phase is in `nigari.eval.core.instances`. Nothing is evaluated
here, so that the tree can be inspected without importing the evaluator.

Instances of one call that declare the same, with the same static values, are one variant: whatever
follows from blocks alone follows once for each variant.
"""

from __future__ import annotations

from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.cty.types import NUMBER, STRING
from nigari.cty.values import DYNAMIC_UNKNOWN, unknown
from nigari.eval.core.worklist import Effect
from nigari.record import record
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from nigari.config.blocks.module_call import ModuleCall
    from nigari.config.core.declared import Repetition
    from nigari.config.module import Module
    from nigari.config.symbol_files import LibraryDeclarations
    from nigari.cty.values import Value
    from nigari.diagnostics import Diagnostics
    from nigari.eval.core.compile import CompiledModule
    from nigari.hcl.expressions import Expression


@record
class InstanceData:
    """The values of `each`, `count` and `caller` in one instance; each is None where it has no meaning."""

    each_key: Value | None = None
    each_value: Value | None = None
    count_index: Value | None = None
    expr: Expression | None = None
    """The `for_each` or `count` that they come from."""
    caller: Value | None = None
    """The resource instance that triggers an action; None outside of actions."""


NO_INSTANCE_DATA: Final = InstanceData()


def deferred_data(repetition: Repetition) -> InstanceData:
    """Return the values of `each` and `count` in a block that stands for all its instances."""
    if repetition.count is not None:
        return InstanceData(count_index=unknown(NUMBER))
    if repetition.for_each is not None:
        return InstanceData(each_key=unknown(STRING), each_value=DYNAMIC_UNKNOWN)
    return NO_INSTANCE_DATA


class ModuleInstance:
    """A module at an address of the tree."""

    __slots__ = (
        "_shown",
        "_variant",
        "addr",
        "call",
        "children",
        "compiled",
        "data",
        "parent",
        "unlike",
    )

    def __init__(
        self,
        addr: ModuleAddr,
        compiled: CompiledModule,
        parent: ModuleInstance | None = None,
        call: ModuleCall | None = None,
        data: InstanceData = NO_INSTANCE_DATA,
    ) -> None:
        self.addr: ModuleAddr = addr
        self.compiled: CompiledModule = compiled
        self.parent: ModuleInstance | None = parent
        self.call: ModuleCall | None = call
        self.data: InstanceData = data
        """The values of `each` and `count` for this instance of the call, in the calling module."""
        self.children: dict[str, dict[InstanceKey, ModuleInstance]] = {}
        """The instances that each call makes; the static phase fills it in."""
        self.unlike: frozenset[str] = frozenset()
        """The calls whose `each` or `count` decides from where a module comes: what an instance that
        is gone declared, others do not tell.
        """
        self._variant: ModuleAddr | None = None
        self._shown: ModuleAddr | None = None

    @property
    def variant(self) -> ModuleAddr:
        """The path of the variant that this instance belongs to.

        A step of it has a key only where the instances of the call are of several variants, or may
        come from several sources: the key of the first instance of each.
        """
        if self._variant is None:
            within = None if self.parent is None else self.parent.variant
            self._variant = self.addr.unkeyed if within is None else within.child(self.addr.name)
        return self._variant

    @property
    def shown_variant(self) -> ModuleAddr:
        """The variant, without the keys of calls whose instances are all of one."""
        return self.variant if self._shown is None else self._shown

    def belongs_to(self, variant: ModuleAddr, shown: ModuleAddr) -> None:
        """Set the path of its variant, and how that is shown."""
        self._variant, self._shown = variant, shown

    @property
    def module(self) -> Module:
        return self.compiled.module


@record
class InstallModule(Effect):
    """A module must be found and read. Answered with the module, or with nothing when that failed
    and was reported.
    """

    addr: ModuleAddr
    """The call instance that needs it."""
    source: str
    version: str | None


class Modules(Protocol):
    """Finds and reads called modules."""

    def load_all(
        self, wanted: Sequence[tuple[InstallModule, ModuleInstance]], diags: Diagnostics
    ) -> Sequence[CompiledModule | None]:
        """The modules, for each the effect that asks for it and the caller; None where one cannot
        be loaded, which has then been reported.
        """
        ...

    def library_at(self, directory: str, diags: Diagnostics) -> LibraryDeclarations | None:
        """Return the declarations of a symbol library; None if its files cannot be read."""
        ...
