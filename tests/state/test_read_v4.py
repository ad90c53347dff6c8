"""State files: what is read, what is refused, and the bytes that are written."""

import json
from collections.abc import Mapping
from typing import TypeAlias

import pytest

from nigari import cty
from nigari.diagnostics import Diagnostics
from nigari.state.files import format_state, parse_state
from nigari.state.model import ObjectStatus, State, StateFile
from nigari.version import OPENTOFU_VERSION

Members: TypeAlias = dict[str, object]

BUILTIN = 'provider["terraform.io/builtin/terraform"]'
AWS = 'provider["registry.opentofu.org/hashicorp/aws"]'


def file(**members: object) -> Members:
    return {
        "version": 4,
        "terraform_version": OPENTOFU_VERSION,
        "serial": 3,
        "lineage": "11111111-2222-3333-4444-555555555555",
        "outputs": {},
        "resources": [],
        "check_results": None,
        **members,
    }


def resource(*instances: Members, **members: object) -> Members:
    given = {
        "mode": "managed",
        "type": "terraform_data",
        "name": "a",
        "provider": BUILTIN,
        **members,
        "instances": list(instances),
    }
    return {name: value for name, value in given.items() if value is not None}


def instance(**members: object) -> Members:
    return {
        "schema_version": 0,
        "attributes": {"id": "x"},
        "sensitive_attributes": [],
        **members,
    }


def in_order(members: Members, names: str) -> Members:
    return {name: members[name] for name in names.split() if name in members}


INSTANCE_ORDER = (
    "index_key status deposed provider schema_version attributes attributes_flat"
    " sensitive_attributes private dependencies create_before_destroy skip_destroy identity"
    " identity_schema_version"
)


def text_of(members: Members) -> str:
    """The members as `tofu` would write them."""
    return json.dumps(members, indent=2, ensure_ascii=False) + "\n\n"


def read(data: str | bytes) -> tuple[StateFile | None, list[str]]:
    diags = Diagnostics()
    found = parse_state(data.encode() if isinstance(data, str) else data, diags)
    return found, [each.detail for each in diags]


def read_whole(data: str | bytes) -> StateFile:
    found, problems = read(data)
    assert found is not None, problems
    return found


WRITTEN = {
    "empty": file(),
    "one": file(resources=[resource(instance())]),
    "no instances": file(resources=[resource()]),
    "in modules": file(
        resources=[
            resource(instance()),
            {"module": "module.m[0]", **resource(instance())},
            {"module": 'module.m["a b"].module.n', **resource(instance())},
            {"module": 'module.m["é$${x}"]', **resource(instance())},
        ][:2]
    ),
    "data before managed": file(
        resources=[resource(instance(), mode="data"), resource(instance())]
    ),
    "int keys": file(
        resources=[resource(*(in_order(instance(index_key=i), INSTANCE_ORDER) for i in range(12)))]
    ),
    "string keys": file(
        resources=[
            resource(
                *(in_order(instance(index_key=k), INSTANCE_ORDER) for k in ("", 'a"b', "x y", "é"))
            )
        ]
    ),
    "everything": file(
        resources=[
            resource(
                in_order(
                    instance(
                        status="tainted",
                        schema_version=7,
                        private="AAEC/w==",
                        dependencies=["data.aws_ami.x", "module.m.aws_vpc.y", "aws_vpc.z"],
                        create_before_destroy=True,
                        skip_destroy=True,
                        identity={"arn": "x"},
                        identity_schema_version=2,
                    ),
                    INSTANCE_ORDER,
                ),
                in_order(instance(deposed="0a0b0c0d"), INSTANCE_ORDER),
                in_order(instance(deposed="1a0b0c0d"), INSTANCE_ORDER),
            )
        ]
    ),
    "sensitive paths": file(
        resources=[
            resource(
                instance(
                    sensitive_attributes=[
                        [{"type": "get_attr", "value": "a"}],
                        [
                            {"type": "get_attr", "value": "b"},
                            {"type": "index", "value": {"value": 0, "type": "number"}},
                            {"type": "index", "value": {"value": "k", "type": "string"}},
                        ],
                    ]
                )
            )
        ]
    ),
    "keyed providers": file(
        resources=[
            resource(
                in_order(
                    instance(index_key="a", provider=f'module.m.{AWS}.by_region["eu"]'),
                    INSTANCE_ORDER,
                ),
                in_order(
                    instance(index_key="b", provider=f'module.m.{AWS}.by_region["us"]'),
                    INSTANCE_ORDER,
                ),
                provider=None,
            )
        ]
    ),
    "nested values": file(
        resources=[
            resource(
                instance(attributes={"a": [], "b": {}, "c": [[], {}, [1]], "d": {"e": {"f": None}}})
            )
        ]
    ),
    "outputs": file(
        outputs={
            "a": {"value": "x", "type": "string"},
            "b": {"value": [1, "y"], "type": ["tuple", ["number", "string"]], "sensitive": True},
            "c": {"value": {}, "type": ["map", "bool"], "deprecated": "use a"},
            "d": {"value": None, "type": "string"},
        }
    ),
    "checks": file(
        check_results=[
            {
                "object_kind": "resource",
                "config_addr": "terraform_data.a",
                "status": "fail",
                "objects": [
                    {
                        "object_addr": "terraform_data.a[0]",
                        "status": "fail",
                        "failure_messages": ["no", "never"],
                    },
                    {"object_addr": "terraform_data.a[1]", "status": "unknown"},
                ],
            },
            {"object_kind": "check", "config_addr": "check.c", "status": "error", "objects": None},
        ]
    ),
}


