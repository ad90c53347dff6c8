import pytest

from nigari.cty.function import FunctionError
from nigari.lang.functions.yaml_reader import read_yaml
from nigari.lang.functions.yaml_writer import write_yaml
from tests.lang.functions.evaluation import failure_of, python_of, value_of


def _text(*lines: str) -> str:
    return "".join([f"{line}\n" for line in lines])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("null", _text("null", "...")),
        ("1.50", _text("1.5", "...")),
        ('""', _text('""')),
        ('"a"', _text('"a"')),
        ('"a\\nb"', _text("|-", "  a", "  b")),
        ('"a\\n"', _text("|", "  a")),
        ('"a\\n\\n"', _text("|+", "  a", "")),
        ('" a\\nb"', _text("|2-", "   a", "  b")),
        ('"a \\nb"', _text('"a \\nb"')),
        ('"a\\tb\\n"', _text('"a\\tb\\n"')),
        ('"é😀"', _text('"é\\U0001F600"')),
        ("[]", _text("[]")),
        ("{}", _text("{}")),
        ("[1, [2, 3], []]", _text("- 1", "- - 2", "  - 3", "- []")),
        ("{ b = [1], a = {} }", _text('"a": {}', '"b":', "- 1")),
        ("{ a = { b = null } }", _text('"a":', '  "b": null')),
        ("[{ a = 1, b = 2 }]", _text('- "a": 1', '  "b": 2')),
        ('{ "k\\nl" = [1] }', _text("? |-", "  k", "  l", ": - 1")),
        ('{ "k\\nl" = 1 }', _text("? |-", "  k", "  l", ": 1")),
        (f'"{"word " * 17}end"', _text('"' + "word " * 16 + "word", '  end"')),
        ('toset(["b", "a"])', _text('- "a"', '- "b"')),
    ],
)
def test_writing(text: str, wanted: str) -> None:
    assert write_yaml(value_of(text)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("~", None),
        ("yes", True),
        ("Off", False),
        ("'yes'", "yes"),
        ("|-\n  yes", "true"),
        ("!!str yes", "yes"),
        ("12", 12),
        ("0x1f", 31),
        ("0o17", 15),
        ("017", 17),
        ("1_000", "1_000"),
        ("!!int 1_000", 1000),
        ("1e3", 1000),
        (".5", 0.5),
        ("1:30", "1:30"),
        ("2020-1-2", "2020-01-02T00:00:00Z"),
        ("2020-01-02 3:4:5.6", "2020-01-02T03:04:05Z"),
        ("2020-01-02T03:04:05+02:00", "2020-01-02T03:04:05+02:00"),
        ("2020-13-02", "2020-13-02"),
        ("a: 1\na: 2", {"a": 2}),
        ("1: x\ntrue: y", {"1": "x", "true": True}),
        (
            "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3",
            {"a": {"p": 1, "q": 2}, "b": {"p": 1, "q": 3}},
        ),
        ("a: {<<: [{p: 1}, {q: 2}]}", {"a": {"p": 1, "q": 2}}),
        ("- &x 1\n- *x", [1, 1]),
        ("!!binary YWJj", "YWJj"),
        ("!!null x", None),
        ("{}", {}),
        ("[]", []),
        ("---\na: 1\n...\n", {"a": 1}),
    ],
)
def test_reading(text: str, wanted: object) -> None:
    assert read_yaml(text).to_python() == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: [",
        "a: b: c",
        "--- 1\n--- 2",
        "!foo 1",
        "!!map [1]",
        "!!int x",
        "!!binary x",
        ".nan",
        "*x",
        "&x [*x]",
        "~: 1",
        "[1]: 2",
        "<<: 1",
        "\x07",
        "0xFFFFFFFFFFFFFFFFF",
        "%YAML 1.2\n--- 1",
    ],
)
def test_not_readable(text: str) -> None:
    with pytest.raises(FunctionError):
        read_yaml(text)


def test_place_of_a_mistake() -> None:
    assert "line 2" in failure_of('yamldecode("a: 1\\nb: !x 2")')


def test_unknown_and_marked_arguments() -> None:
    assert python_of('issensitive(yamldecode(sensitive("a: 1")))') is True
    assert python_of("issensitive(yamlencode({ a = sensitive(1) }))") is True
