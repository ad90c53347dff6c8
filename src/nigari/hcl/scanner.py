"""Tokenizer of the native syntax.

One pattern splits code outside templates into words, many at a time, and matches the beginning of a
line as a whole if it has one of the few common shapes. The word itself reveals its kind. A stack of
open brackets determines what a closing brace ends and where line ends are significant;
insignificant ones produce no token. The scanner never fails: unknown characters become `INVALID`
tokens for the parser to report.
"""

# ruff: noqa: SIM109 - two comparisons cost less than making a tuple

from __future__ import annotations

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
    DOT,
    END,
    ESCAPED_STRING,
    FOR,
    IDENTIFIER,
    IF,
    IN,
    INTERPOLATION,
    INVALID,
    LESS,
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
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


# The patterns accept any non-ASCII character in a name; names that contain one are checked
# afterwards. Possessive quantifiers are used on single characters only: on groups they are wrong in
# early releases of Python 3.11.
_NAME: Final = r"[^\x00-@\[-^`{-\x7f][^\x00-,./:-@\[-^`{-\x7f]*+"
# HCL (NumberLit) scans more than is valid, such as 1.2.3, so that one error covers all of it.
_NUMBER: Final = r"[0-9]++(?:\.*(?:[0-9]++|[eE][+-]?[0-9]++)){0,50}"
_PLAIN: Final = r'[^"\\$%\r\n]*+'
_LINE_ENDS: Final = r"(?=[ \t]*+(?:\r?\n|\Z))"
_LINE: Final = (
    r"\r?\n[ \t\n]*+(?:"
    rf"{_NAME}(?:[ \t]*+=(?![=>])[ \t]*+|"
    rf'(?:[ \t]++(?:{_NAME}|"{_PLAIN}")){{0,8}}[ \t]*+\{{{_LINE_ENDS})'
    rf"|\}}{_LINE_ENDS})?"
)
"""A line end together with the beginning of the next line: an argument's name and equals sign, the
whole header of a block, or a closing brace by itself.
"""

_SIMPLE: Final = rf"\$\{{[ \t]*+{_NAME}(?:\.{_NAME}){{0,20}}[ \t]*+\}}"
"""An interpolation of a name or dotted name."""

_WORD: Final = lazy_pattern(
    rf"({_LINE}"
    rf"|{_NAME}(?:\.{_NAME}){{0,20}}"
    r"| ?+(?:==|!=|>=|=>|&&|\|\||::|\.\.\.|<=|[!$-.:;=>?@\[-^`{|]|<(?!<)|/(?![/*])|~(?!\})) ?+"
    rf'|"(?:{_PLAIN}"|(?:[^"\\$%\r\n]++|{_SIMPLE}|\\[nrt"\\]|[$%](?![$%{{])){{1,40}}")'
    rf"|{_NUMBER}"
    r"|[ \t]++"
    r"|(?:#|//)[^\n]*+"
    r")|(?s:.++)"
)
"""A word of code: a token, several that often occur together, or spaces. Where a pattern does not
suffice the word is empty, and the rest of the text follows.
"""

_LABEL: Final = lazy_pattern(rf'{_NAME}|"{_PLAIN}"')

_QUOTED: Final = lazy_pattern(
    r'[^"\\$%\r\n]*+(?:(")|(\$\{~?)|(%\{~?)|(\\[nrt"\\]|\$\$\{|%%\{|[$%])|([\r\n])|(\\[^\r\n]?))?'
)
_UNQUOTED: Final = lazy_pattern(r"[^$%\r\n]*+(?:(\r?\n)|(\$\{~?)|(%\{~?)|(\$\$\{|%%\{|[$%]|\r))?")
_STRING_GOES_ON: Final = lazy_pattern(r'(?:[\r\n][^"={}\r\n]*+){1,20}"[ \t]*+(?=[\r\n,)\]]|\Z)')
_SIMPLE_SEQUENCE: Final = lazy_pattern(rf"\$\{{[ \t]*+({_NAME}(?:\.{_NAME}){{0,20}})[ \t]*+\}}")

