"""A provider's diagnostics as ours: with a place in the configuration and the address concerned.

A provider names places by attribute path. What it says about itself rather than about one block
gets neither place nor address, so that the same words from many calls are told once.
"""

from collections.abc import Iterable

from nigari import cty
from nigari.diagnostics import Diagnostic
from nigari.hcl.body import Body
from nigari.providers.api import ProviderDiagnostic
from nigari.schema.block import Block
from nigari.schema.locate import locate


def located(
    told: Iterable[ProviderDiagnostic],
    block: Block | None = None,
    body: Body | None = None,
    address: str = "",
) -> list[Diagnostic]:
    """Diagnostics about the thing at `address`, whose configuration is `body` (if it has one)."""
    return [_located(one, block, body, address) for one in told]


def _located(
    told: ProviderDiagnostic, block: Block | None, body: Body | None, address: str
) -> Diagnostic:
    if told.about_provider:
        return Diagnostic(told.severity, told.summary, told.detail)
    detail = told.detail
    subject = None
    if block is not None and body is not None:
        subject = locate(block, body, told.path)
    elif told.path:
        # Without a place in a file, the name of the attribute must do.
        where = cty.path_text(told.path).removeprefix(".")
        detail = f"{where}: {detail}" if detail else f"This concerns {where}."
    return Diagnostic(told.severity, told.summary, detail, subject, address=address)
