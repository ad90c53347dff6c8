"""Random patterns beside Go's `regexp`, which is what OpenTofu uses: is a pattern valid, what does it find.

Go gives positions in bytes; they are turned into those of characters.
"""

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from nigari.regexp.pattern import Pattern
from nigari.regexp.syntax import PatternError

pytestmark = pytest.mark.real

PROGRAM: Final = """
package main

import (
	"encoding/json"
	"os"
	"regexp"
)

func main() {
	questions := json.NewDecoder(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		var question struct {
			Pattern string
			Texts   []string
		}
		if questions.Decode(&question) != nil {
			return
		}
		pattern, err := regexp.Compile(question.Pattern)
		if err != nil {
			answers.Encode(nil)
			continue
		}
		found := [][][]int{}
		for _, text := range question.Texts {
			found = append(found, pattern.FindAllStringSubmatchIndex(text, -1))
		}
		answers.Encode(map[string]any{"names": pattern.SubexpNames()[1:], "found": found})
	}
}
"""
# fmt: off
PIECES: Final = (
    "a", "b", "c", "k", "K", "s", "ſ", "é", "É", "λ", "Λ", "ß", "1", " ", r"\n", ".", "^", "$", r"\b", r"\B", r"\A",
    r"\z", r"\d", r"\w", r"\s", r"\W", r"\S", r"\D", "[a-c]", "[^a]", r"[^a\n]", "[[:alpha:]]", "[[:^space:]]", "[]a]",
    "[a-]", "[a-b-c]", r"[\d\pL]", r"\pL", r"\p{Lu}", r"\P{Greek}", r"\p{^Lu}", r"\x41", r"\x{3bb}", r"\101", r"\.",
    r"\_", r"\Qa.b\E", "[k-s]", "[^k]", r"\pN", r"\p{letter}", "-", "_", r"\p{Han}", r"\p{Any}", r"[\x00-\x{10ffff}]",
)
UNUSUAL: Final = (
    r"\1", r"\8", r"\C", r"\Z", r"\G", "(?=a)", "(?!a)", "(?<=a)", r"\p{Foo}", "[z-a]", "[a", "(", ")", "*", "+", "?",
    "{2}", "a**", "a{2}{3}", "a{1001}", "a{,2}", "{", "}", "a{2", "\\", "[[:foo:]]", "(?P<n", "(?P<>a)", "(?<x y>a)",
    "(?i", "(?z)", "(?-)", "(?i-)", "(?-i-s)", r"\x", r"\x{", r"\x{110000}", r"\x{}", r"\xg1", "[\\", "a{2,1}", "a{01}",
    "a{1,}", r"\p", r"\pX", r"\p{", r"\p{^}", "[[:alpha:", "(?:a{100}){100}", "(?:a{10}){100}", "(?:a{0}){1000}",
    "(?P<a>x)(?P<a>y)", r"\Q", r"\Qab", r"\E", "[^]", "[^]a]", r"[a-\d]", "[--a]", "(?i)(?s).", "(?U)a*", "(?m)^a$",
    r"\p{Old_Italic}", r"\p{olditalic}", r"\p{LC}", r"\p{cased_letter}", r"\p{C}", r"\p{Cn}", r"\p{assigned}",
    r"\p{ASCII}", r"\P{ascii}", r"(?i)\p{ascii}", "(?)", "(?:)", "()", "(|a)*", "(|a)+", "(a|)*", "(?:|a)*?", "(a*)*",
    "(a*)+", "(a*?)*", "(?:a?){3}", "(?:a??){2,4}", "(?:|a){0,3}", "x{0}", "(a){0}", "(?:a{2}){3,}", "(^)*", "(?:^)*",
    "(?:$)+a", r"(?i)\w", r"(?i)\W", "(?i)[^K]", "(?i)[[:lower:]]", r"(?i)\p{Lu}", r"(?i)\P{Lu}", r"(?i)\pL", r"\p{}",
    r"\p{-}", r"\p{ l u }", r"\p{digit}", r"\p{Punct}", "a{0}", "a{0,0}", "a{0,1}b{0}*",
)
# fmt: on
GROUPS: Final = ("(", "(?:", "(?i:", "(?s:", "(?m:", "(?U:", "(?P<n>", "(?<m>", "(?-i:", "(?is-m:")
FLAGS: Final = ("(?i)", "(?s)", "(?m)", "(?U)", "(?-s)")
REPETITIONS: Final = ("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}?", "{2,}", "{0}")
CHARACTERS: Final = "aaabbcckKsSſéÉλΛß1 _-.\n漢"


def random_pattern(chances: random.Random, depth: int) -> str:
    kind = chances.choices(
        ["piece", "unusual", "both", "either", "group", "flags", "repeated"],
        [35, 3, 17, 10, 13, 4, 18],
    )[0]
    if depth == 0 or kind == "piece":
        return chances.choice(PIECES)
    if kind == "unusual":
        return chances.choice(UNUSUAL)
    part = random_pattern(chances, depth - 1)
    if kind == "both":
        return part + random_pattern(chances, depth - 1)
    if kind == "either":
        return f"{part}|{random_pattern(chances, depth - 1)}"
    if kind == "group":
        return f"{chances.choice(GROUPS)}{part})"
    if kind == "flags":
        return chances.choice(FLAGS) + part
    return (
        chances.choice(["", "(", "(?:"])
        + part
        + chances.choice([")", ""])
        + chances.choice(REPETITIONS)
    )


def in_characters(text: str, found: list[list[int]] | None) -> list[list[tuple[int, int]]]:
    positions = {-1: -1}
    size = 0
    for index, character in enumerate(text):
        positions[size] = index
        size += len(character.encode())
    positions[size] = len(text)
    return [
        [(positions[low], positions[high]) for low, high in zip(each[::2], each[1::2], strict=True)]
        for each in found or ()
    ]


def answers(tmp_path: Path, questions: list[tuple[str, list[str]]]) -> list[Any]:
    program = tmp_path / "main.go"
    program.write_text(PROGRAM, encoding="utf-8")
    asked = "\n".join(json.dumps({"Pattern": each, "Texts": texts}) for each, texts in questions)
    done = subprocess.run(
        ["go", "run", str(program)], check=True, input=asked, stdout=subprocess.PIPE, text=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("go") is None, reason="needs Go")
def test_random_patterns(tmp_path: Path) -> None:
    chances = random.Random(20261119)
    patterns = [*PIECES, *UNUSUAL, *(random_pattern(chances, 5) for _ in range(5000))]
    questions = [
        (each, ["".join(chances.choices(CHARACTERS, k=length)) for length in (0, 1, 3, 8, 14)])
        for each in patterns
    ]
    valid = 0
    for (each, texts), answer in zip(questions, answers(tmp_path, questions), strict=True):
        try:
            pattern = Pattern(each)
        except PatternError:
            assert answer is None, each
            continue
        assert answer is not None, each
        assert pattern.names == answer["names"]
        valid += 1
        for text, found in zip(texts, answer["found"], strict=True):
            assert list(pattern.find_all(text)) == in_characters(text, found), (each, text)
    assert valid > 3000
