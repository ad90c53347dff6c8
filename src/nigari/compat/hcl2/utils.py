"""Serialization options, and strings that hold an expression."""

from dataclasses import dataclass


@dataclass
class SerializationOptions:
    """Choices for the data of `load` and `loads`."""

    with_comments: bool = True
    """Collect comments in `__comments__` and `__inline_comments__` of their body."""
    with_meta: bool = False
    """Add `__start_line__` and `__end_line__` to blocks."""
    wrap_objects: bool = False
    """Represent objects as source in `${ }` instead of dicts."""
    wrap_tuples: bool = False
    """Represent lists as source in `${ }` instead of lists."""
    explicit_blocks: bool = True
    """Add `__is_block__` to blocks, by which `dumps` distinguishes them from objects."""
    preserve_heredocs: bool = True
    """Represent heredocs by their source instead of quoted strings."""
    force_operation_parentheses: bool = False
    """Put nested operations in parentheses."""
    preserve_scientific_notation: bool = True
    """Represent numbers with an exponent as source in `${ }` instead of floats."""
    strip_string_quotes: bool = False
    """Drop the quotes of strings; `dumps` then treats them as names."""


def is_dollar_string(value: object) -> bool:
    """Check for source in `${ }`."""
    return isinstance(value, str) and value.startswith("${") and value.endswith("}")


def to_dollar_string(value: str) -> str:
    """Wrap source in `${ }`, unless it already is."""
    return value if is_dollar_string(value) else f"${{{value}}}"


def unwrap_dollar_string(value: str) -> str:
    """Remove `${ }` around source, if present."""
    return value[2:-1] if is_dollar_string(value) else value


def wrap_into_parentheses(value: str) -> str:
    """Put source in parentheses, inside `${ }` if present."""
    if is_dollar_string(value):
        return to_dollar_string(f"({unwrap_dollar_string(value)})")
    return f"({value})"
