"""Decoding into dataclasses: every kind of field, and what is wrong with a body."""

from dataclasses import dataclass, field
from typing import Annotated

import pytest

from nigari.cty.types import STRING
from nigari.cty.values import Value, string, unknown
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Body
from nigari.hcl.decode_dataclass import Label, Named, Remain, decode_dataclass
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source


@dataclass
class Check:
    kind: Annotated[str, Label()]
    every: int = 30


@dataclass
class Limits:
    memory: int
    share: float | None = None


@dataclass
class Service:
    port: int
    host: str = "localhost"
    tags: dict[str, str] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    unique: frozenset[str] = frozenset()
    pair: tuple[str, int] | None = None
    anything: object = None
    value: Value | None = None
    when: Expression | None = None
    class_: Annotated[str, Named("class")] = "none"
    limits: Limits | None = None
    checks: Annotated[list[Check], Named("check")] = field(default_factory=list)
    routes: Annotated[dict[str, Limits], Named("route")] = field(default_factory=dict)


@dataclass
class Loose:
    name: str
    rest: Annotated[Body, Remain()]


@dataclass
class Strict:
    limits: Limits


def _decode(text: str, cls: type[object] = Service) -> tuple[object, list[str]]:
    diags = Diagnostics()
    body = parse_body(Source("t.hcl", text), diags)
    variables = {"later": unknown(STRING), "secret": string("x").mark("sensitive")}
    result = decode_dataclass(cls, body, Scope(variables, {}), diags)
    return result, [found.summary for found in diags]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("port = 1", Service(1)),
        ('port = "1"\nhost = 5', Service(1, "5")),
        (
            "port = 1\ntags = { a = 1 }\nnumbers = [1, 2]",
            Service(1, tags={"a": "1"}, numbers=[1, 2]),
        ),
        (
            'port = 1\nunique = ["a", "a"]\npair = ["x", 2]',
            Service(1, unique=frozenset("a"), pair=("x", 2)),
        ),
        ("port = 1\nanything = [1, { b = null }]", Service(1, anything=[1, {"b": None}])),
        ("port = 1\nvalue = later", Service(1, value=unknown(STRING))),
        ('port = 1\nclass = "c"', Service(1, class_="c")),
        ("port = 1\nlimits {\n memory = 5\n share = 0.5\n}", Service(1, limits=Limits(5, 0.5))),
        (
            'port = 1\ncheck "a" {}\ncheck "b" {\n every = 1\n}',
            Service(1, checks=[Check("a"), Check("b", 1)]),
        ),
        ('port = 1\nroute "r" {\n memory = 1\n}', Service(1, routes={"r": Limits(1)})),
    ],
)
def test_fields(text: str, want: Service) -> None:
    assert _decode(text) == (want, [])


def test_expressions_stay_unevaluated() -> None:
    service, summaries = _decode("port = 1\nwhen = nowhere.to.be.found")
    assert not summaries
    assert isinstance(service, Service)
    assert service.when is not None
    assert [str(found) for found in service.when.variables()] == ["nowhere.to.be.found"]


def test_the_rest() -> None:
    loose, summaries = _decode("name = 1\nother = 2", Loose)
    assert not summaries
    assert isinstance(loose, Loose)
    assert list(loose.rest.just_attributes(Diagnostics())) == ["other"]


@pytest.mark.parametrize(
    ("text", "cls", "summary"),
    [
        ("", Service, "Missing argument"),
        ("port = 1\nother = 2", Service, "Unexpected argument"),
        ("port = 1.5", Service, "Wrong value type"),
        ("port = []", Service, "Wrong value type"),
        ("port = null", Service, "Wrong value type"),
        ("port = 1\nhost = later", Service, "Wrong value type"),
        ("port = 1\nhost = secret", Service, "Wrong value type"),
        ("port = nope", Service, "Unknown variable"),
        ("port = 1\nlimits {}", Service, "Missing argument"),
        (
            "port = 1\nlimits {\n memory = 1\n}\nlimits {\n memory = 1\n}",
            Service,
            "Duplicate block",
        ),
        (
            'port = 1\nroute "r" {\n memory = 1\n}\nroute "r" {\n memory = 1\n}',
            Service,
            "Duplicate block",
        ),
        ("port = 1\ncheck {}", Service, "Missing block label"),
        ("", Strict, "Missing block"),
    ],
)
def test_mistakes_are_reported(text: str, cls: type[object], summary: str) -> None:
    assert _decode(text, cls) == (None, [summary])


def test_classes_that_cannot_be_decoded_into() -> None:
    @dataclass
    class Odd:
        value: complex

    for cls in (Odd, str):
        with pytest.raises(TypeError):
            _decode("value = 1", cls)
