"""Provider blocks with instances, for programs that can iterate them by static keys."""

from __future__ import annotations

from nigari.config.blocks.provider_config import ProviderConfig
from nigari.cty.types import KIND_SET
from nigari.eval.core.instances import Frame
from nigari.hcl.quoting import quoted
from nigari.hcl.render import render_value
from nigari.plain.expressions import InstanceWords, Rewriting, as_operand
from nigari.plain.static_values import StaticValues
from nigari.record import record


@record
class IteratedProvider:
    """The `for_each` of a provider block."""

    text: str | None = None
    """The text of the new argument; None if the block can stay."""
    words: InstanceWords | None = None
    """The replacements for `each` and `count`."""


def iterated_provider(
    values: StaticValues, frame: Frame, config: ProviderConfig, rewriting: Rewriting
) -> IteratedProvider:
    """Return the static keys of a repeated provider block. They are strings."""
    if config.count is not None:
        words = InstanceWords("tonumber(each.key)", lambda steps: f"each.value{steps}")
        keys = values.run.providers[frame][config.addr].instances
        text = f"toset([{', '.join([quoted(str(key)) for key in keys])}])"
        if values.accepts(frame, config.count):
            count = rewriting.text(config.count)
            text = f"toset([for index in range({count}) : tostring(index)])"
        return IteratedProvider(text, words)
    for_each = config.for_each
    if for_each is None or values.accepts(frame, for_each):
        return IteratedProvider()
    value = values.quietly(frame, for_each)
    if value is not None and value.is_wholly_known and not value.contains_marked:
        text = render_value(value)
        return IteratedProvider(f"toset({text})" if value.type.kind == KIND_SET else text)
    keys = values.run.providers[frame][config.addr].instances
    text = f"toset([{', '.join([quoted(str(key)) for key in keys])}])"
    collection = as_operand(rewriting.text(for_each), for_each)
    return IteratedProvider(
        text, InstanceWords("each.key", lambda steps: f"{collection}[each.key]{steps}")
    )
