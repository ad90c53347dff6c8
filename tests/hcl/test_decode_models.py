"""Decoding into rich types and foreign classes, where mistakes are, and back again."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from typing import Annotated, Literal

import attrs
import pydantic
import pytest

from nigari import hcl
from nigari.hcl.encode_dataclass import encode_block, encode_dataclass


class Level(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Port:
    number: int
    name: Annotated[str, hcl.Named("label")] = "http"

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError("a port is at least 1")


@dataclass
class Rule:
    name: Annotated[str, hcl.Label()]
    level: Level = Level.LOW
    mode: Literal["on", "off"] = "on"


@dataclass
class Settings:
    path: PurePosixPath | None = None
    rate: Decimal | None = None
    either: int | list[str] | None = None
    level: Level = Level.HIGH
    port: Port | None = None
    ports: list[Port] = field(default_factory=list)
    by_name: dict[str, Port] = field(default_factory=dict)
    table: dict[str, list[int]] = field(default_factory=dict)
    best: Annotated[Port | None, hcl.Argument()] = None
    rules: Annotated[list[Rule], hcl.Named("rule")] = field(default_factory=list)


@attrs.frozen
class Limits:
    memory: int = attrs.field(validator=attrs.validators.gt(0))
    share: float = 0.5


@attrs.define
class Attrs:
    name: str
    limits: Limits | None = None
    _hidden: list[str] = attrs.field(factory=list, alias="hidden")


class Inner(pydantic.BaseModel):
    size: int = pydantic.Field(ge=1)


class Model(pydantic.BaseModel):
    name: str
    url: pydantic.HttpUrl | None = None
    inner: Inner | None = None
    sizes: list[Annotated[int, pydantic.Field(ge=1)]] = []

    @pydantic.model_validator(mode="after")
    def check(self) -> "Model":
        if self.name == "wrong":
            raise ValueError("the name is wrong")
        return self


class Aliased(pydantic.BaseModel):
    id: str = pydantic.Field(alias="the_id")
    url: pydantic.HttpUrl
    since: date | None = None
    length: timedelta = timedelta(seconds=5)


class ByName(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)
    id: str = pydantic.Field(alias="the_id")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('path = "a/b"\nrate = 0.1\n', Settings(PurePosixPath("a/b"), Decimal("0.1"))),
        ("either = 5\n", Settings(either=5)),
        ('either = ["a"]\n', Settings(either=["a"])),
        ('level = "low"\n', Settings(level=Level.LOW)),
        ("port {\n  number = 1\n}\n", Settings(port=Port(1))),
        ('port = { number = 1, label = "x" }\n', Settings(port=Port(1, "x"))),
        ("ports = [{ number = 1 }]\n", Settings(ports=[Port(1)])),
        ("ports {\n  number = 1\n}\n", Settings(ports=[Port(1)])),
        ("by_name = { a = { number = 1 } }\n", Settings(by_name={"a": Port(1)})),
        ('by_name "a" {\n  number = 1\n}\n', Settings(by_name={"a": Port(1)})),
        ("best = { number = 1 }\n", Settings(best=Port(1))),
        ('rule "a" {\n  mode = "off"\n}\n', Settings(rules=[Rule("a", mode="off")])),
        ("table = { a = [1] }\n", Settings(table={"a": [1]})),
    ],
)
def test_rich_types(text: str, found: Settings) -> None:
    assert hcl.loads_as(Settings, text) == found
    assert hcl.loads_as(Settings, hcl.dumps(found)) == found


@pytest.mark.parametrize(
    ("text", "detail", "where"),
    [
        ('level = "x"\n', 'it must be "low" or "high", not "x".', "1,10-11"),
        ('rule "a" {\n  mode = "x"\n}\n', 'it must be "on" or "off", not "x".', "2,11-12"),
        ("port {\n  number = 0\n}\n", "a port is at least 1.", "1,1-5"),
        ("ports = [{ number = 1 }, { number = 0 }]\n", "[1]: a port is at least 1.", "1,26-27"),
        ('ports = [\n  { number = "x" },\n]\n', "[0].number: a number is required", "2,15-16"),
        ("table = {\n  a = [\n    1,\n    1.5,\n  ]\n}\n", "a whole number is required.", "4,5-8"),
        ("best {\n}\n", "", "1,1-5"),
        ("port = { nmber = 1 }\n", ".nmber: there is no such attribute here", "1,18-19"),
    ],
)
def test_mistakes_have_their_own_location(text: str, detail: str, where: str) -> None:
    with pytest.raises(hcl.HclError) as raised:
        hcl.loads_as(Settings, text, "x.hcl")
    (found,) = raised.value.diagnostics
    assert detail in found.detail
    assert str(found.subject) == f"x.hcl:{where}"


def test_a_file_that_the_class_refuses() -> None:
    with pytest.raises(hcl.HclError, match="a port is at least 1") as raised:
        hcl.loads_as(Port, "number = 0\n")
    assert str(raised.value.diagnostics[0].subject) == "<input>:1,1-1"


def test_attrs_classes() -> None:
    text = 'name = "x"\nhidden = ["h"]\nlimits {\n  memory = 5\n}\n'
    found = hcl.loads_as(Attrs, text)
    assert found == Attrs("x", Limits(5), ["h"])
    assert hcl.loads_as(Attrs, hcl.dumps(attrs.evolve(found))) == found
    with pytest.raises(hcl.HclError, match="memory") as raised:
        hcl.loads_as(Attrs, text.replace("5", "-5"))
    assert str(raised.value.diagnostics[0].subject) == "<input>:3,1-7"


def test_pydantic_models() -> None:
    text = 'name = "x"\nurl = "https://example.com/"\ninner {\n  size = 2\n}\nsizes = [1, 2]\n'
    found = hcl.loads_as(Model, text)
    assert found.inner == Inner(size=2)
    assert str(found.url) == "https://example.com/"
    for wrong, where, detail in (
        (text.replace("https:", "x"), "2,8-23", "URL"),
        (text.replace("size = 2", "size = 0"), "4,10-11", "greater than or equal to 1"),
        (text.replace("[1, 2]", "[1, 0]"), "6,13-14", "greater than or equal to 1"),
        (text.replace('"x"', '"wrong"'), "1,1-1", "the name is wrong"),
    ):
        with pytest.raises(hcl.HclError) as raised:
            hcl.loads_as(Model, wrong)
        (diagnostic,) = raised.value.diagnostics
        assert detail in diagnostic.detail
        assert str(diagnostic.subject) == f"<input>:{where}"


def test_pydantic_models_are_written_as_they_are_read() -> None:
    text = 'the_id = "x"\nurl = "https://example.com/"\nsince = "2026-05-17"\n'
    found = hcl.loads_as(Aliased, text)
    assert (found.id, str(found.url), found.since) == (
        "x",
        "https://example.com/",
        date(2026, 5, 17),
    )
    assert hcl.loads(hcl.dumps(found)) == {
        "the_id": "x",
        "url": "https://example.com/",
        "since": "2026-05-17",
        "length": "PT5S",
    }
    assert hcl.loads_as(Aliased, hcl.dumps(found)) == found
    assert hcl.loads_as(ByName, 'the_id = "x"\n').id == "x"


def test_where_the_parts_of_arguments_are() -> None:
    where = hcl.Locations()
    text = 'port = {\n  number = 1\n}\nports = [{ number = 2, label = "x" }]\nbest = p\n'
    text += "by_name = { a = { number = 3 } }\n"
    settings = hcl.loads_as(
        Settings, text, "x.hcl", locations=where, variables={"p": {"number": 4}}
    )
    assert settings.port is not None
    assert settings.best is not None
    (port,) = settings.ports
    assert str(where.of(settings.port, "number")) == "x.hcl:2,12-13"
    assert where.of(settings.port, "name") is None
    assert str(where.of(port)) == "x.hcl:4,10-37"
    assert str(where.of(port, "name")) == "x.hcl:4,32-35"
    assert str(where.of(settings.by_name["a"], "number")) == "x.hcl:6,28-29"
    assert str(where.of(settings.best)) == "x.hcl:5,8-9"
    assert where.of(settings.best, "number") is None


def test_where_fields_are() -> None:
    where = hcl.Locations()
    text = 'level = "low"\nrule "a" {\n  mode = "off"\n}\n'
    settings = hcl.loads_as(Settings, text, "x.hcl", locations=where)
    (rule,) = settings.rules
    assert str(where.of(settings, "level")) == "x.hcl:1,9-14"
    assert str(where.of(rule)) == "x.hcl:2,1-9"
    assert str(where.of(rule, "name")) == "x.hcl:2,6-9"
    assert str(where.of(rule, "mode")) == "x.hcl:3,10-15"
    assert where.of(rule, "level") is None


def test_variables_and_functions() -> None:
    found = hcl.loads_as(
        Port, "number = add(a, 1)\n", variables={"a": 1}, functions={"add": lambda a, b: a + b}
    )
    assert found == Port(2)


def test_encoding() -> None:
    assert encode_dataclass(Settings(port=Port(1))) == {
        "path": None,
        "rate": None,
        "either": None,
        "level": Level.HIGH,
        "port": [hcl.block({"number": 1, "label": "http"})],
        "table": {},
        "best": None,
    }
    assert encode_block(Rule("a")).labels == ("a",)
    assert hcl.dumps({"rule": encode_block(Rule("a", mode="off"))}) == (
        'rule "a" {\n  level = "low"\n  mode  = "off"\n}\n'
    )
