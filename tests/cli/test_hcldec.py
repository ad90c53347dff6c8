"""`nigari hcldec`: its options, and specifications of every kind."""

import json
from pathlib import Path

import pytest

from nigari.cli.main import main


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(
    capsys: pytest.CaptureFixture[str], spec: str, text: str, *options: str
) -> tuple[int, str, str]:
    Path("spec.hcldec").write_text(spec)
    Path("in.hcl").write_text(text)
    status = main(["hcldec", "--spec=spec.hcldec", *options, "in.hcl"])
    printed = capsys.readouterr()
    return status, printed.out.strip(), printed.err


@pytest.mark.parametrize(
    ("spec", "text", "want"),
    [
        ('attr {\n name = "a"\n}', "a = [1]", [1]),
        ('object {\n attr "a" {}\n attr "b" {}\n}', "a = 1", {"a": 1}),
        (
            'array {\n attr {\n name = "a"\n }\n literal {\n value = upper("x")\n }\n}',
            "a = 1",
            [1, "X"],
        ),
        (
            'block_list {\n block_type = "b"\n attr {\n name = "v"\n }\n}',
            "b { v = 1 }\nb { v = 2 }",
            [1, 2],
        ),
        (
            'block_set {\n block_type = "b"\n attr {\n name = "v"\n }\n}',
            "b { v = 1 }\nb { v = 1 }",
            [1],
        ),
        (
            'block_tuple {\n block_type = "b"\n attr {\n name = "v"\n }\n}',
            'b { v = 1 }\nb { v = "x" }',
            [1, "x"],
        ),
        (
            'block_map {\n block_type = "b"\n labels = ["n"]\n attr {\n name = "v"\n type = number\n }\n}',
            'b "x" { v = 1 }',
            {"x": 1},
        ),
        (
            'block_object {\n block_type = "b"\n labels = ["n"]\n attr {\n name = "v"\n }\n}',
            'b "x" { v = 1 }',
            {"x": 1},
        ),
        ('block_attrs {\n block_type = "b"\n element_type = string\n}', "b { v = 1 }", {"v": "1"}),
        (
            'default {\n attr {\n name = "a"\n }\n literal {\n value = 5\n }\n}',
            "",
            5,
        ),
        (
            'transform {\n result = nested * 2\n attr {\n name = "a"\n type = number\n }\n}',
            "a = 4",
            8,
        ),
        (
            (
                'variables {\n who = "you"\n}\nfunction "greet" {\n params = [n]\n result = "hi ${n}"\n}\n'
                'attr {\n name = "a"\n}'
            ),
            "a = greet(who)",
            "hi you",
        ),
    ],
)
def test_specifications(
    directory: Path, capsys: pytest.CaptureFixture[str], spec: str, text: str, want: object
) -> None:
    status, out, err = _run(capsys, spec, text)
    assert (status, err) == (0, "")
    assert json.loads(out) == want


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "attr {}",
        "literal {\n value = 1\n}\nliteral {\n value = 2\n}",
        "default {}",
        'block {\n block_type = "b"\n}',
        'block_map {\n block_type = "b"\n labels = []\n literal {\n value = 1\n }\n}',
        'block_map {\n block_type = "b"\n labels = ["x"]\n attr {\n name = "any"\n }\n}',
        'block_list {\n block_type = "b"\n min_items = -1\n literal {\n value = 1\n }\n}',
        'attr {\n name = "a"\n type = nonsense\n}',
        "nonsense {}",
    ],
)
def test_wrong_specifications(
    directory: Path, capsys: pytest.CaptureFixture[str], spec: str
) -> None:
    status, out, err = _run(capsys, spec, "", "--diags=json")
    assert (status, out) == (2, "")
    assert len(json.loads(err)["diagnostics"]) == 1


ANY = 'object {\n attr "a" {}\n attr "b" {}\n}'


def test_nulls_types_and_output_file(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(capsys, ANY, "a = 1")[1] == '{"a":1}'
    assert _run(capsys, ANY, "a = 1", "--keep-nulls")[1] == '{"a":1,"b":null}'
    assert json.loads(_run(capsys, ANY, "a = 1", "--with-type")[1]) == {
        "type": ["object", {"a": "number", "b": "dynamic"}],
        "value": {"a": 1},
    }
    big = "12345678901234567890.123456789"
    assert _run(capsys, ANY, f"a = {big}", "-o", "out.json")[1] == ""
    assert Path("out.json").read_text() == f'{{"a":{big}}}\n'


def test_variables(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("vars.hcl").write_text('x = "file"')
    assert _run(capsys, ANY, "a = x", '--vars={"x": "json"}')[1] == '{"a":"json"}'
    assert _run(capsys, ANY, "a = x", "-V", "vars.hcl")[1] == '{"a":"file"}'
    status, _, err = _run(capsys, ANY, "a = x")
    assert status == 2
    assert "Variables not allowed" in err


def test_references(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = _run(
        capsys, ANY, 'a = x.y["k"]', "--var-refs", '--vars={"x": {"y": {"k": 3}}}'
    )
    assert status == 0
    (found,) = json.loads(out)
    assert found["root_name"] == "x"
    assert found["value"] == 3
    assert [step["kind"] for step in found["steps"]] == ["root", "attr", "index"]
    assert found["steps"][2]["key"] == "k"
    assert found["range"]["start"] == {"line": 1, "column": 5, "byte": 4}


@pytest.mark.parametrize("args", [["in.hcl"], ["--spec=none", "in.hcl"], ["--diags=xml", "in.hcl"]])
def test_usage(directory: Path, capsys: pytest.CaptureFixture[str], args: list[str]) -> None:
    Path("in.hcl").write_text("")
    assert main(["hcldec", *args]) != 0
    assert capsys.readouterr().err
