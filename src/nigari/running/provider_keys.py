"""The instances of provider blocks, and the keys by which resources and calls select them.

Keys are ordinary expressions of the place where they are written. Which instances a block has must
be known by the time one of them is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.keys import InstanceKey
from nigari.config.declared import Repetition
from nigari.config.provider_config import ProviderConfig
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import STRING
from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.eval.base.expansion import InstanceData
from nigari.eval.base.instances import Frame, Origin
from nigari.eval.base.once import Need, Node
from nigari.eval.base.scope import evaluate_origin
from nigari.eval.nodes.module_call import expand
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.running.unknown_values import is_reported, report_unknown_expansion


class ExpandedProvider(Node):
    """A provider block of one module instance; its result is the block's instances."""

    __slots__ = ("_config", "_deferred_by", "_frame", "instances", "is_known")

    def __init__(self, frame: Frame, config: ProviderConfig) -> None:
        super().__init__()
        self._frame = frame
        self._config = config
        self.instances: Mapping[InstanceKey, InstanceData] = {}
        self.is_known: bool = False
        """Whether the instances could be told."""
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
        expansion = expand(frame, Repetition(config.count, config.for_each))
        if isinstance(expansion, list):
            return expansion
        self._deferred_by = expansion.deferred_by
        if expansion.deferred_by is None:
            self.instances = expansion.instances
            self.is_known = frame.run.diags.error_count == errors
        return ()

    def report_unknown(self) -> None:
        """Say, once, that the instances cannot be told yet."""
        deferred_by, self._deferred_by = self._deferred_by, None
        if deferred_by is not None:
            config = self._config
            repetition = Repetition(config.count, config.for_each)
            name = f"provider.{config.addr}"
            report_unknown_expansion(self._frame, name, repetition, deferred_by)


def selected_key(origin: Origin) -> str | list[Need] | None:
    """The key that an expression gives, what must be done first to tell, or None after reporting
    why it gives none.
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
        problem = "It is known only after something else has been applied."
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
