"""Redaction of URLs: user names, passwords, and parameters that carry tokens and signatures.

Owns the list of such parameters and the word that replaces a secret. Values are redacted before
they become part of a text (`hidden_url`, `hidden_urls`); a source text must keep its positions, so
it is masked in place (`secret_spans`).
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


HIDDEN: Final = "REDACTED"

_WORDS: Final = (
    *("token", "secret", "signature", "passw", "passphrase", "pwd", "credential", "privatekey"),
    *("accesskey", "apikey", "sshkey", "jwt", "bearer", "session"),
)
"""A parameter is secret if its name, without dashes and underscores, contains one of these."""
_NAMES: Final = frozenset(("key", "code", "auth", "authorization", "sig", "pass", "pw", "policy"))
"""Names that are secret as a whole, but mean nothing within longer names."""
_USER: Final = lazy_pattern(r"://([^/?#\s\"'`<>\\]*)@")
_SLASHED_USER: Final = lazy_pattern(
    r"://([^/?#\s\"'@:\[]*:(?!\d*(?:[/?#\s\"']|$))[^\s\"'@]{0,200})@"
)
"""A password with a character that should have been escaped in a URL, such as a slash."""
_PARAMETER: Final = lazy_pattern(r"(?:[?&;#]|\\u0026)([^=&?;#\s\"'<>\\/]{1,100})=")
_END_IN_TEXT: Final = lazy_pattern(r"[&#\s\"'<>`]|\\u0026|\\\"|$")
_END_OF_VALUE: Final = lazy_pattern(r"[&#]|$")
_SHORTEST: Final = 4
"""Shorter secrets may be any word."""
_TEMPLATE: Final = lazy_pattern(r"[$%]\{[^}]*\}")


def is_secret_parameter(name: str) -> bool:
    """Check whether a URL parameter with this name carries a secret."""
    plain = name.lower()
    if "%" in plain:
        from urllib.parse import unquote

        plain = unquote(plain)
    joined = plain.replace("-", "").replace("_", "").replace(".", "")
    return joined in _NAMES or any(word in joined for word in _WORDS)


def hidden_url(url: str) -> str:
    """Redact a value that is a URL or a module address."""
    return _replaced(url, list(_spans(url, is_value=True)))


def carries_secret(text: str) -> bool:
    """Check for a URL that authenticates by itself, such as a presigned one."""
    return any(_spans(text, is_value=False))


def hidden_urls(text: str) -> str:
    """Redact the URLs within a text, such as the output of another program."""
    return _replaced(text, list(_spans(text, is_value=False)))


def hidden_answer(text: str, url: str) -> str:
    """Clean what a server said when it was asked for a URL, whose secrets it may repeat alone."""
    for start, end in _spans(url, is_value=True):
        for secret in url[start:end].split(":"):
            if len(secret) >= _SHORTEST:
                text = text.replace(secret, HIDDEN)
    return hidden_urls(text)


def secret_spans(text: str) -> Iterator[tuple[int, int]]:
    """Find the secrets of URLs in a source text. Interpolated templates are not secrets."""
    for start, end in _spans(text, is_value=False):
        for template in _TEMPLATE.finditer(text, start, end):
            # The name before an interpolated password is no secret.
            if template.start() > start and text[template.start() - 1] != ":":
                yield start, template.start()
            start = template.end()
        if end > start:
            yield start, end


def _spans(text: str, is_value: bool) -> Iterator[tuple[int, int]]:
    """Yield the offsets of secrets, in order and without overlaps."""
    found: list[tuple[int, int]] = []
    if "://" in text:
        for pattern in (_USER, _SLASHED_USER):
            for user in pattern.finditer(text):
                # A name alone is an account of ssh; for web servers it is a token.
                scheme = text[max(user.start() - 5, 0) : user.start()].lower()
                if ":" in user[1] or scheme.endswith(("http", "https")):
                    found.append(user.span(1))
    at = 0
    for parameter in _PARAMETER.finditer(text):
        if parameter.end() >= at and is_secret_parameter(parameter[1]):
            stop = (_END_OF_VALUE if is_value else _END_IN_TEXT).search(text, parameter.end())
            at = len(text) if stop is None else stop.start()
            found.append((parameter.end(), at))
    at = 0
    for start, end in sorted(found):
        if max(start, at) < end:
            yield max(start, at), end
            at = end


def _replaced(text: str, spans: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += (text[at:start], HIDDEN)
        at = end
    return "".join((*pieces, text[at:]))
