import asyncio

import pytest

from nigari import cty
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.providers.builtin import remote_state
from nigari.providers.builtin.schema import TERRAFORM_DATA
from nigari.providers.builtin.terraform import TerraformProvider

NULL = cty.null(TERRAFORM_DATA.block.implied_type)
ANY_NULL = cty.null(cty.DYNAMIC)
NEW_ID = cty.refine_not_null(cty.unknown(cty.STRING))


def data(
    given: cty.Value = ANY_NULL,
    triggers: cty.Value = ANY_NULL,
    output: cty.Value = ANY_NULL,
    id_: cty.Value | None = None,
) -> cty.Value:
    return cty.object_value(
        {
            "input": given,
            "triggers_replace": triggers,
            "output": output,
            "id": cty.null(cty.STRING) if id_ is None else id_,
        }
    )


def plan(prior: cty.Value, proposed: cty.Value) -> api.PlanResponse:
    request = api.PlanRequest("terraform_data", prior, proposed, proposed)
    return asyncio.run(TerraformProvider().plan(request))


ONE, TWO = cty.string("one"), cty.number(2)
ID = cty.string("id")
REPLACE = ((cty.GetAttr("triggers_replace"),),)
PLANS = [
    ("create", NULL, data(ONE), data(ONE, output=cty.unknown(cty.STRING), id_=NEW_ID), ()),
    ("create without input", NULL, data(), data(id_=NEW_ID), ()),
    (
        "create with unknown input",
        NULL,
        data(cty.DYNAMIC_UNKNOWN),
        data(cty.DYNAMIC_UNKNOWN, output=cty.DYNAMIC_UNKNOWN, id_=NEW_ID),
        (),
    ),
    ("destroy", data(ONE, output=ONE, id_=ID), NULL, NULL, ()),
    ("nothing", data(ONE, output=ONE, id_=ID), data(ONE, output=ONE, id_=ID), None, ()),
    (
        "other input",
        data(ONE, output=ONE, id_=ID),
        data(TWO, output=ONE, id_=ID),
        data(TWO, output=cty.unknown(cty.NUMBER), id_=ID),
        (),
    ),
    (
        "input taken away",
        data(ONE, output=ONE, id_=ID),
        data(ANY_NULL, output=ONE, id_=ID),
        data(ANY_NULL, output=cty.DYNAMIC_UNKNOWN, id_=ID),
        (),
    ),
    (
        "other triggers",
        data(ONE, TWO, ONE, ID),
        data(ONE, ONE, ONE, ID),
        data(ONE, ONE, cty.unknown(cty.STRING), NEW_ID),
        REPLACE,
    ),
    (
        "unknown triggers",
        data(ONE, TWO, ONE, ID),
        data(ONE, cty.unknown(cty.NUMBER), ONE, ID),
        data(ONE, cty.unknown(cty.NUMBER), cty.unknown(cty.STRING), NEW_ID),
        REPLACE,
    ),
    (
        "other triggers without input",
        data(triggers=TWO, id_=ID),
        data(triggers=ONE, id_=ID),
        data(triggers=ONE, id_=NEW_ID),
        REPLACE,
    ),
]


@pytest.mark.parametrize(
    ("prior", "proposed", "expected", "replaced"),
    [row[1:] for row in PLANS],
    ids=[row[0] for row in PLANS],
)
def test_terraform_data_plans(
    prior: cty.Value,
    proposed: cty.Value,
    expected: cty.Value | None,
    replaced: tuple[cty.Path, ...],
) -> None:
    answer = plan(prior, proposed)
    assert answer.planned == (proposed if expected is None else expected)
    assert answer.requires_replace == replaced
    assert answer.diagnostics == ()


