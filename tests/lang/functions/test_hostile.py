"""Arguments meant to take all time or memory: every one ends soon, with a clear word."""

import base64
import gzip
import json
import os

import pytest

from nigari.cty.values import string
from nigari.lang.files import DiskFiles, MemoryFiles
from nigari.lang.functions import encoding
from tests.lang.functions.evaluation import evaluate, failure_of, python_of, value_of
from tests.limits import costs_little

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)
LONG = 'join("", [for i in range(1000) : "xxxxxxxxxxxxxxxxxxxx"])'
LONGER = f'join("", [for i in range(1000) : "{"y" * 500}"])'


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f'regex("(a+)+$", "{"a" * 20_000}b")', "match"),
        ('regex("((((a{100}){100}){100}){100})", "a")', "count"),
        ("range(1e9)", "1024"),
        ("range(0, 1e9, 1)", "1024"),
        (f"setproduct({', '.join(['range(1024)'] * 10)})", "too many"),
        ('format("%1000000000d", 1)', "too large"),
        ('format("%.1000000000f", 1)', "too large"),
        ('indent(1e9, "a")', "spaces"),
        (f'replace({LONG}, "", {LONGER})', "too long"),
        (f'replace({LONG}, "/x/", {LONGER})', "too long"),
        ('cidrsubnet("10.0.0.0/8", 1e18, 1)', "extended"),
        ('cidrhost("::/0", 1e1000000)', "whole number"),
        (f'cidrsubnets("10.0.0.0/30", {", ".join(["2"] * 2000)})', "no room"),
        (f"yamldecode({json.dumps(LAUGHS)})", "too large"),
        (f'yamldecode("{"[" * 50_000}")', "nest"),
        (f'yamldecode("{"- " * 20_000}")', "nest"),
        (f'jsondecode("{"[" * 50_000}")', "nest"),
        (f'fileset(".", "{"{a,b}" * 30}")', "alternatives"),
    ],
)
def test_flood(text: str, word: str) -> None:
    with costs_little():
        assert word in failure_of(text)


def test_join_of_long_strings() -> None:
    long = {"long": string("x" * 1_000_000)}
    assert "too long" in failure_of('join("", [for i in range(1000) : long])', long)


def test_pattern_with_many_stars() -> None:
    files = MemoryFiles({"a" * 250: ""})
    assert python_of(f'fileset(".", "{"a*" * 100}b")', files) == []


def test_links_to_the_directory_they_are_in(tmp_path: os.PathLike[str]) -> None:
    directory = os.fspath(tmp_path)
    os.symlink(".", os.path.join(directory, "again"))
    with open(os.path.join(directory, "a.txt"), "w", encoding="utf-8"):
        pass
    found = value_of(f'fileset("{directory}", "**/*.txt")', files=DiskFiles())
    assert "a.txt" in [element.as_string() for element in found.sequence()]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero")
@pytest.mark.parametrize("name", ["file", "filebase64", "filesha256"])
def test_file_without_end(name: str) -> None:
    assert "MiB" in failure_of(f'{name}("/dev/zero")', files=DiskFiles())


def test_gzip_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "LONGEST_INFLATED", 1_000_000)
    small = base64.b64encode(gzip.compress(b"a" * 1_000_000)).decode()
    large = base64.b64encode(gzip.compress(b"a" * 1_000_001)).decode()
    assert python_of(f'length(base64gunzip("{small}"))') == 1_000_000
    assert "too large" in failure_of(f'base64gunzip("{large}")')


TEMPLATES = MemoryFiles(
    {
        "itself.tmpl": '${templatefile("itself.tmpl", {})}',
        "core.tmpl": '${core::templatefile("core.tmpl", {})}',
        "twice.tmpl": '${templatefile("twice.tmpl", {})}${templatefile("twice.tmpl", {})}',
        "wide.tmpl": '%{ for i in range(1000) }${templatefile("wider.tmpl", {})}%{ endfor }',
        "wider.tmpl": '%{ for i in range(1000) }${templatefile("end.tmpl", {})}%{ endfor }',
        "end.tmpl": "x",
        "count.tmpl": '${n == 0 ? "end" : templatefile("count.tmpl", { n = n - 1 })}',
    }
)


@pytest.mark.parametrize("name", ["itself", "core", "twice", "wide"])
def test_templates_without_end(name: str) -> None:
    with costs_little():
        message = failure_of(f'templatefile("{name}.tmpl", {{}})', files=TEMPLATES)
    assert "at most" in message
    assert len(message) < 500


def test_templates_nest_to_the_limit() -> None:
    assert python_of('templatefile("count.tmpl", { n = 1024 })', TEMPLATES) == "end"
    _, diags = evaluate('templatefile("count.tmpl", { n = 1025 })', files=TEMPLATES)
    assert diags.has_errors


def test_template_that_is_given_itself() -> None:
    template = json.dumps("$${templatestring(t, {t = t})}")
    assert "at most" in failure_of(f"templatestring({template}, {{ t = {template} }})")


def test_nested_attempts_evaluate_once_each() -> None:
    text = "try(" * 300 + "nope(1)" + ", 1)" * 300
    with costs_little():
        assert python_of(text) == 1