@pytest.mark.parametrize("members", WRITTEN.values(), ids=WRITTEN)
def test_what_tofu_writes_is_read_and_written_byte_for_byte(members: Members) -> None:
    text = text_of(members)
    assert format_state(read_whole(text), is_for_people=True).decode() == text


@pytest.mark.parametrize("members", WRITTEN.values(), ids=WRITTEN)
def test_the_compact_form_is_the_same_state(members: Members) -> None:
    text = json.dumps(members, separators=(",", ":"), ensure_ascii=False) + "\n"
    assert format_state(read_whole(text), is_for_people=False).decode() == text
    assert read_whole(text) == read_whole(text_of(members))
    assert format_state(read_whole(text), is_for_people=True).decode() == text_of(members)


@pytest.mark.parametrize("indent", [0, 1, 3, 4, 8, "\t"], ids=repr)
def test_any_other_layout_is_read_too(indent: int | str) -> None:
    members = file(resources=[resource(instance(attributes={"a": [1, {"b": "x"}], "c": {}}))])
    text = json.dumps(members, indent=indent)
    assert format_state(read_whole(text), is_for_people=True).decode() == text_of(members)


NUMBERS = ["12345678901234567890123456789", "0.1000000000000000055511151231257827", "1e400", "-0"]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("layout", ["indented", "compact"])
def test_no_digit_of_a_number_is_lost(number: str, layout: str) -> None:
    members = file(resources=[resource(instance(attributes={"n": "NUMBER"}))])
    text = text_of(members) if layout == "indented" else json.dumps(members)
    text = text.replace('"NUMBER"', number)
    written = format_state(read_whole(text), is_for_people=True).decode()
    assert f'"n": {number}\n' in written


def test_characters_are_escaped_as_go_does() -> None:
    members = file(resources=[resource(instance(attributes={"a": "<&>\u2028é\x01\x7f\t"}))])
    written = format_state(read_whole(text_of(members)), is_for_people=True).decode()
    assert '"a": "\\u003c\\u0026\\u003e\\u2028é\\u0001\x7f\\t"' in written


def test_bytes_that_are_no_text_survive() -> None:
    text = text_of(file(resources=[resource(instance(attributes={"a": "X"}))]))
    data = text.encode().replace(b'"X"', b'"\xff\xfe"')
    assert b'"\xff\xfe"' in format_state(read_whole(data), is_for_people=True)


