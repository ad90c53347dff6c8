"""Layout options for source that is generated from data."""

from dataclasses import dataclass


@dataclass
class FormatterOptions:
    """Layout of generated source."""

    indent_length: int = 2
    open_empty_blocks: bool = True
    """Put the closing brace of an empty block on its own line."""
    open_empty_objects: bool = False
    open_empty_tuples: bool = False
    vertically_align_attributes: bool = True
    """Align the equals signs of a block's arguments."""
    vertically_align_object_elements: bool = True
