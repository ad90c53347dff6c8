"""Cuts a text of the native syntax into tokens.

One pattern finds the tokens outside of templates, and takes the beginning of a line together as
far as it has one of the few common shapes. A stack of open brackets says what a closing brace
closes and where line ends matter; where they do not, no token is made of them. The scanner never
fails: what it does not know is an `INVALID` token, for the parser to report.
"""

# ruff: noqa: SIM109 - two comparisons cost less than making a tuple

from __future__ import annotations

import re
from typing import Final

from nigari.hcl.tokens import (
    ARGUMENT,
    ASSIGN,
    BLOCK_HEADER,
    CLOSE_BRACE,
    CLOSE_BRACKET,
    CLOSE_HEREDOC,
    CLOSE_PARENTHESIS,
    CLOSE_QUOTE,
    COMMENT,
    DIRECTIVE,
    END,
    ESCAPED_STRING,
    FOR,
    IDENTIFIER,
    IF,
    IN,
    INTERPOLATION,
    INVALID,
    NEWLINE,
    NUMBER,
    OPEN_BRACE,
    OPEN_BRACKET,
    OPEN_HEREDOC,
    OPEN_PARENTHESIS,
    OPEN_QUOTE,
    PATH,
    PUNCTUATION,
    QUOTED_TEXT,
    SEQUENCE_END,
    SLASH,
    STRING,
    TEXT,
    Tokens,
)

# A name may contain any character beyond ASCII as far as the patterns are concerned; names that
# have one are checked afterwards. Quantifiers that never give back are used on single characters
# only: on groups they are wrong in early releases of Python 3.11.
_NAME: Final = r"[^\x00-@\[-^`{-\x7f][^\x00-,./:-@\[-^`{-\x7f]*+"
_NUMBER: Final = r"[0-9]++(?:\.*(?:[0-9]++|[eE][+-]?[0-9]++)){0,50}"
_PLAIN: Final = r'[^"\\$%\r\n]*+'
_LINE_ENDS: Final = r"(?=[ \t]*+(?:\r?\n|\Z))"
_PUNCTUATION: Final = (
    r"==|!=|>=|=>|&&|\|\||::|\.\.\.|~\}|<=|[=.,{}()\[\]:?+\-*%!>&|~^;`']|<(?!<)|/(?![/*])"
)

_LINE: Final = (
    r"(\r?\n)[ \t\n]*+"  # 1
    r"(?:"
    rf"({_NAME})[ \t]*+=(?![=>])[ \t]*+"  # 2
    rf'(?:"({_PLAIN})"{_LINE_ENDS}|({_NAME}(?:\.{_NAME}){{0,20}}){_LINE_ENDS}|'  # 3 4
    rf"({_NUMBER}){_LINE_ENDS})?"  # 5
    rf'|({_NAME})((?:[ \t]++(?:{_NAME}|"{_PLAIN}")){{0,8}})[ \t]*+\{{(?=[ \t]*+\r?\n)'  # 6 7
    r"|(\})(?=\r?\n)"  # 8
    r")?"
)
_SIMPLE: Final = rf"\$\{{[ \t]*+{_NAME}(?:\.{_NAME}){{0,20}}[ \t]*+\}}"
"""An interpolation of a name, or of names with dots between them."""

_REST: Final = (
    rf"|({_NAME})(\.{_NAME}(?:\.{_NAME}){{0,20}})?"  # 9 10
    rf"|({_PUNCTUATION})"  # 11
    rf'|"({_PLAIN})"'  # 12
    rf"|({_NUMBER})"  # 13
    r"|((?:#|//)[^\n]*+)"  # 14
    rf'|("(?:[^"\\$%\r\n]++|{_SIMPLE}|\\[nrt"\\]|[$%](?![$%{{])){{1,40}}")'  # 15
    r'|(")'  # 16
    rf"|(<<-?{_NAME}\r?\n)"  # 17
    r"|(/\*)"  # 18
    r"|(\Z)"  # 19
    r"|([\s\S])"  # 20
)
_MAIN: Final = re.compile(rf"[ \t]*+(?:{_LINE}{_REST})")
_FIRST_LINE: Final = re.compile(_LINE.replace(r"(\r?\n)", "()"))