_HEREDOC_OPENING: Final = lazy_pattern(rf"<<-?({_NAME})\r?\n")

_SYMBOLS: Final[dict[str, tuple[int, str, int, str]]] = {
    before + symbol + after: (PUNCTUATION.get(symbol, INVALID), "", len(before), symbol)
    for symbol in (*PUNCTUATION, *"$@\\^`;'&|~")
    for before in ("", " ")
    for after in ("", " ")
}
"""The token of each word that is punctuation or resembles it: the kind, the line end before it, the
offset within the word, and the text.
"""

# The number of characters split at once, up to a line end. It starts low: a template may end soon,
# and the text after it is split differently.
_FIRST_REACH: Final = 64
_LAST_REACH: Final = 16_384

# Kinds of brackets on the stack. Line ends are significant at the top of a file, in bodies and in
# objects.
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
    """Tokenize a file: a body in which line ends are significant."""
    return _Scanner(text, -1, False).scan()


def scan_expression(text: str) -> Tokens:
    """Tokenize a single expression; line ends are insignificant in it."""
    return _Scanner(text, _WHOLE_EXPRESSION, False).scan()


def scan_template(text: str) -> Tokens:
    """Tokenize a template without quotes."""
    return _Scanner(text, _BARE_TEMPLATE, False).scan()


def scan_lossless(text: str) -> Tokens:
    """Tokenize a file losslessly, including comments and all line ends.

    Between two tokens there are only spaces and tabs. The result has no `ARGUMENT`, `BLOCK_HEADER`
    and `PATH` tokens.
    """
    return _Scanner(text, -1, True).scan()


