"""Parser of templates: quoted strings, heredocs, and bare templates.

Owns escapes, strip markers, the indentation of `<<-` heredocs, and the structure of directives. The
text between `${` and `}` is left to the expression parser.
"""

# ruff: noqa: SIM109 - two comparisons cost less than making a tuple

from __future__ import annotations

from abc import abstractmethod

from nigari.cty.graphemes import grapheme_count
from nigari.hcl.collections import For
from nigari.hcl.expressions import Expression, SyntaxFault
from nigari.hcl.operators import Conditional
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.templates import StringLiteral, Template, TemplateLoop, TemplateWrap
from nigari.hcl.token_stream import Abandon, TokenStream
from nigari.hcl.tokens import (
    CLOSE_QUOTE,
    COLON,
    COMMA,
    DIRECTIVE,
    END,
    ESCAPED_STRING,
    IDENTIFIER,
    INTERPOLATION,
    OPEN_QUOTE,
    QUOTED_TEXT,
    SEQUENCE_END,
    STRING,
    TEXT,
)
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ESCAPE: Final = lazy_pattern(r"\\(?:u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|[\s\S]?)|\$\$\{|%%\{")
_SIMPLE_ESCAPES: Final = {
    "\\n": "\n",
    "\\r": "\r",
    "\\t": "\t",
    '\\"': '"',
    "\\\\": "\\",
    "$${": "${",
    "%%{": "%{",
}

_LITERAL: Final = 0
_VALUE: Final = 1
_IF: Final = 2
_ELSE: Final = 3
_ENDIF: Final = 4
_FOR: Final = 5
_ENDFOR: Final = 6

_DIRECTIVES: Final = {"if": _IF, "else": _ELSE, "endif": _ENDIF, "for": _FOR, "endfor": _ENDFOR}


class _Part:
    """A piece of a template: text, an interpolation or a directive."""

    __slots__ = ("end", "expression", "key_name", "kind", "start", "text", "value_name")

    def __init__(
        self, kind: int, start: int, end: int, text: str, expression: Expression | None
    ) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.text = text
        self.expression = expression
        self.key_name = ""
        self.value_name = ""


class _Frame:
    """A directive that is open while its template is assembled."""

    __slots__ = ("opening", "otherwise", "parts")

    def __init__(self, opening: _Part | None) -> None:
        self.opening = opening
        self.parts: list[Expression] = []
        self.otherwise: list[Expression] | None = None

    def append(self, part: Expression) -> None:
        if self.otherwise is None:
            self.parts.append(part)
        else:
            self.otherwise.append(part)


