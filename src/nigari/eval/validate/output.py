"""Output values in `validate`: they wait for whatever their module waits for.

Nothing in a called module exists before the call is expanded and what it depends on is there, and
from outside only the outputs can be reached. So they hold back the others, even constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nigari.config.blocks.output import Output
from nigari.eval.core.instances import Frame
from nigari.eval.core.worklist import DONE, Need, Node, Stages
from nigari.eval.nodes.conditions import Conditions
from nigari.eval.nodes.output import OutputNode
from nigari.eval.nodes.resource import needs_of_dependencies, needs_of_values


class ValidatedOutput(OutputNode):
    """An output value with its dependencies and preconditions."""

    __slots__ = ("_gate", "_stages")

    def __init__(self, frame: Frame, output: Output, gate: Node | None) -> None:
        super().__init__(frame, output)
        self._gate = gate
        self._stages = Stages(
            self._wait,
            partial(needs_of_dependencies, frame, output.depends_on or ()),
            partial(needs_of_values, frame, output.dependency_values),
            Conditions(frame, output.preconditions, "Precondition failed").step,
            super().step,
        )

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    def _wait(self) -> Sequence[Need]:
        return () if self._gate is None or self._gate.state == DONE else (self._gate,)
