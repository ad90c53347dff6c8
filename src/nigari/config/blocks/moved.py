"""`moved` blocks, which declare new addresses of objects."""

from __future__ import annotations

from nigari.addrs.module import ModuleAddr
from nigari.addrs.moves import MoveEndpoint
from nigari.addrs.parse import parse_move_endpoint
from nigari.config.core.declared import Declared, schema
from nigari.config.core.written_address import WrittenAddress, decode_address
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block
from nigari.record import record


@record
class Moved:
    """A `moved` block. Addresses stay unevaluated: their keys may be static expressions."""

    source: WrittenAddress
    target: WrittenAddress
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


_SCHEMA = schema(required=("from", "to"))


def decode_moved(declared: Declared, diags: Diagnostics) -> Moved | None:
    """Decode a `moved` block; None if one of its addresses is invalid."""
    given = declared.body.content(_SCHEMA, diags).attributes
    source = _endpoint(given.get("from"), diags)
    target = _endpoint(given.get("to"), diags)
    if source is None or target is None:
        return None
    if isinstance(source[1].subject, ModuleAddr) is not isinstance(target[1].subject, ModuleAddr):
        _report_mixed(declared, diags)
        return None
    return Moved(source[0], target[0], declared.block)


def _endpoint(
    attribute: Attribute | None, diags: Diagnostics
) -> tuple[WrittenAddress, MoveEndpoint] | None:
    """Parse an endpoint as an address, and by its form."""
    address = None if attribute is None else decode_address(attribute.expr, diags)
    if address is None:
        return None
    endpoint = parse_move_endpoint(address.shape, diags)
    if endpoint is None:
        return None
    if not endpoint.is_movable:
        _report_immovable(address.range, diags)
        return None
    return address, endpoint


def _report_mixed(declared: Declared, diags: Diagnostics) -> None:
    diags.error(
        "Move between a resource and a module",
        "A resource can only be moved to a resource, and a module to a module: both addresses of "
        "a moved block must be of the same kind.",
        declared.range,
    )


def _report_immovable(where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Nothing to move",
        "Ephemeral resources are not stored in the state, so there is nothing to move.",
        where,
    )