class TemplateParser(TokenStream):
    """Parses templates; a subclass parses the expressions in them."""

    __slots__ = ()

    at: int
    depth: int

    @abstractmethod
    def expression(self) -> Expression:
        """Parse an expression, beginning with the next token."""

    # -- strings without sequences ------------------------------------------------------------

    def string_text(self, index: int) -> str:
        """Decode a `STRING` or `ESCAPED_STRING` token."""
        text = self.texts[index][1:-1]
        if self.kinds[index] == STRING:
            return text
        return self._unescape(text, self.starts[index] + 1, True)

    def label(self) -> str:
        """Parse a quoted string without sequences as a block label; it begins with the next token."""
        at = self.at
        kind = self.kinds[at]
        if kind == STRING or kind == ESCAPED_STRING:
            self.at = at + 1
            return self.string_text(at)
        texts: list[str] = []
        at += 1
        reported = False
        while self.kinds[at] != CLOSE_QUOTE and self.kinds[at] != END:
            if self.kinds[at] == QUOTED_TEXT:
                texts.append(self._unescape(self.texts[at], self.starts[at], True))
            elif self.kinds[at] in (INTERPOLATION, DIRECTIVE):
                if not reported:
                    self._report_sequence_in_label(at)
                    reported = True
                at = self._skip_sequence(at)
            at += 1
        self.at = at + 1 if self.kinds[at] == CLOSE_QUOTE else at
        return "".join(texts)

    def _skip_sequence(self, at: int) -> int:
        """Return the token at the end of a sequence."""
        depth = 0
        while self.kinds[at] != END:
            if self.kinds[at] in (INTERPOLATION, DIRECTIVE):
                depth += 1
            elif self.kinds[at] == SEQUENCE_END:
                depth -= 1
                if depth == 0:
                    return at
            at += 1
        return at - 1

    def _report_sequence_in_label(self, at: int) -> None:
        sign = self.text[self.starts[at]]
        self.fail(
            at,
            "Template sequence in a label",
            f"A label is plain text and cannot contain expressions. For a literal {sign}{{ write "
            f"{sign}{sign}{{.",
        )

    def _unescape(self, text: str, start: int, is_quoted: bool) -> str:
        """Resolve the escapes in a piece of text; quoted text has more of them."""
        if "$${" not in text and "%%{" not in text and not (is_quoted and "\\" in text):
            return text
        if not is_quoted:
            # Heredocs and template files have no backslash escapes.
            return text.replace("$${", "${").replace("%%{", "%{")
        out: list[str] = []
        last = 0
        for match in _ESCAPE.finditer(text):
            out.append(text[last : match.start()])
            last = match.end()
            escape = match[0]
            simple = _SIMPLE_ESCAPES.get(escape)
            out.append(self._character(escape, start + match.start()) if simple is None else simple)
        out.append(text[last:])
        return "".join(out)

    def _character(self, escape: str, start: int) -> str:
        """Decode a longer escape."""
        selector = escape[1:2]
        if selector in ("u", "U"):
            digits = 4 if selector == "u" else 8
            if len(escape) != 2 + digits:
                self._report_escape(
                    escape, start, f"\\{selector} must be followed by {digits} hexadecimal digits."
                )
                return ""
            code = int(escape[2:], 16)
            # Surrogates are no characters; Go would replace them silently.
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                self._report_escape(escape, start, f"The character U+{escape[2:]} does not exist.")
                return ""
            return chr(code)
        hint = " To include a backslash, write \\\\."
        if selector in ("$", "%"):
            hint = f" For a literal {selector}{{ write {selector}{selector}{{."
        self._report_escape(
            escape, start, f'A backslash must be followed by one of n r t " \\ u U.{hint}'
        )
        return escape[1:]

    def _report_escape(self, escape: str, start: int, detail: str) -> None:
        where = self.source.range(start, start + len(escape))
        self.diags.error("Invalid escape sequence", detail, where)

    # -- templates ----------------------------------------------------------------------------

    def template(self, opening: int, closing: int, is_flush: bool) -> Expression:
        """Parse a template that begins with the next token and ends with one of kind `closing`.

        `opening` is the token of its quote or heredoc, or the first one of a bare template.
        """
        depth = self.depth
        parts = self._parts(opening, closing)
        self.depth = depth
        last = self.at
        if closing != END:
            self.at += 1
        start, end = self.starts[opening], self.end(last)
        if is_flush:
            _remove_indentation(parts)
        parts = _join_literals(parts)
        if not parts:
            return StringLiteral(self.source, start, end, "")
        if len(parts) == 1:
            part = parts[0]
            if part.kind == _LITERAL:
                return StringLiteral(self.source, start, end, part.text)
            # HCL (TemplateWrapExpr): "${x}" alone keeps the type of x.
            if part.kind == _VALUE and part.expression is not None:
                return TemplateWrap(self.source, start, end, part.expression)
        return Template(self.source, start, end, self._assemble(parts, last))

    def _parts(self, opening: int, closing: int) -> list[_Part]:
        """Split a template into pieces and apply strip markers; stops at the closing token."""
        parts: list[_Part] = []
        strips = False
        while True:
            at = self.at
            kind = self.kinds[at]
            if kind == QUOTED_TEXT or kind == TEXT:
                start, text = self.starts[at], self.texts[at]
                end = start + len(text)
                text = self._unescape(text, start, kind == QUOTED_TEXT)
                # Strip markers (~): white space of the adjacent text goes,
                # including line ends.
                if strips:
                    text = text.lstrip()
                strips = False
                parts.append(_Part(_LITERAL, start, end, text, None))
                self.at = at + 1
            elif kind == INTERPOLATION or kind == DIRECTIVE:
                # "${~" and "%{~" strip the text before them.
                if len(self.texts[at]) == 3 and parts and parts[-1].kind == _LITERAL:
                    parts[-1].text = parts[-1].text.rstrip()
                parts.append(self._sequence(at, kind == DIRECTIVE))
                last = self.at - 1
                # "~}" strips the text after it.
                strips = len(self.texts[last]) == 2
            elif kind == closing:
                return parts
            else:
                raise self.fail(
                    at,
                    "Unclosed template",
                    "This string is not terminated. A heredoc ends with its marker on a line of "
                    "its own, followed by a new line.",
                    opening,
                )

    def _sequence(self, at: int, is_directive: bool) -> _Part:
        """Parse an interpolation or directive, whose content begins with the next token."""
        depth = self.depth
        self.at = at + 1
        try:
            if is_directive:
                part = self._directive(at)
            else:
                self.enter(at)
                expression = self.expression()
                self.depth -= 1
                part = _Part(_VALUE, self.starts[at], self.end(at), "", expression)
            if self.kinds[self.at] != SEQUENCE_END:
                raise self._unclosed_sequence(at)
        except Abandon:
            self.depth = depth
            self.at = max(self.at, at + 1)
            end = self._end_of_sequence(at)
            if end < 0:
                raise
            self.at = end + 1
            start, stop = self.starts[at], self.end(end)
            return _Part(_VALUE, start, stop, "", SyntaxFault(self.source, start, stop))
        part.end = self.end(self.at)
        self.at += 1
        return part

    def _end_of_sequence(self, opening: int) -> int:
        """Find the end of a sequence that contains an error; -1 if there is none."""
        self.skip_item(opening + 1, False)
        return self.at if self.kinds[self.at] == SEQUENCE_END else -1

    def _unclosed_sequence(self, opening: int) -> Abandon:
        at = self.at
        kind = self.kinds[at]
        if kind in (END, CLOSE_QUOTE, OPEN_QUOTE, STRING, ESCAPED_STRING):
            return self.fail(
                at,
                "Unclosed template sequence",
                f"This {self.texts[opening]} sequence has no closing }}.",
                subject=opening,
            )
        hint = ""
        if kind == COLON or self.kinds[opening] == INTERPOLATION:
            hint = (
                " If this text is meant for another language, such as a shell, write $${ instead "
                "of ${."
            )
        return self.fail(
            at,
            "Extra characters in a template sequence",
            f"The expression is complete, so a }} must end the sequence here.{hint}",
            opening,
        )

    def _directive(self, opening: int) -> _Part:
        at = self.at
        if self.kinds[at] != IDENTIFIER:
            raise self.fail(
                at,
                "Invalid template directive",
                "%{ must be followed by one of if, else, endif, for, endfor. For a literal %{ "
                "write %%{.",
                opening,
            )
        word = self.texts[at]
        kind = _DIRECTIVES.get(word, -1)
        if kind < 0:
            raise self.fail(
                at,
                "Invalid template directive",
                f'There is no directive "{word}".{did_you_mean(word, _DIRECTIVES)} '
                "For a literal %{ write %%{.",
                opening,
            )
        self.at = at + 1
        part = _Part(kind, self.starts[opening], 0, "", None)
        if kind == _FOR:
            self._loop_names(part)
        if kind == _IF or kind == _FOR:
            # The content of a directive is one level deeper, until the directive that ends it.
            self.enter(opening)
            part.expression = self.expression()
        elif kind != _ELSE:
            self.depth -= 1
        return part

    def _loop_names(self, part: _Part) -> None:
        part.value_name = self._loop_name("for")
        if self.kinds[self.at] == COMMA:
            self.at += 1
            part.key_name = part.value_name
            part.value_name = self._loop_name("the comma")
        if self.kinds[self.at] != IDENTIFIER or self.texts[self.at] != "in":
            raise self.fail(
                self.at,
                "Invalid for directive",
                'The variable names of a for directive must be followed by "in".',
            )
        self.at += 1

    def _loop_name(self, after: str) -> str:
        if self.kinds[self.at] != IDENTIFIER:
            raise self.fail(
                self.at, "Invalid for directive", f"A variable name must follow {after}."
            )
        self.at += 1
        return self.texts[self.at - 1]

    # -- directives ---------------------------------------------------------------------------

    def _assemble(self, parts: list[_Part], last: int) -> list[Expression]:
        """Nest the pieces of a template into expressions by its directives."""
        frames = [_Frame(None)]
        failed = False
        for part in parts:
            kind = part.kind
            if kind == _LITERAL:
                frames[-1].append(StringLiteral(self.source, part.start, part.end, part.text))
            elif kind == _VALUE:
                assert part.expression is not None
                frames[-1].append(part.expression)
            elif kind == _IF or kind == _FOR:
                frames.append(_Frame(part))
            elif not self._end_directive(frames, part):
                failed = True
                frames[-1].append(SyntaxFault(self.source, part.start, part.end))
        if len(frames) > 1:
            if not failed:
                self._report_open_directive(frames[-1], last)
            frames[-1].append(SyntaxFault(self.source, self.starts[last], self.end(last)))
        # The contents of unclosed directives are checked as if those were absent.
        while len(frames) > 1:
            inner = frames.pop()
            for expression in inner.parts:
                frames[-1].append(expression)
        return frames[0].parts

    def _end_directive(self, frames: list[_Frame], part: _Part) -> bool:
        """Handle `else`, `endif` and `endfor`; return False without a matching directive."""
        frame = frames[-1]
        opening = frame.opening
        opened = -1 if opening is None else opening.kind
        # A second else is an error, as in HCL.
        if part.kind == _ELSE and opened == _IF and frame.otherwise is None:
            frame.otherwise = []
            return True
        if opening is not None and part.kind == opened + (2 if opened == _IF else 1):
            frames.pop()
            source = self.source
            if opened == _IF:
                frames[-1].append(_if_directive(source, frame, opening, part))
            else:
                frames[-1].append(_for_directive(source, frame, opening, part))
            return True
        self._report_unexpected_directive(frame, part)
        return False

    def _report_unexpected_directive(self, frame: _Frame, part: _Part) -> None:
        names = {value: name for name, value in _DIRECTIVES.items()}
        opening = frame.opening
        if opening is None:
            detail = f"There is no open directive that this {names[part.kind]} could belong to."
        elif opening.kind == part.kind - 1:
            where = self.source.range(opening.start, opening.end)
            detail = f"The if directive at {where} already has an else."
        else:
            where = self.source.range(opening.start, opening.end)
            detail = f"The {names[opening.kind]} directive at {where} must be closed first."
        where = self.source.range(part.start, part.end)
        self.diags.error("Unexpected template directive", detail, where)

    def _report_open_directive(self, frame: _Frame, last: int) -> None:
        opening = frame.opening
        assert opening is not None
        name = "if" if opening.kind == _IF else "for"
        where = self.source.range(opening.start, opening.end)
        self.diags.error(
            "Unclosed template directive",
            f"The {name} directive at {where} has no end{name} before the end of the template.",
            self.source.range(self.starts[last], self.end(last)),
        )


