"""Flags in the manner of Go."""

import pytest

from nigari.cli.args import ParsedArguments, UsageError, parse
from nigari.cli.command import FLAG_LIST, FLAG_SWITCH, FLAG_TEXT, Command, Flag, Invocation

COMMAND = Command(
    "sample",
    "",
    lambda _: 0,
    flags=(
        Flag("json", FLAG_SWITCH, ""),
        Flag("lock", FLAG_SWITCH, "", default="true"),
        Flag("out", FLAG_TEXT, "", "FILE"),
        Flag("var", FLAG_LIST, "", shared_order="variables"),
        Flag("var-file", FLAG_LIST, "", shared_order="variables"),
    ),
    most_arguments=1,
)


def read(*args: str) -> ParsedArguments:
    return parse(COMMAND, list(args))


@pytest.mark.parametrize(
    ("args", "flags", "arguments"),
    [
        ([], {}, []),
        (["-json"], {"json": ["true"]}, []),
        (["--json"], {"json": ["true"]}, []),
        (["-json=false"], {"json": ["false"]}, []),
        (["-json=0", "-json=T"], {"json": ["true"]}, []),
        (["-json", "false"], {"json": ["true"]}, ["false"]),
        (["-out", "a"], {"out": ["a"]}, []),
        (["-out=a=b"], {"out": ["a=b"]}, []),
        (["-out="], {"out": [""]}, []),
        (["-out", "-json"], {"out": ["-json"]}, []),
        (["-out=a", "-out=b"], {"out": ["b"]}, []),
        (["-var", "a=1", "--var=b=2"], {"var": ["a=1", "b=2"]}, []),
        (["-"], {}, ["-"]),
        (["--", "-json"], {}, ["-json"]),
        (["-json", "dir"], {"json": ["true"]}, ["dir"]),
    ],
)
def test_flags(args: list[str], flags: dict[str, list[str]], arguments: list[str]) -> None:
    parsed = read(*args)
    assert (parsed.flags, parsed.arguments) == (flags, arguments)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-jsn"], "Did you mean -json?"),
        (["-zzzzzz"], "no option -zzzzzz"),
        (["---json"], "no option ---json"),
        (["-=x"], "no option -"),
        (["-out"], "-out=FILE"),
        (["-json=maybe"], "on or off"),
        (["a", "b"], "at most 1 argument"),
        (["a", "-json"], "Options come before"),
    ],
)
def test_mistakes_are_reported(args: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("?", r"\?")):
        read(*args)


@pytest.mark.parametrize(
    "args",
    [
        ["-help"],
        ["--help"],
        ["-h"],
        ["-json", "-help", "-zzz"],
        ["-zzz", "-help"],
        ["x", "-help"],
        ["x", "y", "z", "-h"],
        ["x", "-help", "--", "y"],
    ],
)
def test_help(args: list[str]) -> None:
    assert read(*args).help


def test_no_help_after_dashes() -> None:
    assert not read("--", "-help").help


def test_order_of_mixed_flags() -> None:
    parsed = read("-var=a=1", "-var-file=f", "-var", "a=2")
    assert parsed.ordered == {"variables": [("var", "a=1"), ("var-file", "f"), ("var", "a=2")]}


def test_defaults() -> None:
    from nigari.cli.command import Terminal

    parsed = read("-var=a")
    import io

    terminal = Terminal(io.StringIO(), io.StringIO(), io.StringIO(), {})
    invocation = Invocation(COMMAND, terminal, parsed.flags, parsed.ordered, parsed.arguments)
    assert invocation.switch("lock")
    assert not invocation.switch("json")
    assert invocation.text("out") == ""
    assert invocation.texts("var") == ["a"]
    assert invocation.is_given("var")
    assert not invocation.is_given("out")
    with pytest.raises(KeyError):
        invocation.text("nothing")


def test_view_switches_may_stand_anywhere() -> None:
    parsed = read("-no-color", "dir", "-compact-warnings", "-consolidate-warnings=false")
    assert parsed.arguments == ["dir"]
    assert parsed.flags == {
        "no-color": ["true"],
        "compact-warnings": ["true"],
        "consolidate-warnings": ["false"],
    }