class _Scanner:
    """The state of one scan.

    `nest` holds the open brackets, `markers` the open heredocs, and `known` caches the tokens of
    words that are punctuation or begin a line, as these recur within a text.
    """

    __slots__ = (
        "broken_strings",
        "comment_start",
        "kinds",
        "known",
        "line_end",
        "line_searched_from",
        "lossless",
        "markers",
        "nest",
        "no_comment_ends",
        "open_quotes",
        "starts",
        "text",
        "texts",
    )

    def __init__(self, text: str, outermost: int, lossless: bool) -> None:
        self.text = text
        self.lossless = lossless
        self.nest: list[int] = [] if outermost < 0 else [outermost]
        self.markers: list[str] = []
        self.known = _SYMBOLS.copy()
        self.kinds: list[int] = []
        self.starts: list[int] = []
        self.texts: list[str] = []
        self.broken_strings: list[tuple[int, int]] = []
        self.comment_start = -1
        self.no_comment_ends = False
        self.open_quotes = 0
        self.line_searched_from = 0
        self.line_end = -1

    def scan(self) -> Tokens:
        size = len(self.text)
        position = 0 if self.nest or self.lossless else self._first_line()
        while position < size:
            mode = self.nest[-1] if self.nest else _BODY
            if mode < _QUOTED_TEMPLATE:
                position = self._code(position)
            elif mode == _QUOTED_TEMPLATE:
                position = self._quoted(position)
            else:
                position = self._unquoted(position, mode == _HEREDOC)
        if self.lossless and self.comment_start >= 0:
            self._emit(COMMENT, self.comment_start, self._comment(size))
        self._emit(END, size, "")
        if not self.text.isascii():
            self._check_names()
        return Tokens(self.kinds, self.starts, self.texts, self.broken_strings)

    def _emit(self, kind: int, start: int, text: str) -> None:
        self.kinds.append(kind)
        self.starts.append(start)
        self.texts.append(text)

    # -- code outside of templates ------------------------------------------------------------

    def _code(self, position: int) -> int:
        """Scan code up to the beginning or end of a template; return the offset to continue at."""
        text = self.text
        size = len(text)
        reach = _FIRST_REACH
        while position < size:
            words: list[str] = _WORD.findall(text, position, self._line_end(position + reach))
            stops = not words[-1]
            if stops:
                words.pop()
            position = self._words(words, position)
            if self.nest and self.nest[-1] >= _QUOTED_TEMPLATE:
                return position
            if stops:
                return self._special(position)
            reach = min(reach * 4, _LAST_REACH)
        return position

    def _line_end(self, position: int) -> int:
        """Find the end of the line that contains a position.

        It is cached, so that a very long line is not searched again from each position.
        """
        if not self.line_searched_from <= position <= self.line_end:
            text = self.text
            self.line_searched_from = position
            end = text.find("\n", position)
            if end < 0:
                end = len(text)
            elif text[end - 1] == "\r":
                end -= 1
            self.line_end = end
        return self.line_end

    def _words(self, words: list[str], position: int) -> int:
        """Add the tokens of words; return the offset of their end, or of a template before that.

        Parsing spends its time in this loop: common words come first, and short code is inlined.
        """
        kinds, starts, texts, nest = self.kinds, self.starts, self.texts, self.nest
        lossless = self.lossless
        known = self.known
        for word in words:
            start = position
            position += len(word)
            found = known.get(word)
            if found is None:
                first = word[0]
                if first >= "A":
                    if "." not in word:
                        kinds.append(self._word(word) if len(word) <= 3 else IDENTIFIER)
                    elif lossless:
                        self._dotted(start, word)
                        continue
                    else:
                        kinds.append(PATH)
                    starts.append(start)
                    texts.append(word)
                    continue
                if first == '"' and "$" not in word and "\\" not in word and "%" not in word:
                    kinds.append(STRING)
                    starts.append(start)
                    texts.append(word)
                    continue
                if first != "\n" and first != "\r":
                    self._other(word, first, start)
                    continue
                found = _line_start(word)
                known[word] = found
            kind, newline, offset, text = found
            if not newline:
                if kind <= CLOSE_PARENTHESIS:
                    if kind == OPEN_PARENTHESIS:
                        nest.append(_PARENTHESIS)
                    elif kind == OPEN_BRACKET:
                        nest.append(_BRACKET)
                    else:
                        self._bracket(kind)
                kinds.append(kind)
                starts.append(start + offset)
                texts.append(text)
                continue
            if lossless or (nest and nest[-1] > _OBJECT):
                self._plain_line(kind, start, start + offset, text)
                if nest and nest[-1] >= _QUOTED_TEMPLATE:
                    return position
                continue
            kinds.append(NEWLINE)
            if self.comment_start < 0:
                starts.append(start)
                texts.append(newline)
            else:
                starts.append(self.comment_start)
                texts.append(self._comment(start) + newline)
            if kind == ARGUMENT:
                kinds.append(kind)
                starts.append(start + offset)
                texts.append(text)
            elif kind != NEWLINE:
                self._line(kind, start + offset, text)
        return position

    def _comment(self, end: int) -> str:
        """Return the text of the most recent comment, which ends here."""
        start = self.comment_start
        self.comment_start = -1
        return self.text[start:end]

    def _other(self, word: str, first: str, start: int) -> None:
        """Add the tokens of a template that one pattern matches, a comment, spaces or a number."""
        if first == '"':
            self._simple_template(start, start + len(word))
        elif first == "#" or first == "/":
            self.comment_start = start
        elif first != " " and first != "\t":
            self._emit(NUMBER, start, word)

    def _special(self, start: int) -> int:
        """Scan text that is not a single word; return the offset after it."""
        text = self.text
        first = text[start]
        if first == '"':
            self.nest.append(_QUOTED_TEMPLATE)
            self.open_quotes += 1
            self._emit(OPEN_QUOTE, start, first)
        elif first == "<":
            heredoc = _HEREDOC_OPENING.match(text, start)
            if heredoc is not None:
                self.nest.append(_HEREDOC)
                self.markers.append(heredoc[1])
                self._emit(OPEN_HEREDOC, start, heredoc[0])
                return heredoc.end()
            self._emit(LESS, start, first)
        elif first == "/":
            closed = -1 if self.no_comment_ends else text.find("*/", start + 2)
            if closed >= 0:
                if self.lossless:
                    self._emit(COMMENT, start, text[start : closed + 2])
                return closed + 2
            # An unclosed comment begins with a division sign, so that the rest of the text is still
            # parsed.
            self.no_comment_ends = True
            self._emit(SLASH, start, first)
        elif first == "~":
            self._emit(self._bracket(SEQUENCE_END), start, "~}")
            return start + 2
        elif first == "}":
            self._emit(self._bracket(CLOSE_BRACE), start, first)
        else:
            self._emit(INVALID, start, first)
        return start + 1

    def _bracket(self, kind: int) -> int:
        """Maintain the stack of brackets; return the kind of the token in this context."""
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
            # A closing brace also ends unclosed brackets inside it.
            while nest and nest[-1] < _WHOLE_EXPRESSION:
                closed = nest.pop()
                if closed == _SEQUENCE:
                    return SEQUENCE_END
                if closed <= _FOR:
                    break
        return kind

    def _follows_header(self) -> bool:
        """Check whether the last token may end a block header. A brace at the beginning of a line
        in a body is misplaced, but still belongs to a block.
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

    def _word(self, word: str) -> int:
        """Return the kind of a name: within brackets it may be a keyword of a for expression.

        Line ends are insignificant in an object that begins with `for`.
        """
        nest = self.nest
        if self.lossless or not nest or not _OBJECT <= nest[-1] <= _BRACKET:
            return IDENTIFIER
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

    def _line(self, kind: int, start: int, line: str) -> None:
        """Add the tokens at the beginning of a line, where line ends are significant."""
        if kind == CLOSE_BRACE:
            self._emit(self._bracket(kind), start, line)
        elif self.nest and self.nest[-1] == _OBJECT:
            self._plain_start(kind, start, line)
        elif kind == BLOCK_HEADER:
            self.nest.append(_BODY)
            self._emit(kind, start, line)
        else:
            self._emit(ARGUMENT, start, line)

    def _first_line(self) -> int:
        """Scan the beginning of a file as if a line end preceded it; return the offset to continue
        at.
        """
        end = self.text.find("\n") + 1 or len(self.text)
        word: str = _WORD.findall("\n" + self.text[:end])[0]
        kind, _, offset, line = _line_start(word)
        if kind == NEWLINE:
            return 0
        self._line(kind, offset - 1, line)
        return len(word) - 1

    def _plain_line(self, kind: int, newline: int, start: int, line: str) -> None:
        """Add a line end and separate tokens for the text after it."""
        if self.lossless:
            self._all_newlines(newline, start)
        self.comment_start = -1
        if kind == CLOSE_BRACE:
            self._emit(self._bracket(kind), start, line)
        elif kind != NEWLINE:
            self._plain_start(kind, start, line)

    def _all_newlines(self, start: int, limit: int) -> None:
        kind = NEWLINE
        end = self.text.index("\n", start) + 1
        if self.comment_start >= 0:
            kind, start = COMMENT, self.comment_start
        self._emit(kind, start, self.text[start:end])
        found = self.text.find("\n", end, limit)
        while found >= 0:
            self._emit(NEWLINE, found, "\n")
            found = self.text.find("\n", found + 1, limit)

    def _plain_start(self, kind: int, start: int, line: str) -> None:
        """Add separate tokens for an argument's name and equals sign, or for a block header."""
        if kind != BLOCK_HEADER:
            self._emit(self._word(line), start, line)
            self._emit(ASSIGN, self.text.index("=", start), "=")
            return
        for match in _LABEL.finditer(line):
            piece = match[0]
            kind = STRING if piece[0] == '"' else self._word(piece)
            self._emit(kind, start + match.start(), piece)
        self._emit(self._bracket(OPEN_BRACE), start + len(line) - 1, "{")

    def _dotted(self, start: int, path: str) -> None:
        """Add a token for each name and each dot of a dotted name."""
        for index, name in enumerate(path.split(".")):
            if index:
                self._emit(DOT, start, ".")
                start += 1
            self._emit(IDENTIFIER, start, name)
            start += len(name)

    # -- templates ----------------------------------------------------------------------------

    def _simple_template(self, start: int, end: int) -> None:
        """Add the tokens of a quoted template that the pattern has matched entirely."""
        text = self.text
        if text.find("${", start, end) < 0:
            self._emit(ESCAPED_STRING, start, text[start:end])
            return
        self._emit(OPEN_QUOTE, start, '"')
        last = start + 1
        for match in _SIMPLE_SEQUENCE.finditer(text, last, end):
            begin = match.start()
            if begin > last:
                self._emit(QUOTED_TEXT, last, text[last:begin])
            self._emit(INTERPOLATION, begin, "${")
            name = match[1]
            if "." not in name:
                self._emit(IDENTIFIER, match.start(1), name)
            elif self.lossless:
                self._dotted(match.start(1), name)
            else:
                self._emit(PATH, match.start(1), name)
            last = match.end()
            self._emit(SEQUENCE_END, last - 1, "}")
        if last < end - 1:
            self._emit(QUOTED_TEXT, last, text[last : end - 1])
        self._emit(CLOSE_QUOTE, end - 1, '"')

    def _quoted(self, position: int) -> int:
        """Scan the text of a quoted template, up to a sequence or its end."""
        text = self.text
        start = position
        while True:
            match = _QUOTED.match(text, position)
            assert match is not None
            group = match.lastindex
            position = match.end()
            # An escape, or a $ or % that begins no sequence.
            if group == 4:
                continue
            # An unknown escape is text here; the parser reports it.
            if group == 6:
                continue
            if group == 1:
                self._close_quote(start, position)
                return position
            if group is None:
                if position > start:
                    self._emit(QUOTED_TEXT, start, text[start:position])
                return position
            stop = match.start(group)
            # A quoted string ends with its line. If the next lines look like its
            # rest, they are skipped, to avoid follow-on errors.
            if group == 5:
                goes_on = _STRING_GOES_ON.match(text, stop)
                if goes_on is not None:
                    newline = stop + (2 if text.startswith("\r\n", stop) else 1)
                    self.broken_strings.append((stop, newline))
                    position = newline
                    continue
                return self._broken_quote(start, stop)
            if stop > start:
                self._emit(QUOTED_TEXT, start, text[start:stop])
            kind = INTERPOLATION if group == 2 else DIRECTIVE
            self._emit(kind, stop, match[group])
            self.nest.append(_SEQUENCE)
            return position

    def _close_quote(self, start: int, position: int) -> None:
        self.nest.pop()
        self.open_quotes -= 1
        if self.kinds[-1] == OPEN_QUOTE:
            # Without sequences, the whole template is one token.
            self.kinds[-1] = ESCAPED_STRING
            self.texts[-1] = self.text[self.starts[-1] : position]
            return
        if position - 1 > start:
            self._emit(QUOTED_TEXT, start, self.text[start : position - 1])
        self._emit(CLOSE_QUOTE, position - 1, '"')

    def _broken_quote(self, start: int, stop: int) -> int:
        """Handle a quoted template that a line end cuts short: it ends there, as do the sequences
        and templates around it, up to a heredoc.
        """
        if stop > start:
            self._emit(QUOTED_TEXT, start, self.text[start:stop])
        newline = stop + (2 if self.text.startswith("\r\n", stop) else 1)
        self.broken_strings.append((stop, newline))
        self._emit(CLOSE_QUOTE, stop, "")
        self.nest.pop()
        self.open_quotes -= 1
        while self.open_quotes:
            closed = self.nest.pop()
            if closed == _HEREDOC or closed == _BARE_TEMPLATE:
                self.nest.append(closed)
                break
            if closed == _SEQUENCE:
                self._emit(SEQUENCE_END, stop, "")
            elif closed == _QUOTED_TEMPLATE:
                self._emit(CLOSE_QUOTE, stop, "")
                self.open_quotes -= 1
        return stop

    def _unquoted(self, position: int, is_heredoc: bool) -> int:
        """Scan lines of a heredoc or bare template, up to a sequence or the end."""
        text = self.text
        marker = self.markers[-1] if is_heredoc else ""
        start = position
        at_line_start = position == 0 or text[position - 1] == "\n"
        while True:
            if at_line_start and is_heredoc:
                line_end = text.find("\n", position)
                # HCL: the marker may be indented, even without the "-" that also
                # strips the text.
                if line_end >= 0 and text[position:line_end].strip() == marker:
                    return self._close_heredoc(position, line_end)
            match = _UNQUOTED.match(text, position)
            assert match is not None
            group = match.lastindex
            position = match.end()
            at_line_start = False
            if group == 4:
                continue
            # HCL: each line of a heredoc is a token of its own, since "<<-" removes indentation by
            # lines.
            if group == 1:
                self._emit(TEXT, start, text[start:position])
                start = position
                at_line_start = True
                continue
            if group is None:
                if position > start:
                    self._emit(TEXT, start, text[start:position])
                return position
            stop = match.start(group)
            if stop > start:
                self._emit(TEXT, start, text[start:stop])
            kind = INTERPOLATION if group == 2 else DIRECTIVE
            self._emit(kind, stop, match[group])
            self.nest.append(_SEQUENCE)
            return position

    def _close_heredoc(self, start: int, line_end: int) -> int:
        self.nest.pop()
        self.markers.pop()
        if line_end > start and self.text[line_end - 1] == "\r":
            line_end -= 1
        # The line end after the marker is not part of the heredoc.
        self._emit(CLOSE_HEREDOC, start, self.text[start:line_end])
        return line_end

    # -- names --------------------------------------------------------------------------------

    def _check_names(self) -> None:
        """Turn tokens of names with invalid characters into `INVALID` tokens."""
        for index, kind in enumerate(self.kinds):
            if kind in (IDENTIFIER, PATH, ARGUMENT, BLOCK_HEADER):
                text = self.texts[index]
                if text.isascii():
                    continue
                offset = 0
                if kind == BLOCK_HEADER:
                    offset, text = _wrong_word(text)
                if first_invalid(text) >= 0:
                    self.kinds[index] = INVALID
                    self.starts[index] += offset
                    self.texts[index] = text


