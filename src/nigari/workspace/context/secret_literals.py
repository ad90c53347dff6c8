"""Secrets by where they are written: in backend blocks, under telling names, in files of values.

Owns which literals of a file may hold a secret although no value has a mark. Nothing is evaluated
here.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator

from nigari.backends.harmless import is_harmless, is_harmless_anywhere
from nigari.config.file_names import (
    is_config_file,
    is_mock_file,
    is_query_file,
    is_symbol_file,
    is_test_file,
)
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.secret_urls import secret_spans
from nigari.hcl.body import Body
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import KeyName, ObjectConstructor
from nigari.hcl.expressions import Expression, Literal, Reference, SyntaxFault
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source
from nigari.hcl.templates import StringLiteral
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    Path = tuple[str, ...]
    Span = tuple[int, int]

_NAME: Final = lazy_pattern(
    r"(?i)(?:.*[^a-z])?(?:password|passwd|passphrase|secret|token|credentials?|authorization|auth"
    r"|api_?key|private_key(?:_pem)?|access_key|secret_key|client_key|account_key|shared_key"
    r"|(?:customer|customer_provided|customer_encryption|encryption)_key|conn_str"
    r"|connection_string|http_auth|client_certificate|sas)"
)
_CAMEL_NAME: Final = lazy_pattern(r".*[a-z](?:Password|Secret|Token|Key|Credentials?)")
_VISIBLE: Final = lazy_pattern(rb"[^\s]")
_TEMPLATE: Final = lazy_pattern(r"[$%]\{[^}]*\}")
_MASK: Final = b"*"
_SETTING_BLOCKS: Final = ("backend", "backend_config")
_LABELS: Final = {
    "resource": 2,
    "data": 2,
    "ephemeral": 2,
    "action": 2,
    "locals": 0,
    "terraform": 0,
}
"""The number of names after the type of a block in its path, if it is not one."""
_ITEM: Final = lazy_pattern(
    r'([\w-]+)"?\s*[=:]\s*(?:"((?:[^"\\\n]|\\.)*)|(\[[^\]\n]*)|<<-?(\w+\n[^=]*)|([^\s\[{"<,}][^\s,}]*))'
)
_LONE_WORD: Final = lazy_pattern(r"(?m)^[ \t]*([^\s=:{}#\[\]][^\s=:{]*)[ \t]*$")
_HIDING_BLOCK: Final = lazy_pattern(
    r'"?\b(?:backend|backend_config|cloud|key_provider|connection|config)\b[^{\n]*\{(?:(?!\n\})[\s\S]){0,4000}'
)
_VALUE_FILES: Final = (".tfvars", ".tfvars.json")
_ARGUMENTS: Final = ("<address>", "<expression>")
"""Names of the texts that commands such as `explain` evaluate."""


def is_secret_name(name: str) -> bool:
    """Return whether an argument with this name most likely holds a secret."""
    return _NAME.fullmatch(name) is not None or _CAMEL_NAME.fullmatch(name) is not None


def sensitive_variables(files: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    """The variables that are declared sensitive or ephemeral in native files of a configuration."""
    for name, data in files:
        if not is_config_file(os.path.basename(name)) or b"variable" not in data:
            continue
        for block in _blocks(_body(Source.from_bytes(name, data), Diagnostics())):
            if block[0][:1] == ("variable",) and not {"sensitive", "ephemeral"}.isdisjoint(
                block[1].just_attributes(Diagnostics())
            ):
                yield block[0][1]


def without_secrets(filename: str, data: bytes, variables: Collection[str]) -> bytes:
    """The bytes of a file with asterisks for what may be a secret, so that positions stay."""
    source = Source.from_bytes(filename, data)
    spans = [*secret_spans(source.text), *secret_literals(source, variables)]
    pieces: list[bytes] = []
    at = 0
    for start, end in sorted(spans):
        where = source.range(start, end)
        first, last = max(where.start.byte, at), where.end.byte
        if first < last:
            pieces += (data[at:first], _VISIBLE.sub(_MASK, data[first:last]))
            at = last
    return b"".join((*pieces, data[at:]))


def secret_literals(source: Source, variables: Collection[str]) -> Iterator[Span]:
    """The literals in a file that may be secrets; the values of these variables are."""
    base = os.path.basename(source.filename)
    if "\0" in source.text:
        # Whatever it is, such as an encrypted file, it is not what it should be.
        yield 0, len(source.text)
    is_configuration = any(
        is_one(base)
        for is_one in (is_config_file, is_test_file, is_mock_file, is_query_file, is_symbol_file)
    )
    problems = Diagnostics()
    body = _body(source, problems)
    if problems.has_errors:
        yield from _guessed(source.text)
    has_marks = "sensitive(" in source.text
    # Nothing can be referred to where values are written.
    is_constant = not is_configuration and not base.endswith((".hcl", ".hcl.json", *_ARGUMENTS))
    if is_constant and problems.has_errors:
        yield from _lone_words(source.text)
    for path, expr in _expressions(body):
        if base.endswith(_VALUE_FILES):
            is_secret = path[0] in variables or any(map(is_secret_name, path))
        elif is_configuration or (base.endswith((".hcl", ".hcl.json")) and len(path) > 1):
            is_secret = _is_secret_in_configuration(path, variables)
        else:
            # A file of backend settings, whose type no one knows here.
            is_secret = not is_harmless_anywhere(path[0])
        if is_secret:
            yield from _literals(expr, is_constant)
        elif has_marks:
            yield from _declared_sensitive(expr)


def _is_secret_in_configuration(path: Path, variables: Collection[str]) -> bool:
    if path[:2] == ("terraform", "backend") and len(path) > 3:
        return not is_harmless(path[2], path[3]) or any(map(is_secret_name, path[4:]))
    if path[:2] == ("terraform", "cloud") and len(path) > 2:
        return not is_harmless("cloud", path[2])
    if "key_provider" in path[:3] or any(each.lower().endswith("headers") for each in path):
        return True
    if len(path) > 2 and path[0] == "variable" and path[1] in variables:
        return path[-1] in ("default", "type") or "default" in path
    for number, each in enumerate(path[:-1]):
        if each in ("variables", "values") and path[number + 1] in variables:
            return True
        if each in _SETTING_BLOCKS and number and not is_harmless_anywhere(path[number + 1]):
            return True
    if path[:2] == ("data", "terraform_remote_state") and "config" in path[:-1]:
        return not is_harmless_anywhere(path[path.index("config") + 1])
    return any(map(is_secret_name, path[1 + _LABELS.get(path[0], 1) :]))


def _guessed(text: str) -> Iterator[Span]:
    """The same where the syntax is broken, so that some of it is in no expression."""
    regions = [each.span() for each in _HIDING_BLOCK.finditer(text)]
    for item in _ITEM.finditer(text):
        is_within = any(start < item.start() < end for start, end in regions)
        if is_secret_name(item[1]) or (is_within and not is_harmless_anywhere(item[1])):
            yield item.span(item.lastindex or 0)


def _lone_words(text: str) -> Iterator[Span]:
    """Words on lines of their own, which set nothing."""
    yield from (each.span(1) for each in _LONE_WORD.finditer(text))


def _body(source: Source, problems: Diagnostics) -> Body:
    if _is_json(source):
        from nigari.hcl.json_body import parse_json_body

        return parse_json_body(source, problems)
    return parse_body(source, problems)


def _is_json(source: Source) -> bool:
    return source.filename.endswith(".json")


def _blocks(body: Body) -> Iterator[tuple[Path, NativeBody]]:
    """The blocks of a native body with their types and labels, those inside of others as well."""
    pending: list[tuple[Path, Body]] = [((), body)]
    while pending:
        path, each = pending.pop()
        if isinstance(each, NativeBody):
            yield path, each
            pending += [((*path, b.type, *b.labels), b.body) for b in each.blocks]


def _expressions(body: Body) -> Iterator[tuple[Path, Expression]]:
    """Every argument, and every member of an object in one, with the names that lead to it."""
    pending: list[tuple[Path, Expression]] = []
    if not isinstance(body, NativeBody):
        from nigari.hcl.json_body import JsonBody

        assert isinstance(body, JsonBody)
        pending.append(((), body.value))
    for path, inner in _blocks(body):
        pending += [((*path, name), each.expr) for name, each in inner.attributes.items()]
    while pending:
        path, expr = pending.pop()
        inside = list(members(expr))
        pending += [((*path, name), value) for name, value in inside]
        if not inside and path:
            yield path, expr
            pending += [(path, each) for each in _objects(expr)]


def _objects(expr: Expression) -> Iterator[Expression]:
    """The outermost objects within an expression: arguments of functions, elements of lists."""
    pending = expr.children()
    while pending:
        each = pending.pop()
        if isinstance(each, ObjectConstructor) or _is_json_object(each):
            yield each
        else:
            pending = [*pending, *each.children()]


def members(expr: Expression) -> Iterator[tuple[str, Expression]]:
    """The names and values of an object that is written out."""
    if isinstance(expr, ObjectConstructor):
        for key, value in expr.items:
            name = key.name if isinstance(key, KeyName) else getattr(key, "text", "")
            yield name, value
    elif _is_json_object(expr):
        from nigari.hcl.json_expressions import JsonObject

        assert isinstance(expr, JsonObject)
        for each in expr.properties:
            yield each.name, each.value


def _is_json_object(expr: Expression) -> bool:
    if not _is_json(expr.source):
        return False
    from nigari.hcl.json_expressions import JsonObject

    return isinstance(expr, JsonObject)


def _literals(expr: Expression, is_constant: bool) -> Iterator[Span]:
    """The literals in an expression, without names and functions.

    A single word that stands for no value is text without its quotes, and where only constants are
    allowed, so is every name.
    """
    pending = [expr]
    while pending:
        each = pending.pop()
        pending.extend(each.children())
        if isinstance(each, StringLiteral):
            quote = int(each.source.text.startswith('"', each.start))
            yield each.start + quote, each.end - quote
        elif isinstance(each, Literal | SyntaxFault) or (
            isinstance(each, Reference) and (is_constant or len(each.steps) == 1)
        ):
            yield each.start, each.end
        elif isinstance(each, FunctionCall) and is_constant:
            yield each.start, each.name_end
        elif _is_json(each.source) and not each.children():
            yield from _json_text(each)


def _declared_sensitive(expr: Expression) -> Iterator[Span]:
    """The literals in calls of `sensitive`."""
    pending = [expr]
    while pending:
        each = pending.pop()
        if isinstance(each, FunctionCall) and each.name == "sensitive":
            yield from _literals(each, False)
        else:
            pending.extend(each.children())


def _json_text(expr: Expression) -> Iterator[Span]:
    """The literals in a string or a number of JSON, without its templates."""
    text = expr.source.text
    quote = int(text.startswith('"', expr.start))
    at, end = expr.start + quote, expr.end - quote
    for template in _TEMPLATE.finditer(text, at, end):
        yield at, template.start()
        at = template.end()
    yield at, end
