"""HCL's own specification suite, run through `nigari hcldec` as its runner would."""

import json
from pathlib import Path
from typing import Final, TypeAlias, cast

import pytest

from nigari.cli.main import main
from nigari.cty.conform import conformance_errors
from nigari.cty.convert import convert
from nigari.cty.json import value_from_json
from nigari.cty.types import DYNAMIC, Type
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import AttributeSchema, Block, BlockSchema, Body, BodySchema
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.type_expressions import parse_type
from tests.conformance import CONFORMANCE, needs_conformance

pytestmark = needs_conformance

SUITE: Final = CONFORMANCE / "hcl-specsuite" / "tests"
EXPECTATION: Final = BodySchema(
    (AttributeSchema("result"), AttributeSchema("result_type")),
    (BlockSchema("diagnostics"), BlockSchema("traversals")),
)
SEVERITIES: Final = BodySchema((), (BlockSchema("error"), BlockSchema("warning")))
ENDS: Final = BodySchema((), (BlockSchema("from"), BlockSchema("to")))

Place: TypeAlias = tuple[str, tuple[int, int, int], tuple[int, int, int]]
"""A severity, and where a diagnostic begins and ends: line, column, byte."""


def _inputs() -> list[tuple[Path, Path]]:
    return [
        (case, path)
        for case in sorted(SUITE.rglob("*.t"))
        for path in (case.with_suffix(".hcl"), case.with_suffix(".hcl.json"))
        if path.exists()
    ]


def _wanted_places(block: Block, diags: Diagnostics) -> set[Place]:
    places: set[Place] = set()
    for wanted in block.body.content(SEVERITIES, diags).blocks:
        start, end = wanted.body.content(ENDS, diags).blocks
        places.add((wanted.type, _position(start.body, diags), _position(end.body, diags)))
    return places


def _position(body: Body, diags: Diagnostics) -> tuple[int, int, int]:
    values = {
        name: attribute.expr.value(Scope(), diags).to_python()
        for name, attribute in body.just_attributes(diags).items()
    }
    return cast(int, values["line"]), cast(int, values["column"]), cast(int, values["byte"])


def _found_places(text: str, filename: str) -> set[Place]:
    places: set[Place] = set()
    for found in json.loads(text)["diagnostics"]:
        subject = found["subject"]
        assert subject["filename"] == filename
        start, end = subject["start"], subject["end"]
        places.add(
            (
                found["severity"],
                (start["line"], start["column"], start["byte"]),
                (end["line"], end["column"], end["byte"]),
            )
        )
    return places


@pytest.mark.parametrize(
    ("case", "path"),
    [pytest.param(*each, id=str(each[1].relative_to(SUITE))) for each in _inputs()],
)
def test_case(case: Path, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    diags = Diagnostics()
    expectation = parse_body(Source.from_bytes(str(case), case.read_bytes()), diags)
    content = expectation.content(EXPECTATION, diags)
    spec = f"--spec={case.with_suffix('.hcldec')}"
    status = main(["hcldec", spec, "--diags=json", "--with-type", "--keep-nulls", str(path)])
    printed = capsys.readouterr()
    wanted = content.blocks_of("diagnostics")
    if wanted:
        assert status == 2
        assert _found_places(printed.err, str(path)) == _wanted_places(wanted[0], diags)
    else:
        assert (status, printed.err) == (0, "")
        value = value_from_json(printed.out, DYNAMIC)
        type_attribute = content.attributes.get("result_type")
        type_: Type = DYNAMIC
        if type_attribute is not None:
            type_ = parse_type(type_attribute.expr, diags, constraint=True)
            assert not conformance_errors(value.type, type_)
        if "result" in content.attributes:
            result = content.attributes["result"].expr.value(Scope(), diags)
            assert value == convert(result, type_)
    for block in content.blocks_of("traversals"):
        assert main(["hcldec", spec, "--diags=json", "--var-refs", str(path)]) == 0
        assert len(json.loads(capsys.readouterr().out)) == len(block.body.just_attributes(diags))
    assert not list(diags)


def test_the_suite_is_whole() -> None:
    assert len({case for case, _ in _inputs()}) == 15
