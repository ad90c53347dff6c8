"""IP addresses and networks as numbers, and their textual forms.

Accepts the same texts as OpenTofu, which are more than other parsers accept: parts of an address
may have leading zeros. Deliberately unknown here: functions.
"""

from __future__ import annotations

import re

from nigari.lazy import lazy_pattern
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_IPV4: Final = lazy_pattern(r"([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)", re.ASCII)
_DIGITS: Final = lazy_pattern(r"[0-9]+", re.ASCII)
_GROUP: Final = lazy_pattern(r"0*([0-9A-Fa-f]{1,4})", re.ASCII)
_MAPPED: Final = 0xFFFF


@record
class Address:
    """An address of 32 or 128 bits."""

    number: int
    bits: int

    @property
    def is_ipv4(self) -> bool:
        """True for version 4, including addresses mapped into version 6 (`::ffff:10.0.0.1`)."""
        return self.bits == 32 or self.number >> 32 == _MAPPED

    def __str__(self) -> str:
        if self.is_ipv4:
            return ".".join([str(byte) for byte in (self.number & 0xFFFFFFFF).to_bytes(4, "big")])
        import ipaddress

        return str(ipaddress.IPv6Address(self.number))


@record
class Network:
    """A network: the first `prefix` bits of the address are significant, the others zero."""

    address: Address
    prefix: int

    @property
    def last(self) -> int:
        """Number of the last address."""
        return self.address.number | ((1 << (self.address.bits - self.prefix)) - 1)

    def contains(self, address: Address) -> bool:
        """Check whether the address is in the network. An address of the other version never is."""
        # net.IPNet.Contains of Go compares mapped addresses as those of version 4.
        if address.is_ipv4 != self.address.is_ipv4:
            return False
        mine, size = self.address.number, self.address.bits - self.prefix
        other = address.number
        if self.address.is_ipv4:
            mine, other = mine & 0xFFFFFFFF, other & 0xFFFFFFFF
        return mine >> size == other >> size

    def __str__(self) -> str:
        mapped = self.address.is_ipv4 and self.address.bits == 128
        return f"{self.address}/{max(self.prefix - 96, 0) if mapped else self.prefix}"


def network_of(number: int, bits: int, prefix: int) -> Network:
    """Return the network of that prefix length that contains an address."""
    size = bits - prefix
    return Network(Address(number >> size << size, bits), prefix)


def parse_address(text: str) -> Address | None:
    """Parse an address of either version; None for anything else."""
    return _parse_ipv4(text) or _parse_ipv6(text)


def parse_network(text: str) -> Network | None:
    """Parse an address with its prefix length, as in `10.0.0.0/8`; None for anything else."""
    # Leading zeros are decimal, as in Go before 1.17 (OpenTofu has a copy of that parser in
    # internal/ipaddr).
    written, slash, length = text.partition("/")
    address = parse_address(written)
    if not slash or address is None or _DIGITS.fullmatch(length) is None or len(length) > 64:
        return None
    prefix = int(length)
    if prefix > address.bits:
        return None
    return network_of(address.number, address.bits, prefix)


def _parse_ipv4(text: str) -> Address | None:
    match = _IPV4.fullmatch(text)
    if match is None or len(text) > 256:
        return None
    parts = [int(part) for part in match.groups()]
    return Address(int.from_bytes(parts, "big"), 32) if max(parts) < 256 else None


def _parse_ipv6(text: str) -> Address | None:
    if ":" not in text or len(text) > 256:
        return None
    head, gap, tail = text.partition("::")
    before, after = _groups(head, not gap), _groups(tail, True)
    if before is None or after is None:
        return None
    # RFC 4291: "::" stands for at least one group of zeros.
    missing = 8 - len(before) - len(after)
    if missing < 1 if gap else missing != 0:
        return None
    number = 0
    for group in (*before, *([0] * missing), *after):
        number = number << 16 | group
    return Address(number, 128)


def _groups(text: str, ends: bool) -> list[int] | None:
    """Parse 16-bit groups; the last two may be written as an address of version 4."""
    if not text:
        return []
    groups: list[int] = []
    written = text.split(":")
    for i, part in enumerate(written):
        if "." in part and ends and i == len(written) - 1:
            embedded = _parse_ipv4(part)
            if embedded is None:
                return None
            groups += [embedded.number >> 16, embedded.number & 0xFFFF]
            continue
        match = _GROUP.fullmatch(part)
        if match is None:
            return None
        groups.append(int(match[1], 16))
    return groups
