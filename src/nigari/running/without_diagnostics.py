"""Evaluation without reporting diagnostics.

Values that cannot be evaluated are unknown; the diagnostics are collected separately and dropped.
"""

from __future__ import annotations

from nigari.addrs.values import ProviderFunction
from nigari.cty.function import Function
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame, Run
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.core.worklist import Need, Node
from nigari.lang.references import Reference


def without_diagnostics(frame: Frame) -> Frame:
    """Copy a module instance so that mistakes in it are not reported."""
    silent = Frame(_SilentRun(frame.run), frame.instance, frame.parent)
    silent.variables, silent.locals, silent.outputs = frame.variables, frame.locals, frame.outputs
    silent.calls, silent.resources = frame.calls, frame.resources
    return silent


class _SilentRun:
    """A run with a separate collector, whose diagnostics are dropped."""

    is_opaque = False
    checks_instances = False

    def __init__(self, run: Run) -> None:
        self.diags = Diagnostics()
        self.functions = run.functions
        self.root_path = run.root_path
        self.working_path = run.working_path
        self._run = run

    def terraform(self, name: str) -> Value:
        return self._run.terraform(name)

    def provider_function(
        self,
        frame: Frame,
        function: ProviderFunction,
        reference: Reference,
        needs: list[Need],
        diags: Diagnostics,
    ) -> Function | None:
        return self._run.provider_function(frame, function, reference, needs, diags)

    def want(self, node: Node) -> None:
        self._run.want(node)

    def open(self, instance: ModuleInstance, parent: Frame | None) -> Frame:
        return self._run.open(instance, parent)

    def about(self, instance: ModuleInstance) -> str:
        return self._run.about(instance)