def _line_start(word: str) -> tuple[int, str, int, str]:
    """Split a word that begins with a line end.

    The word `for` may also begin an object produced by a for expression.
    """
    line = word.lstrip("\r\n \t")
    newline = "\n" if word[0] == "\n" else "\r\n"
    offset = len(word) - len(line)
    if not line:
        return NEWLINE, newline, offset, line
    if line == "}":
        return CLOSE_BRACE, newline, offset, line
    name = line.rstrip("= \t")
    if len(name) == len(line):
        return BLOCK_HEADER, newline, offset, line
    return FOR if name == "for" else ARGUMENT, newline, offset, name


_HEADER_TYPE: Final = lazy_pattern(_NAME)


def _wrong_word(header: str) -> tuple[int, str]:
    """Find the first word of a block header that is neither a name nor a quoted label."""
    for match in _LABEL.finditer(header):
        word = match[0]
        if not word.startswith('"') and first_invalid(word) >= 0:
            return match.start(), word
    return 0, ""


def first_invalid(name: str) -> int:
    """Return the offset of the first invalid character in a name or dotted name; -1 if there is
    none.
    """
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
    """Check for a valid name of the native syntax."""
    if text.isascii():
        # HCL: identifiers are those of Unicode (UAX #31), with "-" as an additional
        # character after the first.
        return text.replace("-", "_").isidentifier() and text[0] != "-"
    return _HEADER_TYPE.fullmatch(text) is not None and first_invalid(text) < 0
