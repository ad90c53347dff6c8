"""Parts of a module that are checked and have no value."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.diagnostics import Range
from nigari.eval.core.worklist import Need, Node, Stages


class CheckNode(Node):
    """A part of a module that is checked and has no value."""

    __slots__ = ("_about", "_label", "_range", "_stages")

    def __init__(
        self, label: str, stages: Stages, where: Range | None = None, about: str = ""
    ) -> None:
        super().__init__()
        self._about = about
        self._label = label
        self._stages = stages
        self._range = where

    @property
    def range(self) -> Range | None:
        return self._range

    @property
    def about(self) -> str:
        return self._about

    @property
    def label(self) -> str:
        return self._label

    def fail(self) -> None:
        """Nothing depends on its result."""

    def step(self) -> Sequence[Need]:
        return self._stages.step()
