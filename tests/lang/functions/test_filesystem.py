import pytest

from nigari.cty.values import string
from nigari.lang.files import DiskFiles, MemoryFiles
from nigari.lang.functions.table import function_table
from tests.lang.functions.evaluation import failure_of, python_of

FILES = MemoryFiles(
    {
        "a.txt": "text",
        "b.bin": b"\xff\x00",
        "[x].txt": "",
        ".hidden": "",
        "sub/c.txt": "",
        "sub/deep/d.txt": "",
        "/home/ann/e.txt": "home",
        "hello.tmpl": "Hello, ${name}!",
        "bare.tmpl": "${value}",
        "nested.tmpl": '<${templatefile("hello.tmpl", { name = who })}>',
        "broken.tmpl": "${",
        "wrong.tmpl": "${1 + {}}",
    }
)


@pytest.mark.parametrize(
    ("path", "pattern", "wanted"),
    [
        (
            ".",
            "*",
            [
                ".hidden",
                "[x].txt",
                "a.txt",
                "b.bin",
                "bare.tmpl",
                "broken.tmpl",
                "hello.tmpl",
                "nested.tmpl",
                "wrong.tmpl",
            ],
        ),
        (".", "*.txt", ["[x].txt", "a.txt"]),
        (".", "?.txt", ["a.txt"]),
        (".", "[ab].*", ["a.txt", "b.bin"]),
        (".", "[!a].*", ["b.bin"]),
        (".", "[a-c].bin", ["b.bin"]),
        (".", "\\\\[x\\\\].txt", ["[x].txt"]),
        (".", "{a,b}.{txt,bin}", ["a.txt", "b.bin"]),
        (".", "{a,{b,c}}.*", ["a.txt", "b.bin"]),
        (".", "{,sub/}?.txt", ["a.txt", "sub/c.txt"]),
        (".", "{sub/,}?.txt", ["sub/c.txt"]),
        (".", "a{}.txt", []),
        (".", "**/?.txt", ["a.txt", "sub/c.txt", "sub/deep/d.txt"]),
        (".", "sub/**", ["sub/c.txt", "sub/deep/d.txt"]),
        (".", "**/d*", ["sub/deep/d.txt"]),
        (".", "sub**", []),
        (".", "*/*/*", ["sub/deep/d.txt"]),
        (".", "a.txt", ["a.txt"]),
        (".", "nope", []),
        (".", "sub", []),
        ("sub", "*", ["c.txt"]),
        ("sub/", "../a.txt", ["../a.txt"]),
        ("sub/deep", "../*.txt", ["../c.txt"]),
        ("./sub/..", "*/c.txt", ["sub/c.txt"]),
        ("nope", "*", []),
    ],
)
def test_fileset(path: str, pattern: str, wanted: list[str]) -> None:
    assert python_of(f'fileset("{path}", "{pattern}")', FILES) == wanted


@pytest.mark.parametrize("pattern", ["[", "[]", "a[", "{a", "a}", "{a,{b}", "x\\\\"])
def test_pattern_that_is_none(pattern: str) -> None:
    assert "pattern" in failure_of(f'fileset(".", "{pattern}")', files=FILES)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('file("a.txt")', "text"),
        ('file("./sub/../a.txt")', "text"),
        ('file("~/e.txt")', "home"),
        ('filebase64("b.bin")', "/wA="),
        ('filemd5("a.txt") == md5("text")', True),
        ('fileexists("a.txt")', True),
        ('fileexists("nope")', False),
        ('basename("a/b/")', "b"),
        ('basename("")', "."),
        ('basename("///")', "/"),
        ('dirname("a/b/")', "a/b"),
        ('dirname("a")', "."),
        ('dirname("//a")', "/"),
        ('abspath("/a/../b//c")', "/b/c"),
        ('pathexpand("~")', "/home/ann"),
        ('pathexpand("~/x")', "/home/ann/x"),
        ('pathexpand("a/~")', "a/~"),
        ('templatefile("hello.tmpl", { name = "Ann" })', "Hello, Ann!"),
        ('templatefile("bare.tmpl", { value = [1, true] })', [1, True]),
        ('templatefile("nested.tmpl", { who = "Bo" })', "<Hello, Bo!>"),
        ('templatestring("$${a}", { a = 1 })', 1),
        ('templatestring("$${a}!", tomap({ a = "x" }))', "x!"),
        ('issensitive(templatefile("hello.tmpl", { name = sensitive("x") }))', True),
        ('issensitive(templatestring("$${a}$${b}", { a = sensitive(1), b = 2 }))', True),
        ('issensitive(templatestring("$${b}", { a = sensitive(1), b = 2 }))', False),
    ],
)
def test_call(text: str, wanted: object) -> None:
    assert python_of(text, FILES) == wanted


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('file("nope")', "no file"),
        ('file("b.bin")', "UTF-8"),
        ('file("\\u0000")', ""),
        ('fileexists("sub")', "regular"),
        ('pathexpand("~bob/x")', "~"),
        ('templatefile("nope", {})', "no file"),
        ('templatefile("hello.tmpl", {})', '"name"'),
        ('templatefile("hello.tmpl", [])', "map"),
        ('templatefile("hello.tmpl", { "a b" = 1 })', '"a b"'),
        ('templatefile("broken.tmpl", {})', "broken.tmpl:1"),
        ('templatefile("wrong.tmpl", {})', "wrong.tmpl:1"),
        ('templatestring("$${nope}", {})', "nope"),
    ],
)
def test_failing_call(text: str, word: str) -> None:
    assert word in failure_of(text, files=FILES)


def test_relative_paths_start_in_the_working_directory() -> None:
    functions = function_table(MemoryFiles({"there/a.txt": "x"}), "there")
    assert functions["file"].call([string("a.txt")]).as_string() == "x"
    absolute = function_table(DiskFiles(), "/base")
    assert absolute["abspath"].call([string("a")]).as_string() == "/base/a"


@pytest.mark.parametrize(
    "expression",
    [
        'templatestring(sensitive("secret$${nope}"), {})',
        'templatestring(sensitive("secret $${ ( }"), {})',
        'templatestring(sensitive("$${a.secret}"), { a = {} })',
        'templatestring(sensitive("$${secret(1)}"), {})',
        'parseint(sensitive("secret"), 10)',
        'timeadd(sensitive("secret"), "1h")',
        'cidrhost(sensitive("secret"), 1)',
        'format("%z secret${sensitive("secret")}", 1)',
        'base64decode(sensitive("secret!"))',
        'file(sensitive("secret"))',
        'regex(sensitive("(secret"), "x")',
    ],
)
def test_no_failure_shows_what_is_sensitive(expression: str) -> None:
    assert "secret" not in failure_of(expression)
