"""`yamlencode` and `yamldecode`."""

from __future__ import annotations

from nigari.cty.function import Function, Parameter
from nigari.cty.types import DYNAMIC, STRING, Type
from nigari.cty.values import Value, string, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def _encode(args: list[Value], expected: Type) -> Value:
    from nigari.lang.functions.yaml_writer import write_yaml

    if not args[0].is_wholly_known:
        return unknown(expected)
    return string(write_yaml(args[0]))


def _decode(args: list[Value], _: Type) -> Value:
    from nigari.lang.functions.yaml_reader import read_yaml

    return read_yaml(args[0].as_string())


# The type of `yamldecode` stays open, since computing it would read the whole document twice.
FUNCTIONS: Final = {
    "yamldecode": Function((Parameter("src", STRING),), None, DYNAMIC, _decode),
    "yamlencode": Function(
        (Parameter("value", DYNAMIC, allow_null=True, allow_dynamic=True),), None, STRING, _encode
    ),
}
