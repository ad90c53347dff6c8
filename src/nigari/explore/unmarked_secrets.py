"""Secrets by where they are written: arguments that nothing in the language calls sensitive.

Passwords of connections and backends, keys of state encryption, values that a later file overrides, and
defaults within the types of sensitive variables are in source texts without any value that has a mark.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from nigari import hcl
from nigari.backends.harmless import is_harmless_anywhere
from nigari.config.file_names import is_test_file
from nigari.explore.secrets import Secrets, literals
from nigari.hcl.body import Attribute
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.hcl.source import Source
from nigari.workspace.context.secret_literals import is_secret_name, members, secret_literals

_ITEM: Final = re.compile(r'(\w+)"?\s*[=:]\s*("(?:[^"\\]|\\.)*")')
_TELLING: Final = 8
"""Shorter literals may be ordinary words, which stand elsewhere, too."""
_PLACES: Final = (
    b"connection",
    b"key_provider",
    b"terraform_remote_state",
    b"optional(",
    b"tfvars",
)
"""A file without any of these words has nothing to look for."""


def note_written(
    files: Iterable[tuple[str, bytes]], variables: Collection[str], secrets: Secrets
) -> None:
    """Note what is secret in the texts of files; the values of these variables are."""
    for name, data in files:
        source = Source.from_bytes(name, data)
        for start, end in secret_literals(source, variables):
            where = source.range(start, end)
            secrets.note_literal(name, where.start.byte, where.end.byte)
            if end - start >= _TELLING:
                secrets.note_text(source.text[start:end])
        is_values = name.endswith((".tfvars", ".tfvars.json"))
        if not is_values and not any(each in data for each in _PLACES):
            continue
        if name.endswith(".json"):
            for value in _json_secrets(data, variables if is_values else None):
                secrets.note_text(value)
            continue
        text = data.decode("utf-8", "replace")
        body = hcl.parse(text, name).body
        assert isinstance(body, NativeBody)
        found = _values(body, variables) if is_values else _secrets(body, text)
        for start, end, keeps_names in found:
            places = (len(text[:each].encode()) for each in (start, end))
            secrets.note_bytes(name, *places, keeps_names=keeps_names)
            if not keeps_names:
                # A reference to it shows its value.
                for literal in literals(text[start:end]):
                    secrets.note_text(literal)


Span = tuple[int, int, bool]
"""The range of a secret in a text, and whether the names in it are none."""


def note_tested(directory: str, variables: Collection[str], secrets: Secrets) -> None:
    """Note what test files give to these variables."""
    for folder in (directory, os.path.join(directory, "tests")) if variables else ():
        for name in _test_files(folder):
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            if name.endswith(".json"):
                for value in _json_secrets(data, variables):
                    secrets.note_text(value)
                continue
            text = data.decode("utf-8", "replace")
            for body in _variable_blocks(hcl.parse(text, name).body):
                for start, end, _ in _values(body, variables):
                    for literal in literals(text[start:end]):
                        secrets.note_text(literal)


def _test_files(folder: str) -> list[str]:
    """The test files in a directory; none where there is no directory."""
    try:
        return sorted(each for each in os.listdir(folder) if is_test_file(each))
    except OSError:
        return []


def _variable_blocks(file: NativeBody) -> Iterator[NativeBody]:
    """The blocks of a test file that give values to variables, those of its runs as well."""
    pending = [file]
    while pending:
        for block in pending.pop().blocks:
            if isinstance(block.body, NativeBody):
                if block.type == "variables":
                    yield block.body
                pending.append(block.body)


def _values(body: NativeBody, variables: Collection[str]) -> Iterator[Span]:
    """The values of a variables file, whether or not another file overrides them."""
    for name, attribute in body.attributes.items():
        if name in variables:
            yield _span(attribute)


def _secrets(body: NativeBody, text: str) -> Iterator[Span]:
    pending = [body]
    while pending:
        for block in pending.pop().blocks:
            inner = block.body
            if not isinstance(inner, NativeBody):
                continue
            pending.append(inner)
            attributes = inner.attributes
            if block.type in ("connection", "key_provider"):
                yield from map(_span, _secret_ones(attributes, block.type == "key_provider"))
            elif block.type == "variable" and "type" in attributes and "sensitive" in attributes:
                yield _span(attributes["type"], keeps_names=True)
            elif block.type == "data" and "terraform_remote_state" in block.labels:
                config = attributes.get("config")
                if config is not None:
                    yield from _items(config.expr, text)


def _secret_ones(attributes: Mapping[str, Attribute], all_are: bool) -> Iterator[Attribute]:
    return (each for name, each in attributes.items() if all_are or is_secret_name(name))


def _items(expr: Expression, text: str) -> Iterator[Span]:
    for name, value in members(expr):
        if not is_harmless_anywhere(name) or is_secret_name(name):
            yield value.start, value.end, False
    for found in _ITEM.finditer(text, expr.start, expr.end):
        if not is_harmless_anywhere(found[1]) or is_secret_name(found[1]):
            yield found.start(2), found.end(2), False


def _span(attribute: Attribute, keeps_names: bool = False) -> Span:
    return attribute.expr.start, attribute.expr.end, keeps_names


def _json_secrets(data: bytes, variables: Collection[str] | None) -> Iterator[str]:
    """The texts of what is secret in a JSON file: of these variables, or by names."""
    try:
        pending: list[tuple[object, bool]] = [(json.loads(data), False)]
    except ValueError:
        # It is shown all the same, with what is wrong with it.
        for found in _ITEM.finditer(data.decode("utf-8", "replace")):
            if is_secret_name(found[1]):
                yield found[2].strip('"')
        return
    while pending:
        value, is_secret = pending.pop()
        if isinstance(value, dict):
            for name, each in value.items():
                named = is_secret_name(name) if variables is None else name in variables
                pending.append((each, is_secret or named))
        elif isinstance(value, list):
            pending.extend((each, is_secret) for each in value)
        elif is_secret and isinstance(value, str | int | float):
            yield str(value)
