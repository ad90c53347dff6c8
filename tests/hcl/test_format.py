"""The standard form: beyond what the conformance pairs show."""

import itertools

import pytest

from nigari.hcl.formatter import format


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", ""),
        ("a=1", "a = 1"),
        ("a=1\r\nbb=2 # x\r\n", "a  = 1\r\nbb = 2 # x\r\n"),
        ("a = 1\n  ", "a = 1\n  "),
        ('a b "c" /* x */ d {\n}\n', 'a "b" "c" "d" {\n}\n'),
        ('a "b" /* kept */ {\n}\n', 'a "b" /* kept */ {\n}\n'),
        ('a "$x" "$${x}" "e\\u0301" {}\n', 'a "$x" "$${x}" "é" {}\n'),
        ('a = "${b}"\n', "a = b\n"),
        ('a = "${"${b}"}"\n', "a = b\n"),
        ('a = "${"${b}c"}"\n', 'a = "${b}c"\n'),
        ('a = "${b}${c}"\n', 'a = "${b}${c}"\n'),
        ('a = ["${b}"]\n', 'a = ["${b}"]\n'),
        ('a = "${\nb\n}"\n', "a = b\n"),
        ('a = "${b +\nc}"\n', "a = (b +\nc)\n"),
        ('a = "${b # why\n}"\n', "a = (b # why\n)\n"),
        ('variable "x" {\n  type = "map"\n}\n', 'variable "x" {\n  type = map(string)\n}\n'),
        ('variable "x" {\n  type = set\n}\n', 'variable "x" {\n  type = set(any)\n}\n'),
        ('output "x" {\n  type = "map"\n}\n', 'output "x" {\n  type = "map"\n}\n'),
        ("a = [\n", "a = [\n"),
        ('a "b" { "${c}"=1 }\n', 'a "b" { "${c}" = 1 }\n'),
    ],
)
def test_form(text: str, want: str) -> None:
    assert format(text) == want
    assert format(want) == want


def test_a_long_file_takes_linear_time() -> None:
    text = 'resource a "b" {\nx=1\nyy="${z}" # c\n}\n' * 5_000
    want = 'resource "a" "b" {\n  x  = 1\n  yy = z # c\n}\n' * 5_000
    assert format(text) == want


PIECES = (
    *'.!=-:/*<>?%}{()[],~#\\$\r\n"a1',
    *("..", "...", "==", "=>", "!=", "--", "::", "//", "/*", "*/", "<<", "<<E\n"),
    *("&", "&&", "||", "%{", "${", "~}", "1e", "in", '""'),
)


def test_tokens_never_run_together() -> None:
    for first, second in itertools.product(PIECES, repeat=2):
        pair = f"{first} {second}"
        for text in (f"{first}{second}", pair, f"{pair} {first}", f'"${{{pair} }}"', f"[{pair}\n]"):
            once = format(text)
            assert format(once) == once, text


@pytest.mark.parametrize("text", ['a = "%{ ~f x }"\n', 'a = "${ ~x }"\n', 'a = "%{ if x ~ }"\n'])
def test_a_stray_tilde_does_not_become_a_strip_marker(text: str) -> None:
    once = format(text)
    assert format(once) == once
