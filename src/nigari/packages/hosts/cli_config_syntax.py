"""Parser of CLI configuration files into plain items.

These files use the first generation of HCL, which differs from the language of configurations:
argument names may be quoted, identifiers may have dots, nothing is ever evaluated. A file that
begins with a brace is JSON. `cli_config_settings` interprets the items.
"""

from __future__ import annotations

import bisect
import re

from nigari.diagnostics import Diagnostics
from nigari.hcl.source import Source
from nigari.lazy import lazy_pattern
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_TOKEN: Final = lazy_pattern(
    r"""(?P<space>[\s,]+|\#[^\n]*|//[^\n]*|/\*.*?\*/)
    |(?P<name>[A-Za-z_][\w.-]*)
    |(?P<number>[-+]?\d[\w.+-]*)
    |(?P<text>"(?:[^"\\\n]|\\.)*")
    |<<-?(?P<heredoc>\w+)\n
    |(?P<mark>[{}\[\]=])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = lazy_pattern(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_DEEPEST: Final = 50


@record
class SettingsObject:
    """A body: items in source order."""

    items: tuple[SettingItem, ...] = ()

    def all(self, name: str) -> list[SettingItem]:
        """List the items whose first key has that name."""
        return [item for item in self.items if item.keys[0] == name]


@record
class SettingItem:
    """A key, its labels, and a value."""

    keys: tuple[str, ...]
    value: Scalar
    line: int = 0


Scalar = str | int | float | bool | None | list["Scalar"] | SettingsObject


class _SyntaxProblem(Exception):
    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


def read_items(source: Source, diags: Diagnostics) -> SettingsObject:
    """Parse a file; after an error, report it and return no items."""
    try:
        if source.text.lstrip().startswith("{"):
            return _from_json(source.text)
        return _Reader(source.text).file()
    except _SyntaxProblem as problem:
        where = source.range(problem.offset, min(problem.offset + 1, len(source.text)))
        diags.error("Invalid CLI configuration", f"{problem}.", where)
        return SettingsObject()


def _from_json(text: str) -> SettingsObject:
    import json

    try:
        return _json_object(json.loads(text))
    except json.JSONDecodeError as error:
        raise _SyntaxProblem(error.pos, f"This is not valid JSON: {error.msg}") from None
    except RecursionError:
        raise _SyntaxProblem(0, "The JSON is nested too deeply") from None


def _json_object(value: dict[str, object]) -> SettingsObject:
    items: list[SettingItem] = []
    for key, inner in value.items():
        # A list of objects represents several blocks of the same name.
        if isinstance(inner, list) and inner and all(isinstance(one, dict) for one in inner):
            items.extend(SettingItem((key,), _json_value(one)) for one in inner)
        else:
            items.append(SettingItem((key,), _json_value(inner)))
    return SettingsObject(tuple(items))


def _json_value(value: object) -> Scalar:
    if isinstance(value, dict):
        return _json_object(value)
    if isinstance(value, list):
        return [_json_value(one) for one in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise AssertionError(value)


class _Reader:
    """Parses one text, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line_starts = [match.end() for match in re.finditer("\n", text)]
        self._kind = ""
        self._word: Scalar = ""
        self._start = 0
        self._next()

    def file(self) -> SettingsObject:
        result = self._items(0)
        if self._kind:
            raise _SyntaxProblem(self._start, "This closing brace does not match an opening one")
        return result

    def _items(self, depth: int) -> SettingsObject:
        """Parse items up to a closing brace or the end: `{ key { key } ( "=" value | object ) }`."""
        if depth > _DEEPEST:
            raise _SyntaxProblem(self._start, "Blocks are nested too deeply")
        items: list[SettingItem] = []
        while self._kind in ("name", "text"):
            line = self._line()
            keys: list[str] = []
            while self._kind in ("name", "text"):
                keys.append(str(self._word))
                self._next()
            if self._is("="):
                self._next()
            elif not self._is("{"):
                raise _SyntaxProblem(self._start, "A key must be followed by = or {")
            items.append(SettingItem(tuple(keys), self._value(depth), line))
        if self._kind and not self._is("}"):
            raise _SyntaxProblem(self._start, "A key is expected here")
        return SettingsObject(tuple(items))

    def _value(self, depth: int) -> Scalar:
        start = self._start
        if depth > _DEEPEST:
            raise _SyntaxProblem(start, "Values are nested too deeply")
        if self._is("{"):
            self._next()
            inner = self._items(depth + 1)
            self._expect("}", start)
            return inner
        if self._is("["):
            self._next()
            values: list[Scalar] = []
            while self._kind and not self._is("]"):
                values.append(self._value(depth + 1))
            self._expect("]", start)
            return values
        word = self._word
        if self._kind == "name":
            if word not in ("true", "false"):
                # The word may be a token, so it is not repeated.
                raise _SyntaxProblem(start, "A text must be in quotes here")
            word = word == "true"
        elif self._kind not in ("text", "number"):
            raise _SyntaxProblem(start, "A value is expected here")
        self._next()
        return word

    def _is(self, mark: str) -> bool:
        return self._kind == "mark" and self._word == mark

    def _expect(self, mark: str, opened: int) -> None:
        if not self._is(mark):
            raise _SyntaxProblem(opened, f"There is no {mark} that closes this")
        self._next()

    def _line(self) -> int:
        return bisect.bisect_right(self._line_starts, self._start) + 1

    def _next(self) -> None:
        while True:
            self._start = self._at
            if self._at == len(self._text):
                self._kind, self._word = "", ""
                return
            match = _TOKEN.match(self._text, self._at)
            if match is None:
                raise _SyntaxProblem(self._at, "This is not valid syntax")
            self._at = match.end()
            kind = match.lastgroup or ""
            if kind != "space":
                self._kind, self._word = self._token(kind, match)
                return

    def _token(self, kind: str, match: re.Match[str]) -> tuple[str, Scalar]:
        text = match[kind]
        if kind == "text":
            return kind, _ESCAPE.sub(_unescaped, text[1:-1])
        if kind == "number":
            try:
                return kind, int(text, 0) if re.fullmatch(r"[-+]?\w+", text) else float(text)
            except ValueError:
                raise _SyntaxProblem(self._start, f"{text} is not a number") from None
        if kind == "heredoc":
            closing = re.compile(rf"^[ \t]*{re.escape(text)}[ \t]*$", re.MULTILINE)
            end = closing.search(self._text, self._at)
            if end is None:
                raise _SyntaxProblem(self._start, f"There is no {text} that ends this text")
            content = self._text[self._at : end.start()]
            self._at = end.end()
            return "text", content
        return kind, text


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "uU" and len(code) > 1:
        return chr(int(code[1:], 16)) if int(code[1:], 16) < 0x110000 else "\ufffd"
    return _ESCAPES.get(code, match[0])
