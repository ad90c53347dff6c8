"""Mutates real files and checks what must hold for any text at all.

    python -m fuzz.hcl_files [-n COUNT] [-s SEED] [DIRECTORY ...]

For every input: nothing raises an exception or takes long; formatting changes spaces only and
changes nothing the second time; a tree for rewriting writes the same text, which parses to the same
tree; a file without errors has none after it was changed. An input that breaks a promise is kept in
build/fuzz, and the run ends with status 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from pathlib import Path
from typing import Final

from fuzz.damage import TooLong, at_most
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Block, Body
from nigari.hcl.expressions import Expression
from nigari.hcl.formatter import format
from nigari.hcl.json_body import JsonBody, parse_json_body
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body
from nigari.hcl.scanner import scan_lossless
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.token_layout import laid_out
from nigari.hcl.writer import Document, parse_document
from nigari.hcl.writer_tree import BlockText

ROOT: Final = Path(__file__).resolve().parents[1]
CORPUS: Final = (ROOT.parent / "shared" / "conformance" / "configurations", ROOT / "examples")
KEPT: Final = ROOT / "build" / "fuzz"
EXTENSIONS: Final = (".tf", ".tofu", ".tfvars", ".hcl", ".json")
LONGEST_SECONDS: Final = 5
LONGEST_TEXT: Final = 20_000

PIECES: Final = (
    *'{}[]()"\\$%#/*=.,:?!<>-+&|~\n\r\t \x00\'`;^',
    "${", "%{", "~}", "${~", "$${", "%%{", '"${', '}"', "<<EOT\n", "<<-E\n", "EOT\n", "\nE\n",
    "for", "in", "if", "else", "endif", "endfor", "for x in y :", "=>", "...", "::", "[*]", ".*",
    "true", "null", "dynamic", "/*", "*/", "//", "# c\n", "==", "&&", "||", "a.b", "a[0]", "0x1",
    "1e9999", "1e99999999999", "9" * 40, "\\u00e9", "\\U0001F600", "\\x", "e\u0301", "\u200b",
    "\ufeff", "\u2028", "\U0001f468\u200d\U0001f469", "\udcff", "variable \"x\" {\n type = list\n}\n",
    'x = "${a}"\n', "\r\n", "a = 1\n", "a {\n", "b {}\n", '"": ', "{},", "[1, 2]",
)  # fmt: skip


def mutate(text: str, other: str, rng: random.Random) -> str:
    """The text after a few random changes, some with parts of another text."""
    for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice((0, 1, 1, 2, 5, 20, 100)))
        choice = rng.randrange(8)
        if choice == 0:
            text = text[:at] + text[end:]
        elif choice == 1:
            text = text[:end] + text[at:end] * rng.choice((1, 1, 2, 50)) + text[end:]
        elif choice == 2:
            start = rng.randrange(len(other) + 1)
            text = text[:at] + other[start : start + rng.randrange(1, 200)] + text[end:]
        elif choice == 3:
            text = text[:at] + text[end:][::-1][: end - at] + text[end:]
        elif choice == 4:
            text = text[:at]
        else:
            text = text[:at] + rng.choice(PIECES) * rng.choice((1, 1, 1, 2, 40)) + text[end:]
    return text[:LONGEST_TEXT]


def check(text: str) -> None:
    """Hold a text against every promise; an exception says which is broken."""
    diags = Diagnostics()
    body = parse_body(Source("fuzz.tf", text), diags)
    check_places(diags, text)
    evaluate(body)
    tokens = scan_lossless(text)
    spread = laid_out(tokens.kinds[:-1], tokens.texts[:-1])
    assert "".join(spread.split()) == "".join(text.split()), "the layout changed more than spaces"
    formatted = format(text)
    assert format(formatted) == formatted, "formatting twice differs from formatting once"
    if not diags.has_errors:
        again = Diagnostics()
        parse_body(Source("fuzz.tf", formatted), again)
        assert not again.has_errors, f"formatting made an error: {again[0]}"
    document = parse_document(text)
    assert str(document) == text, "writing the tree differs from the text"
    if not diags.has_errors:
        check_changes(document)


def check_changes(document: Document) -> None:
    """Change a file that has no errors; it has none afterwards."""
    blocks = [item for item in document.body.everything() if isinstance(item, BlockText)]
    for body in [document.body, *[block.body for block in blocks[:5]]]:
        body.set("fuzzed", [1, {"a": "${b}"}])
        body.append_block("fuzzed_block", ["x"]).body.set_source("y", "z")
    for block in blocks[-2:]:
        block.set_labels(["changed"])
    document.body.rename("var", "local.var")
    changed = str(document)
    again = Diagnostics()
    parse_body(Source("fuzz.tf", changed), again)
    assert not again.has_errors, f"a change made an error: {again[0]}"


def check_json(text: str) -> None:
    """The same for the JSON syntax, which is never written."""
    diags = Diagnostics()
    body = parse_json_body(Source("fuzz.tf.json", text), diags)
    check_places(diags, text)
    evaluate(body)


def check_places(diags: Diagnostics, text: str) -> None:
    size = len(text.encode("utf-8", "surrogateescape"))
    for found in diags:
        assert found.subject is not None, found
        start, end = found.subject.start, found.subject.end
        assert 0 <= start.byte <= end.byte <= size, found
        assert start.line >= 1, found
        assert start.column >= 1, found


def evaluate(body: Body) -> None:
    """Evaluate every expression, and look for what it refers to."""
    scope = Scope({}, {})
    pending: list[Body] = [body]
    while pending:
        current = pending.pop()
        expressions: list[Expression] = []
        if isinstance(current, NativeBody):
            expressions = [attribute.expr for attribute in current.attributes.values()]
            blocks: list[Block] = current.blocks
            pending.extend([block.body for block in blocks])
        elif isinstance(current, JsonBody):
            found = current.just_attributes(Diagnostics())
            expressions = [attribute.expr for attribute in found.values()]
        for expression in expressions:
            expression.value(scope, Diagnostics())
            expression.variables()


def read_corpus(directories: list[Path]) -> list[tuple[str, bool]]:
    """The texts to begin with, and which of them are JSON."""
    paths = [
        path
        for directory in directories
        for path in sorted(directory.rglob("*"))
        if path.name.endswith(EXTENSIONS) and path.is_file()
    ]
    texts = [(path.read_bytes(), path.suffix == ".json") for path in paths]
    return [(data.decode("utf-8", "surrogateescape")[:LONGEST_TEXT], json) for data, json in texts]


def run(count: int, seed: int, directories: list[Path]) -> int:
    """Check that many inputs; the number of those that broke a promise."""
    corpus = read_corpus(directories)
    if not corpus:
        sys.exit(f"there are no files to begin with in {', '.join(map(str, directories))}")
    rng = random.Random(seed)
    failures = 0
    slowest = 0.0
    began = time.monotonic()
    for number in range(1, count + 1):
        text, is_json = rng.choice(corpus)
        text = mutate(text, rng.choice(corpus)[0], rng)
        started = time.monotonic()
        try:
            with at_most(LONGEST_SECONDS):
                (check_json if is_json else check)(text)
        except (Exception, TooLong):  # noqa: BLE001 - finding any of them is the purpose
            failures += 1
            _keep(text, is_json, seed, number)
        slowest = max(slowest, time.monotonic() - started)
        if number % 10_000 == 0 or number == count:
            rate = number / (time.monotonic() - began)
            print(f"{number} inputs, {failures} failures, {rate:.0f}/s, slowest {slowest:.2f} s")
    return failures


def _keep(text: str, is_json: bool, seed: int, number: int) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{seed}-{number}{'.tf.json' if is_json else '.tf'}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    print(f"{path}:\n{traceback.format_exc(limit=-3)}")


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Mutate files and check what must always hold.")
    parser.add_argument("-n", type=int, default=10_000, help="how many inputs")
    parser.add_argument("-s", type=int, default=0, help="where the random numbers begin")
    parser.add_argument("directories", nargs="*", type=Path, help="files to begin with")
    given = parser.parse_args()
    present = [directory for directory in CORPUS if directory.is_dir()]
    return 1 if run(given.n, given.s, given.directories or present[:1]) else 0


if __name__ == "__main__":
    sys.exit(main())
