"""Objects as values, and what is shown of them."""

import json

import pytest

from nigari import cty
from nigari.addrs.parse import parse_provider_instance, parse_resource_instance
from nigari.addrs.provider import Provider
from nigari.addrs.resource import Resource
from nigari.diagnostics import Diagnostics
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.provider import Schema
from nigari.state.draft import StateDraft
from nigari.state.model import OutputState, State, StateFile, StoredObject
from nigari.state.objects import UnreadableObject, decode, encode
from nigari.state.show.show_json import state_to_json
from nigari.state.show.show_outputs import output_raw, outputs_to_json
from nigari.state.show.show_text import state_to_text

DISK = Block({"size": Attribute(cty.NUMBER, optional=True), "key": Attribute(cty.STRING, sensitive=True, optional=True)})  # fmt: skip
SCHEMA = Schema(
    Block(
        {
            "id": Attribute(cty.STRING, computed=True),
            "password": Attribute(cty.STRING, optional=True, sensitive=True),
            "tags": Attribute(cty.MapType(cty.STRING), optional=True),
            "any": Attribute(cty.DYNAMIC, optional=True),
        },
        {
            "disk": NestedBlock(DISK, Nesting.LIST),
            "label": NestedBlock(DISK, Nesting.MAP),
            "mode": NestedBlock(Block({}), Nesting.SINGLE),
        },
    ),
    version=2,
)


def schemas(provider: Provider, resource: Resource) -> Schema | None:
    return SCHEMA if resource.type == "test" and provider.type == "aws" else None


def value(**attributes: object) -> cty.Value:
    whole: dict[str, object] = {"id": "i", "password": None, "tags": None, "any": None, "disk": [], "label": {}, "mode": None}  # fmt: skip
    return cty.convert(cty.Value.of({**whole, **attributes}), SCHEMA.block.implied_type)


def state_with(stored: StoredObject, deposed: str = "", **outputs: OutputState) -> State:
    diags = Diagnostics()
    address = parse_resource_instance("test.x", diags)
    provider = parse_provider_instance('provider["registry.opentofu.org/hashicorp/aws"]', diags)
    assert address is not None
    assert provider is not None
    draft = StateDraft()
    if deposed:
        draft.set_deposed(address, deposed, stored, provider)
    else:
        draft.set_current(address, stored, provider)
    draft.set_outputs(outputs)
    return draft.finish()


def text_of(state: State) -> str:
    diags = Diagnostics()
    shown = state_to_text(state, schemas, diags)
    assert list(diags) == []
    return shown


class TestObjects:
    """Values to store and back."""

    @pytest.mark.parametrize(
        "given",
        [
            value(),
            value(any={"a": [1, "x", True]}, tags={"k": "v"}),
            value(disk=[{"size": 12345678901234567890, "key": None}]),
        ],
    )
    def test_round_trip(self, given: cty.Value) -> None:
        assert decode(encode(given, SCHEMA), SCHEMA) == given

    def test_sensitive_marks_survive_and_others_do_not(self) -> None:
        tags = cty.map_value(cty.STRING, {"k": cty.string("v").mark(SENSITIVE, EPHEMERAL)})
        parts = {**value().mapping(), "tags": tags}
        stored = encode(cty.object_value(parts), SCHEMA)
        assert json.loads(stored.sensitive_attributes) == [
            [
                {"type": "get_attr", "value": "tags"},
                {"type": "index", "value": {"value": "k", "type": "string"}},
            ]
        ]
        back = decode(stored, SCHEMA).attribute("tags").mapping()["k"]
        assert back.marks == {SENSITIVE}

    @pytest.mark.parametrize(
        "stored",
        [
            StoredObject("{}", 1),
            StoredObject('{"id": []}', 2),
            StoredObject("{}", 2, flat_attributes={"id": "x"}),
        ],
    )
    def test_unreadable(self, stored: StoredObject) -> None:
        with pytest.raises(UnreadableObject):
            decode(stored, SCHEMA)
        diags = Diagnostics()
        file = StateFile(state_with(stored), "l", 1)
        assert state_to_json(file, schemas, diags) is None
        assert [each.summary for each in diags] == ["Object cannot be shown"]


SHOWN = """\
# test.x:
resource "test" "x" {
    any      = {
        a = [
            1,
        ]
    }
    id       = "i"
    password = (sensitive value)
    tags     = {
        "a"   = "1"
        "b c" = "2"
    }

    disk {
        size = 1
    }
    disk {
        key  = (sensitive value)
        size = 2
    }

    label "x" {
        size = 3
    }

    mode {}
}
"""


class TestText:
    """For people."""

    def test_blocks_attributes_and_secrets(self) -> None:
        given = value(
            password="p",
            tags={"b c": "2", "a": "1"},
            any={"a": [1]},
            disk=[{"size": 1, "key": None}, {"size": 2, "key": "k"}],
            label={"x": {"size": 3, "key": None}},
            mode={},
        )
        assert text_of(state_with(encode(given, SCHEMA))) == SHOWN

    def test_deposed(self) -> None:
        shown = text_of(state_with(encode(value(), SCHEMA), "0a0b0c0d"))
        assert shown.startswith("# test.x: (deposed object 0a0b0c0d)\n")

    def test_outputs(self) -> None:
        state = State(
            outputs={
                "a": OutputState(cty.string("x")),
                "b": OutputState(cty.string("secret"), sensitive=True),
            }
        )
        assert text_of(state) == '\n\nOutputs:\n\na = "x"\nb = (sensitive value)\n'


class TestJson:
    """For programs."""

    def test_nothing(self) -> None:
        assert state_to_json(None, schemas, Diagnostics()) == '{"format_version":"1.0"}'

    def test_secrets_are_pointed_out(self) -> None:
        given = value(password="p", disk=[{"size": 1, "key": "k"}])
        text = state_to_json(
            StateFile(state_with(encode(given, SCHEMA)), "l", 1, "1.12.6"), schemas, Diagnostics()
        )
        assert text is not None
        (shown,) = json.loads(text)["values"]["root_module"]["resources"]
        assert shown["schema_version"] == 2
        assert shown["values"]["password"] == "p"
        assert shown["sensitive_values"] == {
            "password": True,
            "disk": [{"key": True}],
            "label": {},
        }

    @pytest.mark.parametrize(
        ("given", "raw"),
        [
            (cty.string("a\nb"), "a\nb"),
            (cty.number(1), "1"),
            (cty.TRUE, "true"),
            (cty.null(cty.STRING), None),
            (cty.Value.of([1]), None),
        ],
    )
    def test_raw_outputs(self, given: cty.Value, raw: str | None) -> None:
        diags = Diagnostics()
        assert output_raw("o", OutputState(given), diags) == raw
        assert diags.has_errors is (raw is None)

    def test_outputs(self) -> None:
        text = outputs_to_json({"o": OutputState(cty.string("<"), deprecated="old")})
        assert json.loads(text) == {
            "o": {"sensitive": False, "deprecated": "old", "type": "string", "value": "<"}
        }
        assert "\\u003c" in text
        assert outputs_to_json({}) == "{}"
