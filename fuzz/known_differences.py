"""Differences between nigari and OpenTofu that are meant, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fuzz.consoles import FAILED, Outcome

_HIDDEN: Final = re.compile(r"\((?:sensitive|ephemeral) value\)")
_NUMBER: Final = re.compile(r"-?[0-9]+\.[0-9]{15,}")
_DIGITS: Final = 15
_UNKNOWN: Final = r"var\.u|local\.[pqw]"


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A kind of difference: why it is there, and how it is told from others."""

    reason: str
    explains: Callable[[str, Outcome, Outcome], bool]


def _is_crash(_: str, real: Outcome, own: Outcome) -> bool:
    return real.crashed


def _hides_more(real: Outcome, own: Outcome) -> bool:
    """Whether the values are the same but for what only we hide."""
    if real.display is None or own.display is None or real.type != own.type:
        return False
    parts = [re.escape(part) for part in _HIDDEN.split(own.display)]
    return re.fullmatch("(?s:.*)".join(parts), real.display) is not None


def _is_unknown_without_marks(expression: str, real: Outcome, own: Outcome) -> bool:
    return _hides_more(real, own) and re.search(r"!|-[a-z(]|\btry\(", expression) is not None


def _is_null_in_set(expression: str, real: Outcome, own: Outcome) -> bool:
    is_set = re.search(r"toset\(|set[a-z]+\(", expression) is not None
    return is_set and _hides_more(real, own) and "null" in (real.json or "") + (real.display or "")


def _is_index_of_unknown_object(expression: str, real: Outcome, own: Outcome) -> bool:
    is_index = re.search(r"(?:var\.uo|[)\]])(?:\[|\.[0-9])", expression) is not None
    if not is_index or not re.search(_UNKNOWN, expression):
        return False
    unknown = "(known after apply)"
    if real.display is None or unknown not in real.display:
        return False
    return own is FAILED or (real.type != own.type and "dynamic" in (real.type or ""))


def _is_unknown_set_as_list(expression: str, real: Outcome, own: Outcome) -> bool:
    unknown = "(known after apply)"
    if not re.search(r"toset|set[a-z]+\(|local\.t|var\.ut", expression):
        return False
    if unknown not in (own.display or ""):
        return False
    return real is FAILED or (unknown in (real.display or "") and real.type != own.type)


def _is_early_verdict(expression: str, real: Outcome, own: Outcome) -> bool:
    return (
        re.search("[!=]=|contains|index|distinct", expression) is not None
        and "set" in expression
        and real is not FAILED
        and "(known after apply)" in (own.display or "")
    )


def _has_empty_line(expression: str, real: Outcome, own: Outcome) -> bool:
    return any(not line.strip() for line in expression.split("\n"))


def _is_eastern(expression: str, real: Outcome, own: Outcome) -> bool:
    return "textdecodebase64(" in expression and "Shift_JIS" in expression


def _is_flattened_object(expression: str, real: Outcome, own: Outcome) -> bool:
    is_unknown = "(known after apply)" in (real.display or "")
    takes_object = re.search(r"flatten\(\(*(?:\{|tomap|merge|zipmap|local|var)", expression)
    return takes_object is not None and own is FAILED and is_unknown


def _is_shifted(expression: str, real: Outcome, own: Outcome) -> bool:
    is_partly_unknown = "(known after apply)" in (own.display or "")
    return "formatlist(" in expression and is_partly_unknown and real.type == own.type


def _is_nothing(_: str, real: Outcome, own: Outcome) -> bool:
    return "<nil>" in (real.display or "") and own is FAILED


def _is_empty_product(expression: str, real: Outcome, own: Outcome) -> bool:
    return "setproduct(" in expression and "(known after apply)" in (real.display or "")


def _is_precision(_: str, real: Outcome, own: Outcome) -> bool:
    return _rounded(real) == _rounded(own)


def _rounded(outcome: Outcome) -> tuple[str, ...]:
    texts = (outcome.display or "", outcome.type or "", outcome.json or "")
    return tuple(
        _NUMBER.sub(lambda found: f"{float(found[0]):.{_DIGITS}g}", text) for text in texts
    )


def _rules_out_infinity(expression: str, real: Outcome, own: Outcome) -> bool:
    is_comparison = re.search(r"[=!]=", expression) is not None
    has_both = ".inf" in expression and re.search(_UNKNOWN, expression) is not None
    return is_comparison and has_both and "(known after apply)" in (own.display or "")


KNOWN: Final = (
    KnownDifference(
        "a function of the real program panics, which it reports as an error", _is_crash
    ),
    KnownDifference(
        "`!`, `-` and `try` of something unknown lose its marks in the real program; secrets stay "
        "secret here",
        _is_unknown_without_marks,
    ),
    KnownDifference("a null in a set loses its marks in the real program", _is_null_in_set),
    KnownDifference(
        'an unknown object indexed as in `object["name"]` has the type of the attribute here, as '
        "in newer HCL; the real program's HCL gives something of unknown type and does not check "
        "the name",
        _is_index_of_unknown_object,
    ),
    KnownDifference(
        "a set with unknown elements, converted to a list of another element type, keeps the wrong "
        "type in the real program, so that whatever it is passed to refuses it or follows it",
        _is_unknown_set_as_list,
    ),
    KnownDifference(
        "sets whose elements have unknown parts are compared too early in the real program: it "
        "finds them different when they may yet turn out equal",
        _is_early_verdict,
    ),
    KnownDifference(
        "an unknown number that is not null is never infinite for the real program, though it may "
        "turn out to be",
        _rules_out_infinity,
    ),
    KnownDifference(
        "the real console leaves out empty lines, even in a heredoc, and spaces around lines",
        _has_empty_line,
    ),
    KnownDifference(
        "seldom bytes of the large East Asian encodings are not read here", _is_eastern
    ),
    KnownDifference(
        "flatten takes no objects and maps, which the real program notices only when all of it is known",
        _is_flattened_object,
    ),
    KnownDifference(
        "where an element of one list is unknown, formatlist of the real program takes the wrong "
        "elements of the lists after it from there on",
        _is_shifted,
    ),
    KnownDifference('a result of the real program that is no address at all: "<nil>"', _is_nothing),
    KnownDifference(
        "a product of anything with an empty set is empty, which the real program does not always "
        "say while the other is unknown",
        _is_empty_product,
    ),
    KnownDifference(
        "digits beyond the precision of a float: numbers of the real program remember with how "
        "many bits they were made (64 for a length), ours know floats and 512 bits only",
        _is_precision,
    ),
)