def test_terraform_data_apply_settles_output_and_id() -> None:
    planned = plan(NULL, data(ONE)).planned
    request = api.ApplyRequest("terraform_data", NULL, planned, data(ONE))
    state = asyncio.run(TerraformProvider().apply(request)).state
    assert state.attribute("output") == ONE
    assert len(state.attribute("id").as_string()) == 36
    gone = api.ApplyRequest("terraform_data", state, NULL, NULL)
    assert asyncio.run(TerraformProvider().apply(gone)).state.is_null


@pytest.mark.parametrize("name", ["id", "output"])
def test_terraform_data_results_cannot_be_set(name: str) -> None:
    config = data(output=ONE) if name == "output" else data(id_=ONE)
    (told,) = asyncio.run(
        TerraformProvider().validate_resource("terraform_data", config)
    ).diagnostics
    assert told.path == (cty.GetAttr(name),)


def test_terraform_data_import_upgrade_and_move() -> None:
    provider = TerraformProvider(has_store=False)
    (imported,) = asyncio.run(
        provider.import_state(api.ImportRequest("terraform_data", "x"))
    ).resources
    assert imported.state == data(id_=cty.string("x"))
    stored = (
        b'{"id":"i","input":{"type":"string","value":"v"},"output":null,"triggers_replace":null}'
    )
    upgraded = asyncio.run(provider.upgrade(api.UpgradeRequest("terraform_data", 0, stored)))
    assert upgraded.state.attribute("input") == cty.string("v")
    rubbish = asyncio.run(provider.upgrade(api.UpgradeRequest("terraform_data", 0, b"\xff{")))
    assert rubbish.diagnostics
    move = api.MoveRequest(
        "registry.opentofu.org/hashicorp/null",
        "null_resource",
        0,
        "terraform_data",
        b'{"id":"7","triggers":{"a":"b"}}',
        private=b"p",
    )
    moved = asyncio.run(provider.move_state(move))
    triggers = cty.object_value({"a": cty.string("b")})
    assert (moved.state, moved.private) == (data(triggers=triggers, id_=cty.string("7")), b"p")
    other = api.MoveRequest("x", "x_thing", 0, "terraform_data", b"{}")
    assert asyncio.run(provider.move_state(other)).diagnostics


def remote(**given: cty.Value) -> cty.Value:
    values = {
        "backend": cty.string("local"),
        "config": ANY_NULL,
        "defaults": ANY_NULL,
        "outputs": ANY_NULL,
        "workspace": cty.null(cty.STRING),
    }
    return cty.object_value(values | given)


def read(
    config: cty.Value, found: remote_state.RemoteOutputs, address: str = ""
) -> tuple[api.ReadDataResponse, remote_state.RemoteState]:
    asked: list[remote_state.RemoteState] = []

    async def reader(state: remote_state.RemoteState) -> remote_state.RemoteOutputs:
        asked.append(state)
        return found

    request = api.ReadDataRequest("terraform_remote_state", config, address=address)
    answer = asyncio.run(TerraformProvider(reader).read_data(request))
    return answer, asked[0]


def test_remote_state_lays_outputs_over_defaults() -> None:
    defaults = cty.object_value({"a": ONE, "b": ONE})
    config = remote(
        defaults=defaults,
        config=cty.map_value(cty.STRING, {"path": ONE}),
        workspace=cty.string("w"),
    )
    answer, asked = read(config, remote_state.RemoteOutputs({"b": TWO, "c": TWO}))
    assert answer.diagnostics == ()
    assert answer.state.attribute("outputs").to_python() == {"a": "one", "b": 2, "c": 2}
    assert asked == remote_state.RemoteState("local", cty.object_value({"path": ONE}), "w")


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("data.terraform_remote_state.a", "a"),
        ("data.terraform_remote_state.a[4]", "a[4]"),
        ('module.m["k"].data.terraform_remote_state.a', 'm["k"].a'),
        ("module.m.module.n[0].data.terraform_remote_state.a", "m.module.n[0].a"),
    ],
)
def test_remote_state_as_encryption_names_it(address: str, name: str) -> None:
    _, asked = read(remote(), remote_state.RemoteOutputs({}), address)
    assert asked.name == name


