"""Conversion of data in the shape of python-hcl2 to source, in its layout."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from nigari.compat.hcl2.const import IS_BLOCK, RESERVED
from nigari.compat.hcl2.expression_text import aligned, laid_out
from nigari.compat.hcl2.formatter import FormatterOptions
from nigari.compat.hcl2.utils import is_dollar_string
from nigari.diagnostics import Diagnostics
from nigari.hcl.errors import HclError
from nigari.hcl.parser import parse_expression
from nigari.hcl.source import Source

_ESCAPED = re.compile(r'\\(n|"|\\)')


@dataclass
class DeserializerOptions:
    """Choices for data that could be written in several ways."""

    heredocs_to_strings: bool = False
    """Write heredocs as quoted strings."""
    strings_to_heredocs: bool = False
    """Write multi-line strings as heredocs."""
    object_elements_colon: bool = False
    """Write a colon between the keys and values of objects."""
    object_elements_trailing_comma: bool = True
    """Write a comma after each entry of an object."""


def source_of_data(data: object, options: DeserializerOptions, layout: FormatterOptions) -> str:
    """Write the source of a file with this content."""
    if not isinstance(data, Mapping):
        raise TypeError(f"the content of a file is a dict, not a {type(data).__name__}")
    text = _Writer(options, layout).body(data, 0, align=False)
    return f"{text}\n" if text else ""


def has_block_marker(data: object) -> bool:
    """Check for a block anywhere in the data."""
    if isinstance(data, Mapping):
        return bool(data.get(IS_BLOCK)) or any(has_block_marker(each) for each in data.values())
    return isinstance(data, list) and any(has_block_marker(each) for each in data)


class _Writer:
    def __init__(self, options: DeserializerOptions, layout: FormatterOptions) -> None:
        self.options = options
        self.layout = layout
        self.indent = " " * layout.indent_length

    def body(self, data: Mapping[str, object], level: int, align: bool) -> str:
        """Write the items of a body, the first without its indentation."""
        line = f"\n{self.indent * level}"
        pieces: list[str] = []
        run: list[tuple[str, str]] = []
        before = ""
        for name, given in data.items():
            if name in RESERVED:
                continue
            if not isinstance(given, list) or not any(has_block_marker(each) for each in given):
                run.append((name, self.value(given, level + 1)))
                continue
            if run:
                pieces.append(before + line.join(aligned(run, align)))
                before, run = line, []
            for block in given:
                gap = f"{line}{before}" if pieces else ""
                pieces.append(gap + self._block(name, block, level))
                before = f"\n{line}"
        if run:
            pieces.append(before + line.join(aligned(run, align)))
        return "".join(pieces)

    def _block(self, type_: str, data: object, level: int) -> str:
        labels = [type_]
        while isinstance(data, Mapping) and not data.get(IS_BLOCK):
            keys = [key for key in data if key not in RESERVED]
            if len(keys) != 1:
                break
            labels.append(keys[0])
            data = data[keys[0]]
        assert isinstance(data, Mapping)
        align = self.layout.vertically_align_attributes
        content = self.body(data, level + 1, align)
        end = self.indent * level
        head = f"{' '.join(labels)} {{"
        if content:
            return f"{head}\n{self.indent * (level + 1)}{content}\n{end}}}"
        return f"{head}\n\n{end}}}" if self.layout.open_empty_blocks else f"{head}}}"

    def value(self, data: object, level: int) -> str:
        """Write an expression; `level` is that of the lines of its elements."""
        if isinstance(data, Mapping):
            return self._object(data, level)
        if isinstance(data, list | tuple):
            return self._list(data, level)
        if isinstance(data, bool):
            return "true" if data else "false"
        if data is None:
            return "null"
        return self._text(data, level) if isinstance(data, str) else str(data)

    def _object(self, data: Mapping[str, object], level: int) -> str:
        line, end = f"\n{self.indent * level}", f"\n{self.indent * (level - 1)}"
        if not data:
            return f"{{\n{end}}}" if self.layout.open_empty_objects else "{}"
        pairs = [(self._key(key), self.value(each, level + 1)) for key, each in data.items()]
        sign = ":" if self.options.object_elements_colon else "="
        entries = aligned(pairs, self.layout.vertically_align_object_elements, sign)
        comma = "," if self.options.object_elements_trailing_comma else ""
        return f"{{{line}{f'{comma}{line}'.join(entries)}{comma}{end}}}"

    def _list(self, data: list[object] | tuple[object, ...], level: int) -> str:
        line, end = f"\n{self.indent * level}", f"\n{self.indent * (level - 1)}"
        if not data:
            return f"[\n{end}]" if self.layout.open_empty_tuples else "[]"
        return f"[{''.join([f'{line}{self.value(each, level + 1)},' for each in data])}{end}]"

    def _key(self, key: object) -> str:
        return str(key)[2:-1] if is_dollar_string(key) else self.value(key, 0)

    def _text(self, text: str, level: int) -> str:
        if text.startswith('"') and text.endswith('"') and len(text) > 1:
            return self._string(text)
        if is_dollar_string(text):
            diags = Diagnostics()
            expression = parse_expression(Source("<data>", text[2:-1]), diags)
            if diags.has_errors:
                raise HclError(list(diags), f"{text} is not an expression: {diags[0].detail}")
            align = self.layout.vertically_align_object_elements
            return laid_out(expression, level, self.indent, align)
        return text

    def _string(self, text: str) -> str:
        inner = text[1:-1]
        if inner.startswith("<<") and "\n" in inner:
            if not self.options.heredocs_to_strings:
                return inner
            return json.dumps(inner, ensure_ascii=False)
        if self.options.strings_to_heredocs and "\\n" in inner:
            content = _ESCAPED.sub(lambda m: "\n" if m[1] == "n" else m[1], inner)
            return f"<<EOF\n{content}\nEOF"
        return text
