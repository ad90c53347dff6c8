"""Conversion of a provider's diagnostics: adds the source range and the address.

A provider refers to attributes by path. A diagnostic about the provider itself gets neither range
nor address, so that repeated ones are reported once.
"""

from collections.abc import Iterable

from nigari import cty
from nigari.diagnostics import Diagnostic
from nigari.hcl.body import Body
from nigari.providers.api import ProviderDiagnostic
from nigari.schema.block import Block


def located(
    reported: Iterable[ProviderDiagnostic],
    block: Block | None = None,
    body: Body | None = None,
    address: str = "",
) -> list[Diagnostic]:
    """Convert diagnostics about the object at `address`, whose configuration is `body` (if it has
    one).
    """
    return [_located(one, block, body, address) for one in reported]


def _located(
    reported: ProviderDiagnostic, block: Block | None, body: Body | None, address: str
) -> Diagnostic:
    from nigari.schema.locate import locate

    if reported.about_provider:
        return Diagnostic(reported.severity, reported.summary, reported.detail)
    detail = reported.detail
    subject = None
    if block is not None and body is not None:
        subject = locate(block, body, reported.path)
    elif reported.path:
        # Without a source range, the detail names the attribute.
        where = cty.path_text(reported.path).removeprefix(".")
        detail = f"{where}: {detail}" if detail else f"This concerns {where}."
    return Diagnostic(reported.severity, reported.summary, detail, subject, address=address)