def test_order_is_that_of_tofu_whatever_the_file_has() -> None:
    mixed = file(
        resources=[
            {"module": "module.b", **resource(instance())},
            resource(instance(index_key=10), instance(index_key=9), name="z"),
            {"module": "module.a", **resource(instance())},
            resource(instance(), name="y"),
            resource(instance(), mode="data", name="z"),
        ]
    )
    written = json.loads(format_state(read_whole(text_of(mixed)), is_for_people=True))
    order = [(each.get("module", ""), each["mode"], each["name"]) for each in written["resources"]]
    assert order == [
        ("", "data", "z"),
        ("", "managed", "y"),
        ("", "managed", "z"),
        ("module.a", "managed", "a"),
        ("module.b", "managed", "a"),
    ]
    assert [each["index_key"] for each in written["resources"][2]["instances"]] == [9, 10]


def test_members_of_the_future_are_ignored() -> None:
    members = file(
        novelty={"a": [1]},
        resources=[resource(instance(novelty=1.5), novelty=True, each="list")],
        check_results=[
            {"object_kind": "novelty", "config_addr": "x.y", "status": "pass", "objects": []}
        ],
    )
    written = json.loads(format_state(read_whole(text_of(members)), is_for_people=True))
    assert written == file(resources=[resource(instance())])


def test_what_is_missing_has_its_usual_value() -> None:
    text = '{"version": 4, "terraform_version": "1.0.0", "resources": [{"mode": "managed", "type": "t", "name": "n", "provider": %s, "instances": [{}]}]}'
    found = read_whole(text % json.dumps(AWS))
    (only,) = found.state.instances()
    assert only[1].current is not None
    assert only[1].current.attributes == "{}"
    assert (found.serial, found.lineage) == (0, "")


class TestProviders:
    """Facts S1: where the provider of an instance is told."""

    def read(self, *instances: Members, provider: str | None) -> tuple[State | None, list[str]]:
        found, problems = read(text_of(file(resources=[resource(*instances, provider=provider)])))
        return (None if found is None else found.state), problems

    def test_the_instance_wins(self) -> None:
        state, _ = self.read(instance(index_key="a", provider=f'{AWS}.x["k"]'), provider=f"{AWS}.x")
        assert state is not None
        (only,) = state.resources.values()
        assert only.manager_of("a").text == f'{AWS}.x["k"]'

    @pytest.mark.parametrize(
        ("of_resource", "of_instances", "why"),
        [
            (None, [None], "the provider that manages it"),
            (None, [f'{AWS}.x["k"]', None], "the provider that manages it"),
            (f"{AWS}.y", [f'{AWS}.x["k"]'], "two provider configurations"),
            (BUILTIN, [f'{AWS}.x["k"]'], "two provider configurations"),
            (f'{AWS}.x["k"]', [None], "name its own"),
            (None, [f'{AWS}.x["k"]', f'{AWS}.y["k"]'], "two provider configurations"),
            (None, [f'{AWS}.x["k"]', f'module.m.{AWS}.x["k"]'], "two provider configurations"),
        ],
    )
    def test_refused(
        self, of_resource: str | None, of_instances: list[str | None], why: str
    ) -> None:
        instances = [
            instance(index_key=index, **({} if each is None else {"provider": each}))
            for index, each in enumerate(of_instances)
        ]
        state, problems = self.read(*instances, provider=of_resource)
        assert state is None
        assert why in problems[0]

    def test_back_from_keys_to_a_plain_alias(self) -> None:
        state, _ = self.read(instance(index_key=0, provider=f"{AWS}.x"), provider=None)
        assert state is not None
        written = json.loads(format_state(StateFile(state, "l", 1), is_for_people=True))
        assert written["resources"][0]["provider"] == f"{AWS}.x"
        assert "provider" not in written["resources"][0]["instances"][0]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("provider.null", 'provider["registry.opentofu.org/-/null"]'),
            ("provider. null", 'provider["registry.opentofu.org/-/null"]'),
            ("module.m.provider.aws.west", 'module.m.provider["registry.opentofu.org/-/aws"].west'),
            ("provider.terraform", BUILTIN),
        ],
    )
    def test_names_from_before_namespaces(self, old: str, new: str) -> None:
        state, problems = self.read(instance(), provider=old)
        assert state is not None, problems
        (only,) = state.resources.values()
        assert only.provider.text == new


