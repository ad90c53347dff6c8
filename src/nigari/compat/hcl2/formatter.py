"""The layout of source that is made from data."""

from dataclasses import dataclass


@dataclass
class FormatterOptions:
    """How source is laid out."""

    indent_length: int = 2
    open_empty_blocks: bool = True
    """The closing brace of an empty block is on a line of its own."""
    open_empty_objects: bool = False
    open_empty_tuples: bool = False
    vertically_align_attributes: bool = True
    """The equals signs of a block's arguments are below each other."""
    vertically_align_object_elements: bool = True
