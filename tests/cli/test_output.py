"""`nigari output`: for people, as JSON, and bare."""

import json
from pathlib import Path

import pytest

from tests.cli.process import inside
from tests.cli.states import usual_state

EVERYTHING = """\
list = [
  true,
  null,
]
number = 5
secret = <sensitive>
text = "hello"
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    usual_state()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], EVERYTHING),
        (["-show-sensitive"], EVERYTHING.replace("<sensitive>", '"hidden"')),
        (["text"], '"hello"\n'),
        (["secret"], '"hidden"\n'),
        (["list"], "[\n  true,\n  null,\n]\n"),
        (["-raw", "text"], "hello"),
        (["-raw", "number"], "5"),
        (["-json", "list"], "[true,null]\n"),
        (["-json", "secret"], '"hidden"\n'),
    ],
)
def test_prints(arguments: list[str], expected: str) -> None:
    done = inside("output", *arguments)
    assert (done.code, done.out, done.err) == (0, expected, "")


def test_all_as_json() -> None:
    document = json.loads(inside("output", "-json").out)
    assert document["number"] == {"sensitive": False, "type": "number", "value": 5}
    assert document["secret"] == {"sensitive": True, "type": "string", "value": "hidden"}
    assert inside("output", "-json-into=out.json").out == EVERYTHING
    assert json.loads(Path("out.json").read_text()) == document


@pytest.mark.parametrize(
    "arguments", [["nope"], ["-raw", "list"], ["-raw"], ["-raw", "-json", "text"], ["a", "b"]]
)
def test_refuses(arguments: list[str]) -> None:
    done = inside("output", *arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err


def test_suggests_the_name_that_was_meant() -> None:
    assert '"number"' in inside("output", "numbr").err


def test_no_outputs() -> None:
    Path("terraform.tfstate").unlink()
    done = inside("output")
    assert done.code == 0
    assert "Warning: No outputs found" in done.out
    assert inside("output", "-json").out == "{}\n"
    inside("output", "-json-into=out.json")
    assert Path("out.json").read_text() == "{}\n"


def test_constant_variables_are_not_asked_for() -> None:
    Path("main.tf").write_text('variable "v" {\n  const = true\n  type = string\n}\n')
    assert inside("output", "-raw", "text").out == "hello"