_LABEL: Final = re.compile(rf'{_NAME}|"{_PLAIN}"')

_QUOTED: Final = re.compile(
    r'[^"\\$%\r\n]*+(?:(")|(\$\{~?)|(%\{~?)|(\\[nrt"\\]|\$\$\{|%%\{|[$%])|([\r\n])|(\\[^\r\n]?))?'
)
_UNQUOTED: Final = re.compile(r"[^$%\r\n]*+(?:(\r?\n)|(\$\{~?)|(%\{~?)|(\$\$\{|%%\{|[$%]|\r))?")
_STRING_GOES_ON: Final = re.compile(r'(?:[\r\n][^"={}\r\n]*+){1,20}"[ \t]*+(?=[\r\n,)\]]|\Z)')
_SIMPLE_SEQUENCE: Final = re.compile(rf"\$\{{[ \t]*+({_NAME})((?:\.{_NAME}){{0,20}})[ \t]*+(\}})")

# What a bracket on the stack is. Line ends matter at the top of a file, in bodies and in objects.
_BODY: Final = 0
_OBJECT: Final = 1
_FOR: Final = 2
_BRACKET: Final = 3
_PARENTHESIS: Final = 4
_SEQUENCE: Final = 5
_WHOLE_EXPRESSION: Final = 6
_QUOTED_TEMPLATE: Final = 7
_HEREDOC: Final = 8
_BARE_TEMPLATE: Final = 9


def scan(text: str) -> Tokens:
    """The tokens of a file: a body in which line ends matter."""
    return _Scanner(text, -1, False).scan()


def scan_expression(text: str) -> Tokens:
    """The tokens of an expression by itself; line ends do not matter in it."""
    return _Scanner(text, _WHOLE_EXPRESSION, False).scan()


def scan_template(text: str) -> Tokens:
    """The tokens of a template without quotes around it."""
    return _Scanner(text, _BARE_TEMPLATE, False).scan()


def scan_lossless(text: str) -> Tokens:
    """Every token of a file by itself, comments and all line ends included.

    Between two tokens there is nothing but spaces and tabs. There are no `ARGUMENT`,
    `BLOCK_HEADER` and `PATH` tokens in it.
    """
    return _Scanner(text, -1, True).scan()