BAD_INSTANCES: Mapping[str, tuple[Members, str]] = {
    "key": ({"index_key": True}, "index_key"),
    "fraction": ({"index_key": 1.5}, "index_key"),
    "status": ({"status": "odd"}, "status"),
    "deposed": ({"deposed": "abc"}, "eight"),
    "schema version": ({"schema_version": -1}, "schema_version"),
    "schema version text": ({"schema_version": "1"}, "schema_version"),
    "private": ({"private": "%"}, "private"),
    "dependency": ({"dependencies": ["not an address"]}, ""),
    "dependencies": ({"dependencies": "a.b"}, "dependencies"),
    "paths": ({"sensitive_attributes": [[{"type": "odd", "value": 1}]]}, "sensitive_attributes"),
    "flag": ({"create_before_destroy": "yes"}, "create_before_destroy"),
    "provider": ({"provider": "rubbish"}, ""),
    "flat": ({"attributes": None, "attributes_flat": {"a": 1}}, "attributes_flat"),
}


@pytest.mark.parametrize(("members", "why"), BAD_INSTANCES.values(), ids=BAD_INSTANCES)
def test_an_instance_that_is_not_understood_is_refused(members: Members, why: str) -> None:
    found, problems = read(text_of(file(resources=[resource(instance(**members))])))
    assert found is None
    assert any(why in problem for problem in problems)


BAD_FILES: Mapping[str, tuple[str, str]] = {
    "not json": ("rubbish", "line 1, column 1"),
    "cut short": (text_of(file(resources=[resource(instance())]))[:200], "truncated"),
    "two documents": ('{"version": 4} {}', "not valid JSON"),
    "trailing comma": ('{"version": 4,}', "not valid JSON"),
    "no object": ("[4]", "not valid JSON"),
    "no version": ("{}", 'no "version"'),
    "version zero": ('{"version": 0}', "never existed"),
    "version text": ('{"version": "4"}', "never existed"),
    "future": ('{"version": 5, "terraform_version": "9.9.9"}', "9.9.9"),
    "nested": ('{"version": 4, "x": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
    "not a number": ('{"version": 4, "x": NaN}', "was not changed"),
    "serial": (text_of(file(serial=-1)), "serial"),
    "lineage": (text_of(file(lineage=1)), "lineage"),
    "writer": (text_of(file(terraform_version="odd")), "odd"),
    "mode": (text_of(file(resources=[resource(instance(), mode="ephemeral")])), "ephemeral"),
    "module": (text_of(file(resources=[{"module": "odd", **resource()}])), ""),
    "provider": (text_of(file(resources=[resource(instance(), provider="odd")])), ""),
    "twice": (text_of(file(resources=[resource(instance(), instance())])), "more than once"),
    "deposed twice": (
        text_of(file(resources=[resource(*[instance(deposed="00000001")] * 2)])),
        "more than once",
    ),
    "output": (text_of(file(outputs={"a": {"value": "x", "type": "number"}})), 'output "a"'),
    "output without a value": (text_of(file(outputs={"a": {"type": "string"}})), 'output "a"'),
    "output type": (text_of(file(outputs={"a": {"value": "x", "type": "odd"}})), 'output "a"'),
}


@pytest.mark.parametrize(("text", "why"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_is_not_understood_is_refused(text: str, why: str) -> None:
    found, problems = read(text)
    assert found is None
    assert any(why in problem for problem in problems), problems


def test_outputs_are_values() -> None:
    found = read_whole(
        text_of(file(outputs={"a": {"value": 12345678901234567890.5, "type": "number"}})).replace(
            "1.2345678901234567e+19", "12345678901234567890.25"
        )
    )
    assert found.state.outputs["a"].value == cty.number("12345678901234567890.25")


def test_a_tainted_object() -> None:
    found = read_whole(text_of(file(resources=[resource(instance(status="tainted"))])))
    ((_, only),) = found.state.instances()
    assert only.current is not None
    assert only.current.status is ObjectStatus.TAINTED


def test_layout_does_not_make_a_difference() -> None:
    members = file(resources=[resource(instance(attributes={"a": [1, {"b": " x "}]}))])
    one = read_whole(text_of(members)).state
    two = read_whole(json.dumps(members)).state
    three = read_whole(json.dumps(members).replace(" x ", "x")).state
    assert one == two
    assert one != three