def test_remote_state_that_does_not_exist() -> None:
    answer, asked = read(remote(), remote_state.RemoteOutputs(None))
    assert asked == remote_state.RemoteState("local", cty.EMPTY_OBJECT, "default")
    (told,) = answer.diagnostics
    assert told.path == (cty.GetAttr("workspace"),)


def test_remote_state_keeps_the_readers_words() -> None:
    told = (api.ProviderDiagnostic(Severity.ERROR, "locked out"),)
    answer, _ = read(remote(), remote_state.RemoteOutputs(None, told))
    assert answer.diagnostics == told


@pytest.mark.parametrize("name", ["config", "defaults"])
def test_remote_state_wants_objects(name: str) -> None:
    config = remote(**{name: ONE})
    answer = asyncio.run(TerraformProvider().validate_data("terraform_remote_state", config))
    assert answer.diagnostics[0].path == (cty.GetAttr(name),)


def test_remote_state_wants_a_backend() -> None:
    config = remote(backend=cty.null(cty.STRING))
    answer = asyncio.run(TerraformProvider().validate_data("terraform_remote_state", config))
    assert answer.diagnostics[0].path == (cty.GetAttr("backend"),)


def test_what_the_provider_does_not_have() -> None:
    provider = TerraformProvider(has_store=False)
    request = api.PlanRequest("terraform_nothing", NULL, NULL, NULL)
    assert asyncio.run(provider.plan(request)).diagnostics
    assert asyncio.run(provider.validate_data("terraform_nothing", NULL)).diagnostics
    assert asyncio.run(provider.call_function("nothing", [])).failure is not None


def call(name: str, argument: cty.Value) -> api.CallResponse:
    return asyncio.run(TerraformProvider().call_function(name, [argument]))


def test_decode_tfvars() -> None:
    text = cty.string('a = "x"\nb = [1, true]\n')
    assert call("decode_tfvars", text).result.to_python() == {"a": "x", "b": [1, True]}
    assert call("decode_tfvars", cty.string("")).result == cty.EMPTY_OBJECT
    unknown = call("decode_tfvars", cty.unknown(cty.STRING))
    assert unknown == api.CallResponse(cty.DYNAMIC_UNKNOWN)


@pytest.mark.parametrize("text", ["a = ", "a {}", "a = b", 'a = "${b}"', "a = f()"])
def test_decode_tfvars_refuses_what_is_no_tfvars_file(text: str) -> None:
    assert call("decode_tfvars", cty.string(text)).failure is not None


def test_encode_tfvars() -> None:
    given = {"a": "x", "longer": {"c": 1, "d e": [1, "two", None]}, "n": None, "num": 1.5}
    text = call("encode_tfvars", cty.Value.of(given)).result.as_string()
    assert text == (
        'a = "x"\nlonger = {\n  c     = 1\n  "d e" = [1, "two", null]\n}\nn   = null\nnum = 1.5\n'
    )
    assert call("decode_tfvars", cty.string(text)).result.to_python() == given
    assert call("encode_tfvars", cty.EMPTY_OBJECT).result == cty.string("")


@pytest.mark.parametrize(
    "argument", [cty.string("x"), cty.EMPTY_TUPLE, ANY_NULL, cty.Value.of({"not a name": 1})]
)
def test_encode_tfvars_refuses_what_is_no_set_of_variables(argument: cty.Value) -> None:
    assert call("encode_tfvars", argument).failure is not None


def test_encode_expr() -> None:
    given = cty.Value.of({"a": [1, {"b": 2}], "c": "${é"})
    expected = '{\n  a = [1, {\n    b = 2\n  }]\n  c = "$${é"\n}'
    assert call("encode_expr", given).result == cty.string(expected)
    assert call("encode_expr", cty.DYNAMIC_UNKNOWN) == api.CallResponse(cty.unknown(cty.STRING))
    assert call("encode_expr", ANY_NULL).failure is not None
