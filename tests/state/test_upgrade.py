"""State files from before version 4."""

import base64
import json

import pytest

from nigari.cty import STRING, MapType, string
from nigari.diagnostics import Diagnostics
from nigari.state.files import format_state, parse_state
from nigari.state.model import ObjectStatus, StateFile


def module(path: list[str], resources: object = None, outputs: object = None) -> dict[str, object]:
    return {"path": path, "resources": resources or {}, "outputs": outputs or {}}


def old(version: int, *modules: object, **members: object) -> bytes:
    file = {"version": version, "serial": 4, "lineage": "l", "modules": modules, **members}
    return json.dumps(file).encode()


def read(data: bytes) -> tuple[StateFile | None, list[str]]:
    diags = Diagnostics()
    file = parse_state(data, diags)
    return file, [each.detail for each in diags]


def whole(data: bytes) -> StateFile:
    file, problems = read(data)
    assert file is not None, problems
    return file


def primary(**attributes: str) -> dict[str, object]:
    return {"id": "i", "attributes": attributes, "meta": {}, "tainted": False}


def test_addresses_keys_and_providers() -> None:
    resource = {"primary": primary(), "provider": ""}
    file = whole(
        old(
            3,
            module(
                ["root"],
                {
                    "aws_vpc.a": resource,
                    "aws_vpc.b.00": resource,
                    "aws_vpc.b.11": {**resource, "provider": "aws.west"},
                    "data.aws_ami.c": {**resource, "provider": "provider.aws"},
                },
            ),
            module(["root", "m", "n"], {"aws_vpc.d": resource}),
        )
    )
    assert [address.text for address, _ in file.state.instances()] == [
        "data.aws_ami.c",
        "aws_vpc.a",
        "aws_vpc.b[0]",
        "aws_vpc.b[11]",
        "module.m.module.n.aws_vpc.d",
    ]
    assert sorted({each.provider.text for each in file.state.resources.values()}) == [
        'module.m.module.n.provider["registry.opentofu.org/-/aws"]',
        'provider["registry.opentofu.org/-/aws"]',
    ]
    assert (file.serial, file.lineage) == (4, "l")


@pytest.mark.parametrize(
    ("given", "member"),
    [
        ({"attributes": {"id": "i"}}, "attributes_flat"),
        ({"attributes": {}}, None),
        ({"attributes": None}, "attributes"),
        ({}, "attributes"),
    ],
)
def test_attributes_that_are_not_there(given: dict[str, object], member: str | None) -> None:
    data = old(3, module(["root"], {"aws_vpc.a": {"primary": given}}))
    written = json.loads(format_state(whole(data), is_for_people=False))
    (instance,) = written["resources"][0]["instances"]
    found = [name for name in instance if name.startswith("attributes")]
    assert found == ([] if member is None else [member])


def test_objects() -> None:
    instance = {
        "primary": {
            "id": "i",
            "attributes": {"x": "1"},
            "meta": {"schema_version": "3", "e2bfb730": {"create": 1}},
            "tainted": True,
        },
        "deposed": [primary(id="j")],
    }
    file = whole(old(3, module(["root"], {"aws_vpc.a": instance})))
    ((_, found),) = file.state.instances()
    assert found.current is not None
    assert found.current.schema_version == 3
    assert found.current.status is ObjectStatus.TAINTED
    assert found.current.flat_attributes == {"x": "1", "id": "i"}
    assert json.loads(found.current.private) == {"e2bfb730": {"create": 1}}
    assert list(found.deposed) == ["00000001"]
    assert base64.b64encode(found.deposed["00000001"].private) == b""


@pytest.mark.parametrize(
    ("version", "output", "value"),
    [
        (1, "x", string("x")),
        (2, {"type": "string", "value": "x"}, string("x")),
        (3, {"type": "string", "value": "x", "sensitive": True}, string("x")),
    ],
)
def test_outputs(version: int, output: object, value: object) -> None:
    file = whole(old(version, module(["root"], outputs={"o": output})))
    assert file.state.outputs["o"].value == value
    assert file.state.outputs["o"].sensitive is (version == 3)


def test_an_output_of_equal_parts_is_a_map() -> None:
    output = {"type": "map", "value": {"a": "x", "b": "y"}}
    file = whole(old(3, module(["root"], outputs={"o": output})))
    assert file.state.outputs["o"].value.type == MapType(STRING)


def test_maps_are_counted_with_percent_signs_since_version_3() -> None:
    attributes = {"m.#": "1", "m.key": "v", "l.#": "1", "l.0": "v", "e.#": "0"}
    resource = {"primary": primary(**attributes)}
    file = whole(old(2, module(["root"], {"aws_vpc.a": resource})))
    ((_, found),) = file.state.instances()
    assert found.current is not None
    assert found.current.flat_attributes == {
        "m.%": "1",
        "m.key": "v",
        "l.#": "1",
        "l.0": "v",
        "id": "i",
    }


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (old(3, module(["elsewhere"])), "path"),
        (old(3, module(["root", "1x"])), "identifier"),
        (old(3, module(["root"], {"a": {}})), "not an address"),
        (old(3, module(["root"], {"a.b.c": {}})), "not a number"),
        (old(3, module(["root"], {"a.b": {"provider": "${x}"}})), "provider"),
        (old(3, serial=-1), "serial"),
    ],
)
def test_refused(data: bytes, why: str) -> None:
    file, problems = read(data)
    assert file is None
    assert why in problems[0]
