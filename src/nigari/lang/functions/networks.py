"""The `cidr…` functions for IP networks."""

from __future__ import annotations

from nigari.cty import numbers
from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.stdlib.arguments import int_argument
from nigari.cty.types import BOOL, NUMBER, STRING, ListType, Type
from nigari.cty.values import Value, boolean, list_value, string
from nigari.lang.functions.ip_addresses import (
    Address,
    Network,
    network_of,
    parse_address,
    parse_network,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_LOW_BITS: Final = (1 << 64) - 1


def _network(value: Value, argument: int | None = None) -> Network:
    text = value.as_string()
    network = parse_network(text)
    if network is None:
        raise FunctionError(f'"{text}" is not an address range such as 10.0.0.0/8', argument)
    return network


def _whole(value: Value) -> int:
    """Return the argument as an integer of any size."""
    number = value.as_number()
    whole = numbers.whole(number, 100_000)
    if whole is None:
        raise FunctionError("a whole number is required")
    return whole


def _within(number: int, bits: int) -> Address:
    number = abs(number)
    if number >> bits:
        raise FunctionError("the number does not fit in the address")
    return Address(number, bits)


def _host(args: list[Value], _: Type) -> Value:
    wanted = _whole(args[1])
    network = _network(args[0])
    bits = network.address.bits
    most = (1 << (bits - network.prefix)) - 1
    # go-cidr: negative numbers count from the end of the range.
    if wanted < 0:
        offset = -wanted - 1
        wanted = most - offset
    else:
        # OpenTofu only checks the lowest 64 bits of a larger number, as a signed number.
        offset = wanted & _LOW_BITS
        if offset >> 63:
            offset = 0
    if offset > most:
        raise FunctionError(f"the range {network} has no host with that number")
    shift = bits - (32 if network.address.is_ipv4 else 128)
    return string(str(_within(network.address.number | wanted << shift, bits)))


def _netmask(args: list[Value], _: Type) -> Value:
    network = _network(args[0])
    # CidrNetmaskFunc: IPv6 has prefix lengths only.
    if not network.address.is_ipv4:
        raise FunctionError(f"{network} is an IPv6 range, which has no netmask")
    bits = network.address.bits
    mask = (1 << bits) - (1 << (bits - network.prefix))
    return string(str(Address(mask, bits)))


def _subnet(args: list[Value], _: Type) -> Value:
    new_bits, wanted = _int(args[1]), _whole(args[2])
    network = _network(args[0])
    bits = network.address.bits
    prefix = network.prefix + new_bits
    if prefix > bits:
        raise FunctionError(f"the prefix of {network} cannot be extended by {new_bits} bits")
    # go-cidr compares with a 64-bit mask, so more new bits accept every number.
    most = (1 << new_bits) - 1 if 0 <= new_bits < 64 else _LOW_BITS
    if abs(wanted) & _LOW_BITS > most:
        raise FunctionError(f"{new_bits} additional bits are not enough for subnet number {wanted}")
    if prefix < 0:
        raise FunctionError("the prefix cannot be shortened by more bits than it has")
    address = _within(network.address.number | wanted << (bits - prefix), bits)
    return string(str(Network(address, prefix)))


def _int(value: Value) -> int:
    number = numbers.whole(value.as_number(), 63)
    if number is None:
        raise FunctionError("the number is too large")
    return number


def _subnets(args: list[Value], _: Type) -> Value:
    network = _network(args[0], 0)
    bits = network.address.bits
    texts: list[Value] = []
    next_free = network.address.number
    for i, arg in enumerate(args[1:], 1):
        new_bits = int_argument(arg, i)
        if new_bits < 1:
            raise FunctionError("at least one additional bit is required", i)
        prefix = network.prefix + new_bits
        if prefix > bits:
            raise FunctionError(f"the prefix of {network} cannot be extended that far", i)
        size = 1 << (bits - prefix)
        # go-cidr (NextSubnet): each subnet begins at the next multiple of its own size.
        start = -(-next_free // size) * size
        # As in OpenTofu, a subnet that begins at address zero has wrapped around the last address.
        if start == 0 or start > network.last:
            raise FunctionError(
                f"{network} has no room left for a subnet with a prefix of {prefix} bits", i
            )
        texts.append(string(str(network_of(start, bits, prefix))))
        next_free = start + size
    return list_value(STRING, texts)


def _contains(args: list[Value], _: Type) -> Value:
    containing, text = _network(args[0]), args[1].as_string()
    first = parse_address(text)
    last = first
    if first is None or last is None:
        contained = parse_network(text)
        if contained is None:
            raise FunctionError(f'"{text}" is neither an address nor an address range')
        first = contained.address
        last = Address(contained.last, first.bits)
    # CidrContainsFunc: an error instead of false, so that a mixed-up version is noticed.
    if first.is_ipv4 != containing.address.is_ipv4:
        raise FunctionError(f"{containing} and {text} belong to different versions of IP")
    return boolean(containing.contains(first) and containing.contains(last))


_PREFIX: Final = Parameter("prefix", STRING)
_NEW_BITS: Final = Parameter("newbits", NUMBER)

FUNCTIONS: Final = {
    "cidrcontains": Function(
        (Parameter("containing_prefix", STRING), Parameter("contained_ip_or_prefix", STRING)),
        None,
        BOOL,
        _contains,
    ),
    "cidrhost": Function(
        (_PREFIX, Parameter("hostnum", NUMBER)), None, STRING, _host, NOT_NULL_RESULT
    ),
    "cidrnetmask": Function((_PREFIX,), None, STRING, _netmask, NOT_NULL_RESULT),
    "cidrsubnet": Function(
        (_PREFIX, _NEW_BITS, Parameter("netnum", NUMBER)), None, STRING, _subnet, NOT_NULL_RESULT
    ),
    "cidrsubnets": Function((_PREFIX,), _NEW_BITS, ListType(STRING), _subnets, NOT_NULL_RESULT),
}