class _Scanner:
    """The state of one scan.

    `nest` holds the open brackets and `markers` the open heredocs.
    """

    __slots__ = (
        "broken_strings",
        "comment_start",
        "ends",
        "kinds",
        "lossless",
        "markers",
        "nest",
        "no_comment_ends",
        "open_quotes",
        "starts",
        "text",
    )

    def __init__(self, text: str, outermost: int, lossless: bool) -> None:
        self.text = text
        self.lossless = lossless
        self.nest: list[int] = [] if outermost < 0 else [outermost]
        self.markers: list[str] = []
        self.kinds: list[int] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.broken_strings: list[tuple[int, int]] = []
        self.comment_start = -1
        self.no_comment_ends = False
        self.open_quotes = 0

    def scan(self) -> Tokens:
        position = 0 if self.nest or self.lossless else self._first_line()
        while position >= 0:
            mode = self.nest[-1] if self.nest else _BODY
            if mode < _QUOTED_TEMPLATE:
                position = self._code(position)
            elif mode == _QUOTED_TEMPLATE:
                position = self._quoted(position)
            else:
                position = self._unquoted(position, mode == _HEREDOC)
        size = len(self.text)
        self._emit(END, size, size)
        if not self.text.isascii():
            self._check_names()
        return Tokens(self.kinds, self.starts, self.ends, self.broken_strings)

    def _emit(self, kind: int, start: int, end: int) -> None:
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)

    # -- code outside of templates ------------------------------------------------------------

    def _code(self, position: int) -> int:  # noqa: C901 - one loop, written out for speed
        """Scans up to the beginning or end of a template; gives where to go on, -1 at the end.

        This loop is where parsing spends its time: the commonest tokens come first, and what is
        short is written out.
        """
        kinds, starts, ends, nest = self.kinds, self.starts, self.ends, self.nest
        lossless = self.lossless
        punctuation = PUNCTUATION
        for match in _MAIN.finditer(self.text, position):
            group = match.lastindex or 0
            if group == 11:  # punctuation
                symbol = match[11]
                end = match.end()
                kind = punctuation.get(symbol, INVALID)
                if kind <= CLOSE_PARENTHESIS:
                    if kind == OPEN_PARENTHESIS:
                        nest.append(_PARENTHESIS)
                    elif kind == OPEN_BRACKET:
                        nest.append(_BRACKET)
                    elif kind == CLOSE_PARENTHESIS:
                        if nest and nest[-1] == _PARENTHESIS:
                            nest.pop()
                    else:
                        kind = self._bracket(kind)
                        if kind == SEQUENCE_END and nest and nest[-1] >= _QUOTED_TEMPLATE:
                            self._emit(kind, end - len(symbol), end)
                            return end
                kinds.append(kind)
                starts.append(end - len(symbol))
                ends.append(end)
            elif group < 9:  # the start of a line
                top = nest[-1] if nest else _BODY
                if lossless or top > _OBJECT:
                    self._plain_line(match, group)
                    if group == 8 and nest and nest[-1] >= _QUOTED_TEMPLATE:
                        return match.end()
                    continue
                start, end = match.span(1)
                kinds.append(NEWLINE)
                if self.comment_start < 0:
                    starts.append(start)
                else:
                    starts.append(self.comment_start)
                    self.comment_start = -1
                ends.append(end)
                if group == 1:
                    continue
                if group > 5:
                    self._line(match, group)
                    continue
                if top != _BODY and match[2] == "for":
                    self._plain_argument(match, group)
                    continue
                start, end = match.span(2)
                kinds.append(ARGUMENT)
                starts.append(start)
                ends.append(end)
                if group == 3:
                    start, end = match.span(3)
                    kinds.append(STRING)
                    starts.append(start - 1)
                    ends.append(end + 1)
                elif group == 4:
                    start, end = match.span(4)
                    kinds.append(PATH if "." in match[4] else IDENTIFIER)
                    starts.append(start)
                    ends.append(end)
                elif group == 5:
                    self._emit(NUMBER, match.start(5), match.end(5))
            elif group == 9:  # a name
                start, end = match.span(9)
                if nest and _OBJECT <= nest[-1] <= _BRACKET and end - start <= 3 and not lossless:
                    kinds.append(self._word(start, end))
                else:
                    kinds.append(IDENTIFIER)
                starts.append(start)
                ends.append(end)
            elif group == 10 and not lossless:  # names with dots
                kinds.append(PATH)
                starts.append(match.start(9))
                ends.append(match.end())
            elif group == 12:  # a plain string
                kinds.append(STRING)
                starts.append(match.start(12) - 1)
                ends.append(match.end())
            elif group == 13:  # a number
                self._emit(NUMBER, match.start(13), match.end(13))
            elif group == 14:  # a comment up to the line end
                self.comment_start = match.start(14)
            elif group == 15:  # a template with simple interpolations, or escapes
                self._simple_template(match.start(15), match.end())
            elif group == 19:  # the end
                if lossless and self.comment_start >= 0:
                    self._emit(COMMENT, self.comment_start, match.end())
                return -1
            else:
                resume = self._rare(match, group)
                if resume >= 0:
                    return resume
        return -1

    def _rare(self, match: re.Match[str], group: int) -> int:
        """A token that needs more than the pattern; where to go on, or -1 for right after it."""
        start, end = match.span(group)
        if group == 10:
            self._dotted(match.start(9), end)
            return -1
        if group == 16:
            self.nest.append(_QUOTED_TEMPLATE)
            self.open_quotes += 1
            self._emit(OPEN_QUOTE, start, end)
            return end
        if group == 17:
            self.nest.append(_HEREDOC)
            self.markers.append(match[17][2:].lstrip("-").rstrip("\r\n"))
            self._emit(OPEN_HEREDOC, start, end)
            return end
        if group == 18:
            closed = -1 if self.no_comment_ends else self.text.find("*/", end)
            if closed >= 0:
                if self.lossless:
                    self._emit(COMMENT, start, closed + 2)
                return closed + 2
            self.no_comment_ends = True
            self._emit(SLASH, start, start + 1)
            return start + 1
        self._emit(PUNCTUATION.get(match[20], INVALID), start, end)
        return -1

    def _bracket(self, kind: int) -> int:
        """Keeps the stack of brackets; gives the kind that the token has in this place."""
        nest = self.nest
        if kind == CLOSE_PARENTHESIS:
            if nest and nest[-1] == _PARENTHESIS:
                nest.pop()
        elif kind == CLOSE_BRACKET:
            if nest and (nest[-1] == _BRACKET or nest[-1] == _FOR):
                nest.pop()
        elif kind == OPEN_BRACE:
            if (not nest or nest[-1] == _BODY) and self._follows_header():
                nest.append(_BODY)
            else:
                nest.append(_OBJECT)
        else:
            # A closing brace also ends the brackets that were left open inside of it.
            while nest and nest[-1] < _WHOLE_EXPRESSION:
                closed = nest.pop()
                if closed == _SEQUENCE:
                    return SEQUENCE_END
                if closed <= _FOR:
                    break
        return kind

    def _follows_header(self) -> bool:
        """Whether the last token may end the header of a block. A brace that begins a line of a
        body is misplaced, and still that of a block.
        """
        if not self.kinds:
            return False
        return self.kinds[-1] in (
            IDENTIFIER,
            PATH,
            STRING,
            ESCAPED_STRING,
            CLOSE_QUOTE,
            NEWLINE,
        )

    def _word(self, start: int, end: int) -> int:
        """The kind of a short name inside of brackets: it may be a word of a for expression.

        Line ends do not matter in an object that begins with `for`.
        """
        nest = self.nest
        word = self.text[start:end]
        if nest[-1] == _FOR:
            if word == "in":
                return IN
            return IF if word == "if" else IDENTIFIER
        if word != "for":
            return IDENTIFIER
        opening = OPEN_BRACKET if nest[-1] == _BRACKET else OPEN_BRACE
        last = len(self.kinds) - 1
        while last >= 0 and self.kinds[last] == NEWLINE:
            last -= 1
        if last >= 0 and self.kinds[last] == opening:
            nest[-1] = _FOR
            return FOR
        return IDENTIFIER

    # -- lines --------------------------------------------------------------------------------

    def _line(self, match: re.Match[str], group: int) -> None:
        """A line where line ends matter that begins with the header or the end of a block."""
        end = match.end()
        if group == 8:
            self._emit(self._bracket(CLOSE_BRACE), end - 1, end)
        elif self.nest and self.nest[-1] == _OBJECT:
            self._plain_header(match)
        else:
            self.nest.append(_BODY)
            self._emit(BLOCK_HEADER, match.start(6), end)

    def _first_line(self) -> int:
        """The start of a file, where no line end comes before; gives where to go on."""
        match = _FIRST_LINE.match(self.text)
        group = 0 if match is None else match.lastindex or 0
        if match is None or group == 1 or group == 8:
            return 0
        if group == 7:
            self._line(match, group)
        else:
            self._emit(ARGUMENT, match.start(2), match.end(2))
            if group == 3:
                self._emit(STRING, match.start(3) - 1, match.end(3) + 1)
            elif group == 4:
                kind = PATH if "." in match[4] else IDENTIFIER
                self._emit(kind, match.start(4), match.end(4))
            elif group == 5:
                self._emit(NUMBER, match.start(5), match.end(5))
        return match.end()

    def _plain_line(self, match: re.Match[str], group: int) -> None:
        """The start of a line whose tokens are wanted one by one."""
        start, end = match.span(1)
        if self.lossless:
            self._all_newlines(start, end, match)
        self.comment_start = -1
        if group == 7:
            self._plain_header(match)
        elif group == 8:
            end = match.end()
            self._emit(self._bracket(CLOSE_BRACE), end - 1, end)
        elif group >= 2:
            self._plain_argument(match, group)

    def _all_newlines(self, start: int, end: int, match: re.Match[str]) -> None:
        kind = NEWLINE
        if self.comment_start >= 0:
            kind, start = COMMENT, self.comment_start
        self._emit(kind, start, end)
        limit = match.end()
        if match.lastindex == 7:
            limit = match.start(6)
        elif match.lastindex != 1 and match.lastindex != 8:
            limit = match.start(2)
        found = self.text.find("\n", end, limit)
        while found >= 0:
            begin = found - 1 if found > end and self.text[found - 1] == "\r" else found
            self._emit(NEWLINE, begin, found + 1)
            found = self.text.find("\n", found + 1, limit)

    def _plain_argument(self, match: re.Match[str], group: int) -> None:
        start, end = match.span(2)
        self._emit_word(start, end)
        equals = self.text.index("=", end)
        self._emit(ASSIGN, equals, equals + 1)
        if group == 2:
            return
        value_start, value_end = match.span(group)
        if group == 3:
            self._emit(STRING, value_start - 1, value_end + 1)
        elif group == 5:
            self._emit(NUMBER, value_start, value_end)
        else:
            self._dotted(value_start, value_end)

    def _plain_header(self, match: re.Match[str]) -> None:
        start, end = match.span(6)
        self._emit_word(start, end)
        for label in _LABEL.finditer(self.text, end, match.end(7)):
            if label[0].startswith('"'):
                self._emit(STRING, label.start(), label.end())
            else:
                self._emit_word(label.start(), label.end())
        self._emit(self._bracket(OPEN_BRACE), match.end() - 1, match.end())

    def _emit_word(self, start: int, end: int) -> None:
        nest = self.nest
        is_special = not self.lossless and bool(nest) and _OBJECT <= nest[-1] <= _BRACKET
        self._emit(self._word(start, end) if is_special else IDENTIFIER, start, end)

    def _dotted(self, start: int, end: int) -> None:
        """Names with dots between them, one token for each name and each dot."""
        names = self.text[start:end].split(".")
        for index, name in enumerate(names):
            if index:
                self._emit(PUNCTUATION["."], start, start + 1)
                start += 1
            self._emit(IDENTIFIER, start, start + len(name))
            start += len(name)

    # -- templates ----------------------------------------------------------------------------

    def _simple_template(self, start: int, end: int) -> None:
        """A quoted template, all of which the pattern has found to be right."""
        text = self.text
        if text.find("${", start, end) < 0:
            self._emit(ESCAPED_STRING, start, end)
            return
        self._emit(OPEN_QUOTE, start, start + 1)
        last = start + 1
        for match in _SIMPLE_SEQUENCE.finditer(text, last, end):
            begin = match.start()
            if begin > last:
                self._emit(QUOTED_TEXT, last, begin)
            self._emit(INTERPOLATION, begin, begin + 2)
            last = self._simple_sequence(match)
        if last < end - 1:
            self._emit(QUOTED_TEXT, last, end - 1)
        self._emit(CLOSE_QUOTE, end - 1, end)

    def _quoted(self, position: int) -> int:
        """The text of a quoted template, up to a sequence or its end."""
        text = self.text
        start = position
        while True:
            match = _QUOTED.match(text, position)
            assert match is not None
            group = match.lastindex
            position = match.end()
            if group == 4:
                continue
            if group == 6:
                continue
            if group == 1:
                self._close_quote(start, position)
                return position
            if group is None:
                if position > start:
                    self._emit(QUOTED_TEXT, start, position)
                return -1
            stop = match.start(group)
            if group == 5:
                goes_on = _STRING_GOES_ON.match(text, stop)
                if goes_on is not None:
                    newline = stop + (2 if text.startswith("\r\n", stop) else 1)
                    self.broken_strings.append((stop, newline))
                    position = newline
                    continue
                return self._broken_quote(start, stop)
            if stop > start:
                self._emit(QUOTED_TEXT, start, stop)
            self._emit(INTERPOLATION if group == 2 else DIRECTIVE, stop, position)
            self.nest.append(_SEQUENCE)
            return position

    def _simple_sequence(self, match: re.Match[str]) -> int:
        """An interpolation of a name, or of names with dots between them."""
        start, end = match.start(1), match.end(2)
        if match.start(2) == end:
            self._emit(IDENTIFIER, start, end)
        elif self.lossless:
            self._dotted(start, end)
        else:
            self._emit(PATH, start, end)
        self._emit(SEQUENCE_END, match.start(3), match.end(3))
        return match.end()

    def _close_quote(self, start: int, position: int) -> None:
        self.nest.pop()
        self.open_quotes -= 1
        if self.kinds[-1] == OPEN_QUOTE:
            self.kinds[-1] = ESCAPED_STRING
            self.ends[-1] = position
            return
        if position - 1 > start:
            self._emit(QUOTED_TEXT, start, position - 1)
        self._emit(CLOSE_QUOTE, position - 1, position)

    def _broken_quote(self, start: int, stop: int) -> int:
        """A quoted template that a line end cuts short: it ends there, and so do the sequences
        and templates around it, up to a heredoc.
        """
        if stop > start:
            self._emit(QUOTED_TEXT, start, stop)
        newline = stop + (2 if self.text.startswith("\r\n", stop) else 1)
        self.broken_strings.append((stop, newline))
        self._emit(CLOSE_QUOTE, stop, stop)
        self.nest.pop()
        self.open_quotes -= 1
        while self.open_quotes:
            closed = self.nest.pop()
            if closed == _HEREDOC or closed == _BARE_TEMPLATE:
                self.nest.append(closed)
                break
            if closed == _SEQUENCE:
                self._emit(SEQUENCE_END, stop, stop)
            elif closed == _QUOTED_TEMPLATE:
                self._emit(CLOSE_QUOTE, stop, stop)
                self.open_quotes -= 1
        return stop

    def _unquoted(self, position: int, is_heredoc: bool) -> int:
        """Lines of a heredoc or bare template, up to a sequence or the end."""
        text = self.text
        marker = self.markers[-1] if is_heredoc else ""
        start = position
        at_line_start = position == 0 or text[position - 1] == "\n"
        while True:
            if at_line_start and is_heredoc:
                line_end = text.find("\n", position)
                if line_end >= 0 and text[position:line_end].strip() == marker:
                    return self._close_heredoc(position, line_end)
            match = _UNQUOTED.match(text, position)
            assert match is not None
            group = match.lastindex
            position = match.end()
            at_line_start = False
            if group == 4:
                continue
            if group == 1:
                self._emit(TEXT, start, position)
                start = position
                at_line_start = True
                continue
            if group is None:
                if position > start:
                    self._emit(TEXT, start, position)
                return -1
            stop = match.start(group)
            if stop > start:
                self._emit(TEXT, start, stop)
            self._emit(INTERPOLATION if group == 2 else DIRECTIVE, stop, position)
            self.nest.append(_SEQUENCE)
            return position

    def _close_heredoc(self, start: int, line_end: int) -> int:
        self.nest.pop()
        self.markers.pop()
        if line_end > start and self.text[line_end - 1] == "\r":
            line_end -= 1
        self._emit(CLOSE_HEREDOC, start, line_end)
        return line_end

    # -- names --------------------------------------------------------------------------------

    def _check_names(self) -> None:
        """Turns tokens that look like names but contain other characters into invalid ones."""
        text = self.text
        for index, kind in enumerate(self.kinds):
            if kind in (IDENTIFIER, PATH, ARGUMENT, BLOCK_HEADER):
                start, end = self.starts[index], self.ends[index]
                if kind == BLOCK_HEADER:
                    start, end = _wrong_word(text, start, end)
                name = text[start:end]
                if not name.isascii() and first_invalid(name) >= 0:
                    self.kinds[index] = INVALID
                    self.starts[index] = start
                    self.ends[index] = end


_HEADER_TYPE: Final = re.compile(_NAME)


def _wrong_word(text: str, start: int, end: int) -> tuple[int, int]:
    """The first word of a block's header that is no name and no quoted label, else nothing."""
    for word in _LABEL.finditer(text, start, end):
        if not word[0].startswith('"') and first_invalid(word[0]) >= 0:
            return word.span()
    return start, start


def first_invalid(name: str) -> int:
    """Where in a name, or names with dots between them, the first wrong character is; or -1."""
    offset = 0
    for part in name.split("."):
        for index, character in enumerate(part):
            if character.isascii():
                continue
            if not (character if index == 0 else "a" + character).isidentifier():
                return offset + index
        offset += len(part) + 1
    return -1


def is_identifier(text: str) -> bool:
    """Whether the text is a name of the native syntax."""
    return _HEADER_TYPE.fullmatch(text) is not None and first_invalid(text) < 0