def _branch(source: Source, parts: list[Expression], empty_at: int) -> Expression:
    if not parts:
        return StringLiteral(source, empty_at, empty_at, "")
    if len(parts) == 1 and isinstance(parts[0], StringLiteral):
        return parts[0]
    return Template(source, parts[0].start, parts[-1].end, parts)


def _if_directive(source: Source, frame: _Frame, opening: _Part, end: _Part) -> Expression:
    assert opening.expression is not None
    yes = _branch(source, frame.parts, opening.end)
    # Without else, the other result is an empty string.
    no = _branch(source, frame.otherwise or [], end.start)
    return Conditional(source, opening.start, end.end, [opening.expression], [yes], no)


def _for_directive(source: Source, frame: _Frame, opening: _Part, end: _Part) -> Expression:
    assert opening.expression is not None
    loop = For(
        source,
        opening.start,
        end.end,
        opening.key_name,
        opening.value_name,
        opening.expression,
        None,
        _branch(source, frame.parts, opening.end),
        None,
        False,
        opening.end,
    )
    return TemplateLoop(source, opening.start, end.end, loop)


def _join_literals(parts: list[_Part]) -> list[_Part]:
    """Join adjacent texts."""
    joined: list[_Part] = []
    texts: list[str] = []
    for part in parts:
        if part.kind != _LITERAL:
            if len(texts) > 1:
                joined[-1].text = "".join(texts)
            texts = []
            joined.append(part)
        elif texts:
            texts.append(part.text)
            joined[-1].end = part.end
        else:
            texts = [part.text]
            joined.append(part)
    if len(texts) > 1:
        joined[-1].text = "".join(texts)
    return joined


def _remove_indentation(parts: list[_Part]) -> None:
    """Remove the common indentation of the lines of a `<<-` heredoc.

    As in HCL, blank lines are ignored, and interpolated text never counts as indentation.
    """
    least = -1
    indented: list[_Part] = []
    at_line_start = True
    for part in parts:
        if at_line_start:
            at_line_start = False
            indentation = 0
            if part.kind == _LITERAL:
                rest = part.text.lstrip()
                if not rest and part.text.endswith("\n"):
                    # A blank line has no indentation of its own.
                    indentation = -1
                else:
                    indentation = grapheme_count(part.text[: len(part.text) - len(rest)])
                    indented.append(part)
            if indentation >= 0 and (least < 0 or indentation < least):
                least = indentation
        if part.kind == _LITERAL and part.text.endswith("\n"):
            at_line_start = True
    if least > 0:
        for part in indented:
            part.text = part.text[least:]
            part.start += least
