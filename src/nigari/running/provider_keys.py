"""Instances of provider blocks, and the keys that select them.

Keys are ordinary expressions, evaluated in the module that contains them. The instances of a block
must be known when one of them is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.keys import InstanceKey
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.config.core.declared import Repetition
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import STRING
from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate_origin
from nigari.eval.core.worklist import Need, Node
from nigari.eval.nodes.module_call import expand
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.running.deferrals import Deferral, Deferrals, DeferredKind
from nigari.running.unknown_values import in_rounds, is_reported, report_unknown_expansion


class ExpandedProvider(Node):
    """Expands a provider block of one module instance; the result is its instances."""

    __slots__ = (
        "_config",
        "_deferrals",
        "_deferred_by",
        "_frame",
        "deferral",
        "instances",
        "is_known",
    )

    def __init__(
        self,
        frame: Frame,
        config: ProviderConfig,
        deferrals: Deferrals | None = None,
    ) -> None:
        super().__init__()
        self._frame = frame
        self._config = config
        self._deferrals = deferrals
        self.deferral: Deferral | None = None
        """Deferral of all or some instances."""
        self.instances: Mapping[InstanceKey, InstanceData] = {}
        self.is_known: bool = False
        """True if the instances are known."""
        self._deferred_by: Value | None = None

    @property
    def label(self) -> str:
        return self._frame.label(f"provider.{self._config.addr}")

    @property
    def range(self) -> Range:
        return self._config.range

    def fail(self) -> None:
        self.instances = {}

    def step(self) -> Sequence[Need]:
        config, frame = self._config, self._frame
        errors = frame.run.diags.error_count
        repetition = Repetition(config.count, config.for_each)
        expansion = expand(frame, repetition)
        if isinstance(expansion, list):
            return expansion
        self._deferred_by = expansion.deferred_by
        if expansion.deferred_by is None:
            self.instances = expansion.instances
            self.is_known = frame.run.diags.error_count == errors
        elif self._deferrals is not None:
            name = f"provider.{config.addr}"
            found = self._deferrals.expanded(
                DeferredKind.PROVIDER,
                frame,
                name,
                repetition,
                expansion,
                config.range,
            )
            if found is not None:
                self.deferral, self.instances = found
        return ()

    def report_unknown(self) -> None:
        """Report unknown instances, once."""
        deferred_by, self._deferred_by = self._deferred_by, None
        if deferred_by is not None:
            config = self._config
            repetition = Repetition(config.count, config.for_each)
            name = f"provider.{config.addr}"
            report_unknown_expansion(self._frame, name, repetition, deferred_by)


def selected_key(
    origin: Origin, deferrals: Deferrals | None = None
) -> str | list[Need] | Value | None:
    """Evaluate a key, or return its pending dependencies; None after reporting an invalid one. If
    it may be deferred, an unknown key is returned as is.
    """
    value = evaluate_origin(origin)
    if not isinstance(value, Value):
        return value
    value, marks = value.unmark()
    problem = ""
    if SENSITIVE in marks or EPHEMERAL in marks:
        problem = "It comes from a sensitive or ephemeral value, and keys are shown and stored."
    elif not value.is_known:
        if is_reported(value):
            return None
        if deferrals is not None:
            return value
        problem = f"It is known only after something else has been applied. {in_rounds()}"
    elif value.is_null:
        problem = "It is null."
    else:
        try:
            return convert(value, STRING).as_string()
        except CtyError as error:
            problem = f"It cannot be a key: {error.message}."
    origin.frame.run.diags.error(
        "Invalid provider instance key",
        f"The key selects an instance of the provider configuration. {problem}",
        origin.compiled.expr.range,
    )
    return None
