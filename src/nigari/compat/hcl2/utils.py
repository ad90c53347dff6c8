"""Options for how data is written, and strings that hold an expression."""

from dataclasses import dataclass


@dataclass
class SerializationOptions:
    """What the data of `load` and `loads` looks like."""

    with_comments: bool = True
    """Comments are in `__comments__` and `__inline_comments__` of the body they are in."""
    with_meta: bool = False
    """Blocks have `__start_line__` and `__end_line__`."""
    wrap_objects: bool = False
    """Objects are source in `${ }` rather than dicts."""
    wrap_tuples: bool = False
    """Lists are source in `${ }` rather than lists."""
    explicit_blocks: bool = True
    """Blocks have `__is_block__`, which `dumps` tells them from objects by."""
    preserve_heredocs: bool = True
    """Heredocs are written as they are, rather than as strings in quotes."""
    force_operation_parentheses: bool = False
    """Operators inside operators have parentheses."""
    preserve_scientific_notation: bool = True
    """Numbers with an exponent are source in `${ }` rather than floats."""
    strip_string_quotes: bool = False
    """Strings are without their quotes; `dumps` then takes them for names."""


def is_dollar_string(value: object) -> bool:
    """Whether this is source in `${ }`."""
    return isinstance(value, str) and value.startswith("${") and value.endswith("}")


def to_dollar_string(value: str) -> str:
    """Source in `${ }`, where it is not yet."""
    return value if is_dollar_string(value) else f"${{{value}}}"


def unwrap_dollar_string(value: str) -> str:
    """Source without `${ }`, where it had them."""
    return value[2:-1] if is_dollar_string(value) else value


def wrap_into_parentheses(value: str) -> str:
    """Source in parentheses, inside of `${ }` where it had them."""
    if is_dollar_string(value):
        return to_dollar_string(f"({unwrap_dollar_string(value)})")
    return f"({value})"
