"""Modules as Python programs see them: module calls, module instances, and what is in them.

Nothing is evaluated before it is asked for. What cannot be known before planning says why.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.keys import InstanceKey
from nigari.config.blocks.module_call import ModuleCall
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.instances import Frame
from nigari.workspace.explain.queries import ValueQueries
from nigari.workspace.views.blocks import (
    Reader,
    ResourceView,
    repeated_reader,
    repetition_of,
)
from nigari.workspace.views.declarations import (
    OutputView,
    VariableView,
    output_view,
    variable_view,
)
from nigari.workspace.views.parts import InnerPart, RepeatedPart, Step, way_to_module
from nigari.workspace.views.provider_views import (
    ProviderRequirement,
    ProviderView,
    provider_views,
    reference_text,
    required_providers,
)
from nigari.workspace.views.static_value import StaticValue, known_node


class CallView(RepeatedPart[ModuleCall]):
    """A module call: the block, which represents all instances, or one of them. The module need not be installed."""

    __slots__ = ()

    def _identity(self) -> object:
        return self._frame, self._declaration.name, self.key, self._data is None

    def _among(self) -> Step:
        return "calls", self.name

    def __repr__(self) -> str:
        return f"<call of {self.address}>"

    @property
    def name(self) -> str:
        """The name of the call."""
        return self._declaration.name

    @property
    def address(self) -> str:
        """The address of the call, or of the instance, in the tree."""
        return str(self._frame.instance.addr.child(self.name, self.key))

    @property
    def range(self) -> Range:
        """Range of the block's header."""
        return self._declaration.range

    @property
    def source(self) -> StaticValue:
        """The module's source."""
        return self._reader().known(f"{self.address}.source", self._declaration.source)

    @property
    def version(self) -> StaticValue | None:
        """The version constraint; None if there is none."""
        expr = self._declaration.version
        return None if expr is None else self._reader().known(f"{self.address}.version", expr)

    @property
    def arguments(self) -> Mapping[str, StaticValue]:
        """The arguments for the module's variables, with their values."""
        reader, written = self._reader(), self._declaration.body.just_attributes(Diagnostics())
        return {
            name: reader.known(f"{self.address}.{name}", each.expr)
            for name, each in written.items()
        }

    @property
    def providers(self) -> Mapping[str, str]:
        """Passed provider configurations: the module's names with the caller's."""
        passed = self._declaration.providers
        return {str(each.in_child): reference_text(each.in_parent) for each in passed}

    @property
    def repetition(self) -> StaticValue | None:
        """The value of `count`, `for_each` or `enabled`; None where the block is not repeated."""
        return repetition_of(self._reader(), self.address, self._declaration.repetition)

    @property
    def instances(self) -> Mapping[InstanceKey, CallView]:
        """The instances by key; if the keys are unknown, one with a deferred key represents all."""
        found = self._evaluation.expansion(
            self._frame, self._label, self._declaration.repetition, self.range
        ).instances
        return {
            key: CallView(self._evaluation, self._frame, self._declaration, key, data)
            for key, data in found.items()
        }

    @property
    def module(self) -> ModuleView | None:
        """The module instance; None if the module isn't installed or readable, and for a repeated block."""
        frames = self._evaluation.module_instances(self._frame.calls[self.name])
        child = frames.get(self.key)
        return None if child is None else ModuleView(self._evaluation, child)

    @property
    def _label(self) -> str:
        return f"module.{self.name}"

    def _reader(self) -> Reader:
        return repeated_reader(
            self._evaluation,
            self._frame,
            self._label,
            self._declaration.repetition,
            self.range,
            self._data,
        )


class ModuleView(InnerPart):
    """One module instance and everything that it declares."""

    __slots__ = ("_evaluation", "_frame")

    def __init__(self, evaluation: ValueQueries, frame: Frame) -> None:
        self._evaluation = evaluation
        self._frame = frame

    def _identity(self) -> object:
        return self._frame

    def _way(self) -> tuple[ValueQueries, tuple[Step, ...]]:
        return self._evaluation, way_to_module(self._frame)

    def __repr__(self) -> str:
        return f"<{self.address or 'root module'} in {self.directory}>"

    @property
    def address(self) -> str:
        """The address of the instance; nothing for the root module."""
        return str(self._frame.instance.addr)

    @property
    def directory(self) -> str:
        """Return the directory of the module's files, relative to the configuration's."""
        return self._frame.module.directory

    @property
    def files(self) -> tuple[str, ...]:
        """The module's files, seen from the directory of the configuration."""
        return self._frame.module.files

    @property
    def variables(self) -> Mapping[str, VariableView]:
        """The input variables with the values they have here."""
        evaluation, frame = self._evaluation, self._frame
        evaluation.evaluate(list(frame.variables.values()))
        declared = frame.module.variables
        return {
            name: variable_view(evaluation, frame, declared[name], node)
            for name, node in frame.variables.items()
        }

    @property
    def locals(self) -> Mapping[str, StaticValue]:
        """The local values."""
        nodes = self._frame.locals
        self._evaluation.evaluate(list(nodes.values()))
        return {name: known_node(self._evaluation, node) for name, node in nodes.items()}

    @property
    def outputs(self) -> Mapping[str, OutputView]:
        """The output values."""
        evaluation, frame = self._evaluation, self._frame
        evaluation.evaluate(list(frame.outputs.values()))
        declared = frame.module.outputs
        return {
            name: output_view(evaluation, frame, declared[name], node)
            for name, node in frame.outputs.items()
        }

    @property
    def resources(self) -> Mapping[str, ResourceView]:
        """The resources, data sources and ephemeral resources by their address in the module."""
        return {
            str(addr): ResourceView(self._evaluation, self._frame, resource)
            for addr, resource in self._frame.module.resources.items()
        }

    @property
    def calls(self) -> Mapping[str, CallView]:
        """The module calls by name, also of modules that are not installed."""
        return {
            name: CallView(self._evaluation, self._frame, call)
            for name, call in self._frame.module.calls.items()
        }

    @property
    def children(self) -> list[ModuleView]:
        """Module instances of the module's calls; if the keys are unknown, one represents all."""
        return [
            ModuleView(self._evaluation, child)
            for call in self._frame.calls.values()
            for child in self._evaluation.module_instances(call).values()
        ]

    @property
    def providers(self) -> Mapping[str, ProviderView]:
        """The module's own and passed provider configurations, by local name."""
        return provider_views(self._evaluation, self._frame)

    @property
    def required_providers(self) -> Mapping[str, ProviderRequirement]:
        """The module's provider requirements, by local name."""
        return required_providers(self._evaluation, self._frame)
