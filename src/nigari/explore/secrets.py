"""Secrets: what must not leave Python, found by the marks of values and masked in source texts.

A value shows itself without its secrets already. A source text does not: a password may be written in
a file of variables, as a default or as an argument. Both what sensitive values look like and where
they are written is noted here, and masked with as many dots, so that positions stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from operator import itemgetter
from typing import Final, TypeAlias

from nigari.cty import numbers
from nigari.cty.go_text import go_quote
from nigari.cty.types import KIND_NUMBER
from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.diagnostics.secret_urls import secret_spans
from nigari.hcl import tokens
from nigari.hcl.scanner import scan_expression
from nigari.hcl.tokens import Tokens
from nigari.lang.marks import EPHEMERAL, SENSITIVE

_Mask: TypeAlias = Callable[[str], str]
_DOT: Final = "•"
_SHORTEST: Final = 3
"""A literal this long that equals a secret is masked."""
_SHORTEST_WITHIN: Final = 6
"""A secret this long is masked wherever it occurs in a text."""
_MOST_SEARCHED: Final = 300
"""The most secrets that are searched for one by one."""
_VISIBLE: Final = re.compile(r"\S")
_WORDS: Final = re.compile(r'[^\s"\[\]{}(),=]')
_LITERALS: Final = frozenset(
    (
        tokens.NUMBER,
        tokens.STRING,
        tokens.ESCAPED_STRING,
        tokens.QUOTED_TEXT,
        tokens.TEXT,
    )
)


class Secrets:
    """The secrets so far."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._ranges: dict[str, list[tuple[int, int, _Mask]]] = {}

    def note(self, value: Value, where: Range | None = None) -> None:
        """Remember the secret parts of a value; all of it is where it is written, if it is secret
        as a whole.
        """
        if not value.contains_marked:
            return
        for text in _secret_texts(value):
            self._add(text)
        if where is not None and _is_secret(value):
            self.note_range(where)

    def note_range(self, where: Range) -> None:
        """Remember where a secret is written."""
        self.note_bytes(where.filename, where.start.byte, where.end.byte)

    def note_bytes(self, filename: str, start: int, end: int, *, keeps_names: bool = False) -> None:
        """The same; the names of attributes in it may be no secrets."""
        self._note(filename, start, end, without_literals if keeps_names else _masked_code)

    def note_literal(self, filename: str, start: int, end: int) -> None:
        """The same for what is between quotes: whatever it looks like, it is no code."""
        self._note(filename, start, end, _masked_text)

    def _note(self, filename: str, start: int, end: int, mask: _Mask) -> None:
        self._ranges.setdefault(filename, []).append((start, end, mask))

    def note_text(self, text: str) -> None:
        """Remember a text that is secret."""
        self._add(text)

    def note_all(self, value: Value) -> None:
        """Remember all parts of a value that a schema calls sensitive."""
        for text in _texts(value.unmark_deep()[0]):
            self._add(text)

    def _add(self, text: str) -> None:
        for each in (text, *text.split("\n")):
            stripped = each.strip()
            if len(stripped) >= _SHORTEST:
                self._texts.add(stripped)

    def masked(self, filename: str, data: bytes) -> str:
        """The text of a file without what is secret in it."""
        marks = sorted(self._ranges.get(filename, ()), key=itemgetter(0, 1))
        pieces: list[str] = []
        at = 0
        for start, end, mask in marks:
            start = max(start, at)
            pieces.append(_decoded(data[at:start]))
            piece = _decoded(data[start:end])
            is_words = filename.endswith(".json") and mask is not _masked_text
            pieces.append(_masked_words(piece) if is_words else mask(piece))
            at = max(at, end)
        return self.scrubbed("".join((*pieces, _decoded(data[at:]))))

    def scrubbed(self, text: str) -> str:
        """A text without the secrets that are written in it."""
        return self.scrubbed_all([text])[0]

    def scrubbed_all(self, texts: list[str]) -> list[str]:
        """The same for many texts at once, which may be JSON or source code.

        What was sensitive once and comes back without its mark, as attributes do that a provider
        has computed, is found here.
        """
        texts = [_without_credentials(each) for each in texts]
        forms = self._forms()
        found = _present(forms, "\0".join(texts))
        if not found:
            return texts
        by_length = sorted(found, key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, by_length)))
        return [pattern.sub(lambda secret: forms[secret[0]], text) for text in texts]

    def _forms(self) -> dict[str, str]:
        """The written forms of secrets, and their replacements: short ones only as whole strings."""
        forms: dict[str, str] = {}
        for text in self._texts:
            for each in (text, go_quote(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
                masked = _VISIBLE.sub(_dots, each)
                if len(text) >= _SHORTEST_WITHIN:
                    forms[each] = masked
                else:
                    forms[f'"{each}"'] = f'"{masked}"'
        return forms


def _present(forms: Collection[str], text: str) -> Collection[str]:
    """Which of the forms are in a text."""
    if len(forms) > _MOST_SEARCHED:
        # Too many to look for each: what begins like none of them is no place to look at.
        length = min(map(len, forms))
        beginnings: dict[str, list[str]] = {}
        for form in forms:
            beginnings.setdefault(form[:length], []).append(form)
        likely = {text[at : at + length] for at in range(len(text) - length + 1)}
        forms = {form for start in likely & beginnings.keys() for form in beginnings[start]}
    return [form for form in forms if form in text]


def _masked_words(text: str) -> str:
    return _WORDS.sub(_dots, text)


def literals(text: str) -> Iterator[str]:
    """The literals of an expression."""
    found = scan_expression(text)
    for kind, written in zip(found.kinds, found.texts, strict=True):
        if kind in _LITERALS:
            yield written.strip('"')


def without_literals(text: str) -> str:
    """An expression whose literals are masked, and its names are not."""
    return _masked_code(text, keeps_names=True)


def _masked_text(text: str) -> str:
    return _VISIBLE.sub(_dots, text)


def _masked_code(text: str, keeps_names: bool = False) -> str:
    """An expression without its literals: what it refers to and which functions it calls may be read."""
    found = scan_expression(text)
    if tokens.INVALID in found.kinds or found.broken_strings:
        return _masked_words(text)
    pieces: list[str] = []
    at = 0
    for number, kind in enumerate(found.kinds):
        start, written = found.starts[number], found.texts[number]
        if kind in _LITERALS or (not keeps_names and _is_key(found, number)):
            pieces.append(text[at:start])
            pieces.append(_masked_words(text[start : start + len(written)]))
            at = start + len(written)
    return "".join((*pieces, text[at:]))


def _is_key(found: Tokens, number: int) -> bool:
    """Return whether a token is an attribute name or a keyword."""
    kind, text = found.kinds[number], found.texts[number]
    if kind == tokens.ARGUMENT or text in ("true", "false"):
        return True
    if kind != tokens.IDENTIFIER:
        return False
    before = found.kinds[number - 1] if number else tokens.END
    after = found.kinds[number + 1]
    starts = before in (tokens.OPEN_BRACE, tokens.COMMA, tokens.NEWLINE)
    return after == tokens.ASSIGN or (after == tokens.COLON and starts)


def _without_credentials(text: str) -> str:
    """A text without the passwords in its URLs."""
    pieces: list[str] = []
    at = 0
    for start, end in secret_spans(text):
        pieces += (text[at:start], _VISIBLE.sub(_dots, text[start:end]))
        at = end
    return "".join((*pieces, text[at:]))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _dots(found: re.Match[str]) -> str:
    # What takes two units in a browser's strings keeps doing so.
    return _DOT * (2 if ord(found[0]) > 0xFFFF else 1)


def _is_secret(value: Value) -> bool:
    return SENSITIVE in value.marks or EPHEMERAL in value.marks


def _secret_texts(value: Value) -> Iterator[str]:
    """The texts in the secret parts of a value."""
    pending = [value]
    while pending:
        each = pending.pop()
        if _is_secret(each):
            yield from _texts(each.unmark_deep()[0])
        elif each.is_known and each.contains_marked:
            pending.extend(_parts(each))


def _texts(value: Value) -> Iterator[str]:
    pending = [value]
    while pending:
        each = pending.pop()
        data = each.data if each.is_known else None
        if isinstance(data, str):
            yield data
        elif data is not None and each.type.kind == KIND_NUMBER:
            yield numbers.to_text(each.as_number())
        else:
            pending.extend(_parts(each))


def _parts(value: Value) -> Iterator[Value]:
    data = value.data if value.is_known else None
    if isinstance(data, dict):
        yield from data.values()
    elif isinstance(data, tuple):
        yield from data
