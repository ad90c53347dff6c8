"""Static arguments of resources as planning needs them: what is ignored, and who is created first.

An object that is created before its predecessor is destroyed forces the same on everything that it
depends on: otherwise those would have to go before it does.
"""

from __future__ import annotations

from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.eval.core.instances import Frame
from nigari.eval.nodes.lifecycle import ProvisionerMoments, ResourceSettings
from nigari.eval.static.run import StaticRun
from nigari.hcl.expressions import Expression
from nigari.hcl.static import expr_as_keyword
from nigari.hcl.traversal import Traversal
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_references import Block
from nigari.plan.order.removed_blocks import RemoveStatements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.config.blocks.provisioner import Provisioner

_USUAL: Final = ("create", "fail")


class BlockSettings:
    """The static arguments of all resources, by block."""

    def __init__(
        self,
        static: StaticRun,
        graph: BlockGraph,
        removed: RemoveStatements,
    ) -> None:
        self.removed = removed
        """The settings of `removed` blocks."""
        self._known: dict[Block, ResourceSettings] = {}
        self._graph = graph
        self._declared: set[Block] = set()
        """The blocks that say themselves that they are created first."""
        self._moments: dict[tuple[ModuleAddr, Provisioner], tuple[str, str]] = {}
        for (frame, addr), settings in static.resource_settings.items():
            block = frame.instance.variant, str(addr)
            if block not in self._known:
                self._known[block] = settings
                if settings.create_before_destroy:
                    self._declared.add(block)
                self._note_moments(block[0], settings.moments)
        for (frame, _), said in static.removed.items():
            if graph.variants.representatives[frame.instance.variant] is frame.instance:
                self._note_moments(frame.instance.variant, said.moments)
        self._first = self.first_among(None)

    def _note_moments(self, path: ModuleAddr, moments: ProvisionerMoments) -> None:
        for provisioner, when in moments.when.items():
            failure = moments.on_failure.get(provisioner, "fail")
            self._moments[path, provisioner] = (when, failure)

    def first_among(self, selected: frozenset[Block] | None) -> frozenset[Block]:
        """The blocks whose new objects are made before the old ones are destroyed.

        What is left out forces nothing; None where everything counts.
        """
        declared = self._declared if selected is None else self._declared & selected
        # ForcedCBDTransformer: otherwise a dependency would have to be destroyed before the object
        # that uses it.
        return frozenset(declared).union(*map(self._graph.resource_blocks_before, declared))

    def is_declared_first(self, module: ModuleAddr, addr: ResourceAddr) -> bool:
        """Return whether the configuration sets create-before-destroy."""
        return self._graph.block(module, str(addr)) in self._first

    def skips_destroy(self, module: ModuleAddr, addr: ResourceAddr) -> bool:
        """Return whether an unwanted object is forgotten instead of destroyed.

        A removed module instance may have had a value of its own, which the state records.
        """
        settings = self._known.get(self._graph.block(module, str(addr)))
        if settings is None or settings.destroy is not False:
            return False
        expr = settings.resource.lifecycle.destroy
        is_literal = expr is None or not expr.variables()
        # The value of another instance must not decide about this one.
        return is_literal or not self._graph.variants.is_gone(module)

    def runs_at(self, module: ModuleAddr, provisioner: Provisioner) -> str:
        """The moment at which a provisioner of a module runs, `create` or `destroy`."""
        return self._moments_of(module, provisioner)[0]

    def continues_after(self, module: ModuleAddr, provisioner: Provisioner) -> bool:
        """Return whether an operation continues after the provisioner fails."""
        return self._moments_of(module, provisioner)[1] == "continue"

    def _moments_of(self, module: ModuleAddr, provisioner: Provisioner) -> tuple[str, str]:
        """When a provisioner runs, and what its failure means.

        An instance of a module that is gone may have had values of its own: only literals count.
        """
        variants = self._graph.variants
        if variants.is_gone(module):
            when, failure = _USUAL
            return _keyword(provisioner.when, when), _keyword(provisioner.on_failure, failure)
        return self._moments.get((variants.of(module), provisioner), _USUAL)

    def ignores_all(self, frame: Frame, addr: ResourceAddr) -> bool:
        """Return whether all changes of the configuration are ignored."""
        settings = self._known.get((frame.instance.variant, str(addr)))
        return settings is not None and settings.ignore_all

    def ignored(self, frame: Frame, addr: ResourceAddr) -> tuple[Traversal, ...]:
        """The parts of the configuration whose changes are ignored."""
        settings = self._known.get((frame.instance.variant, str(addr)))
        return () if settings is None else settings.ignored


def _keyword(expr: Expression | None, usual: str) -> str:
    return (None if expr is None else expr_as_keyword(expr)) or usual
