"""The block `store` of `terraform_data`, which stores a value that may be ephemeral.

`input` is write-only: neither plan nor state has it. `output` has the stored value, or
`sensitive_output` if it is sensitive. The rules are those of Terraform 1.16.
"""

from __future__ import annotations

from nigari import cty
from nigari.providers import api
from nigari.providers.base import problem
from nigari.providers.builtin.schema import STORE
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_OUTPUTS: Final = ("output", "sensitive_output")
_SETTINGS: Final = ("sensitive", "replace")
_NOTHING: Final = cty.null(cty.DYNAMIC)


@record
class PlannedStore:
    """The planned block, and whether it replaces the object that has it."""

    planned: cty.Value
    replaces: bool = False
    diagnostics: api.ProviderDiagnostics = ()


def plan_store(prior: cty.Value, wanted: cty.Value, given: cty.Value) -> PlannedStore:
    """Plan the block. `prior` is null if nothing is stored yet; `given` is the configured input."""
    for name in _SETTINGS:
        if not wanted.attribute(name).is_known:
            return PlannedStore(wanted, diagnostics=_unknown_setting(name))
    stored = _NOTHING if prior.is_null else _stored(prior)
    changes = _changes(prior, wanted, stored, given)
    result = cty.unknown(given.type) if changes else stored
    planned = dict(wanted.mapping())
    planned["input"] = _NOTHING
    used = "sensitive_output" if _is_true(wanted, "sensitive") else "output"
    planned.update({name: result if name == used else _NOTHING for name in _OUTPUTS})
    is_replaced = not result.is_known and _is_true(wanted, "replace")
    return PlannedStore(cty.object_value(planned), is_replaced)


def apply_store(planned: cty.Value, given: cty.Value) -> cty.Value:
    """Store the input where the plan expects a new value. An ephemeral one may differ by now."""
    parts = planned.mapping()
    new = {name: given for name in _OUTPUTS if not parts[name].is_known}
    return cty.object_value({**parts, **new})


def _stored(store: cty.Value) -> cty.Value:
    """The value that a block has stored, whichever attribute has it."""
    sensitive = store.attribute("sensitive_output")
    return store.attribute("output") if sensitive.is_null else sensitive


def _changes(prior: cty.Value, wanted: cty.Value, stored: cty.Value, given: cty.Value) -> bool:
    """Return whether the input is stored again: with a version, only a change of that counts."""
    if stored.is_null and given.is_null:
        return False
    version = wanted.attribute("version")
    if not version.is_null:
        return prior.is_null or version != prior.attribute("version")
    return given != stored


def _is_true(store: cty.Value, name: str) -> bool:
    value = store.attribute(name)
    return not value.is_null and value.as_bool()


def _unknown_setting(name: str) -> api.ProviderDiagnostics:
    return problem(
        "Unknown setting of a store",
        f"{name} decides what is planned, so it must be known while planning. Use a value that "
        "does not depend on resources that have yet to be created.",
        (cty.GetAttr(STORE), cty.GetAttr(name)),
    )
