"""Keys that select an instance of a provider block, where both are known before planning.

Only the module that has the block can name its instances, so nothing is looked for elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nigari.addrs.keys import DEFERRED, InstanceKey, key_text
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.config.core.provider_ref import ProviderRef
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import STRING
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.hcl.suggestion import listed


def check_provider_key(
    frame: Frame,
    ref: ProviderRef,
    key: Value,
    instances: Mapping[InstanceKey, InstanceData],
    user: str,
) -> None:
    """Report a key that none of these instances has, as far as it is known.

    `user` is the name, in its module, of what uses the instance.
    """
    config = frame.module.provider_configs.get(ref.config)
    if config is None or ref.key is None or DEFERRED in instances:
        return
    if key.is_marked or not key.is_known or key.is_null:
        return
    try:
        found = provider_key(config, convert(key, STRING).as_string())
    except CtyError:
        return
    if found not in instances:
        module, where = frame.instance.addr, ref.key.range
        address = user if module.is_root else f"{module}.{user}"
        report_no_provider_instance(config, found, instances, where, frame.run.diags, address)


def provider_key(config: ProviderConfig | None, text: str) -> InstanceKey:
    """The key that a text stands for: the instances of a `count` have numbers."""
    is_counted = config is not None and config.count is not None
    return int(text) if is_counted and text.isdecimal() and str(int(text)) == text else text


def report_no_provider_instance(
    config: ProviderConfig,
    key: InstanceKey,
    known: Iterable[InstanceKey],
    where: Range,
    diags: Diagnostics,
    address: str = "",
) -> None:
    """Say which instances there are instead of the one that is asked for."""
    argument = "count" if config.count is not None else "for_each"
    keys = [key_text(each) for each in known]
    gives = listed(keys) if keys else "no instances at all"
    diags.error(
        "No such provider instance",
        f"{config.addr} has no instance {key_text(key)}: its {argument} gives {gives}.",
        where,
        address=address,
    )
