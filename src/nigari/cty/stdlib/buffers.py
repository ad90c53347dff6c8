"""Functions on raw bytes, represented by a capsule type."""

from __future__ import annotations

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.stdlib.arguments import int_argument
from nigari.cty.types import NUMBER, CapsuleType, Type
from nigari.cty.values import Value, capsule_value, number
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


BYTES: Final = CapsuleType("bytes", bytes)
_BUF: Final = Parameter("buf", BYTES, allow_dynamic=True)


def _bytes_len(args: list[Value], _: Type) -> Value:
    return number(len(cast(bytes, args[0].data)))


def _bytes_slice(args: list[Value], _: Type) -> Value:
    buffer = cast(bytes, args[0].data)
    offset, length = int_argument(args[1], 1), int_argument(args[2], 2)
    if offset < 0 or length < 0:
        raise FunctionError("the offset and the length must not be negative")
    if offset + length > len(buffer):
        raise FunctionError(
            f"the selected part reaches beyond the end of the buffer, {len(buffer)}"
        )
    return capsule_value(BYTES, buffer[offset : offset + length])


BYTES_LEN: Final = Function((_BUF,), None, NUMBER, _bytes_len, NOT_NULL_RESULT)
BYTES_SLICE: Final = Function(
    (
        _BUF,
        Parameter("offset", NUMBER, allow_dynamic=True),
        Parameter("length", NUMBER, allow_dynamic=True),
    ),
    None,
    BYTES,
    _bytes_slice,
    NOT_NULL_RESULT,
)
