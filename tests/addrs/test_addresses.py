"""What addresses print, how they compare, and that what they print reads back."""

from __future__ import annotations

import pickle
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.addrs import (
    DATA,
    DEFERRED,
    EPHEMERAL,
    MANAGED,
    ROOT_MODULE,
    SELF,
    Abs,
    Address,
    Check,
    InputVariable,
    InstanceKey,
    LocalValue,
    ModuleAddr,
    ModuleCall,
    OutputValue,
    ProviderConfig,
    ProviderFunction,
    Resource,
    ResourceInstance,
    TerraformAttr,
    TofuAttr,
    block_of,
    default_provider,
    instance_of,
    key_order,
    key_text,
    module_from_names,
    module_from_steps,
    parse_address,
    parse_module,
    parse_provider_instance,
    parse_resource_instance,
    resource_of,
)
from nigari.diagnostics import Diagnostics

VPC = Resource(MANAGED, "aws_vpc", "main")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (None, ""),
        (0, "[0]"),
        (-1, "[-1]"),
        ("eu", '["eu"]'),
        ("", '[""]'),
        ('a"b\\c', r'["a\"b\\c"]'),
        ("a\n\r\tb", r'["a\n\r\tb"]'),
        ("${x} %{y} $z", '["$${x} %%{y} $z"]'),
        ("\x00\u200b\U000e0001é", '["\\u0000\\u200b\\U000e0001é"]'),
        (DEFERRED, "[*]"),
    ],
)
def test_key_text(key: InstanceKey, text: str) -> None:
    assert key_text(key) == text


def test_keys_in_order() -> None:
    keys: list[InstanceKey] = [None, DEFERRED, 2, 10, "10", "2", "a"]
    backwards = keys[::-1]
    assert sorted(backwards, key=key_order) == keys


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (ROOT_MODULE, ""),
        (ROOT_MODULE.child("a").child("b", 0).child("c", "k"), 'module.a.module.b[0].module.c["k"]'),
        (ModuleCall("a"), "module.a"),
        (ModuleCall("a").instance(1), "module.a[1]"),
        (ModuleCall("a").instance("k").output("o"), 'module.a["k"].o'),
        (VPC, "aws_vpc.main"),
        (Resource(DATA, "aws_ami", "x"), "data.aws_ami.x"),
        (Resource(EPHEMERAL, "vault_secret", "x"), "ephemeral.vault_secret.x"),
        (VPC.instance(), "aws_vpc.main"),
        (VPC.instance(DEFERRED), "aws_vpc.main[*]"),
        (Abs(ROOT_MODULE, VPC), "aws_vpc.main"),
        (Abs(ROOT_MODULE.child("a", 1), VPC.instance("k")), 'module.a[1].aws_vpc.main["k"]'),
        (InputVariable("x"), "var.x"),
        (LocalValue("x"), "local.x"),
        (OutputValue("x"), "output.x"),
        (Check("x"), "check.x"),
        (TerraformAttr("workspace"), "terraform.workspace"),
        (TofuAttr("workspace"), "tofu.workspace"),
        (SELF, "self"),
        (ProviderFunction("aws", "", "f"), "provider::aws::f"),
        (ProviderFunction("aws", "west", "f"), "provider::aws::west::f"),
        (ProviderConfig(default_provider("aws"), "west").instance("eu"),
         'provider["registry.opentofu.org/hashicorp/aws"].west["eu"]'),
    ],
)  # fmt: skip
def test_text(address: Address, text: str) -> None:
    assert str(address) == text
    assert pickle.loads(pickle.dumps(address)) == address


def test_equality_needs_the_same_kind() -> None:
    assert Resource(MANAGED, "aws_vpc", "main") == VPC
    assert VPC.instance() != VPC
    assert Abs(ROOT_MODULE, VPC) != VPC
    assert Abs(ROOT_MODULE, VPC) != Abs(ROOT_MODULE, VPC.instance())
    assert VPC.instance(1) != VPC.instance("1")
    assert TerraformAttr("workspace") != TofuAttr("workspace")
    assert len({VPC.instance(0), VPC.instance(0), VPC.instance(1)}) == 2


def test_module_parts() -> None:
    module = ROOT_MODULE.child("a", "x").child("b")
    assert module.steps == (("a", "x"), ("b", None))
    assert module.names == ("a", "b")
    assert module.depth == 2
    assert module_from_steps(module.steps) == module
    assert module.unkeyed == module_from_names(["a", "b"])
    assert module.unkeyed.unkeyed is module.unkeyed
    assert module.is_inside(ROOT_MODULE.child("a", "x"))
    assert module.is_inside(module)
    assert module.is_inside(ROOT_MODULE)
    assert not module.is_inside(ROOT_MODULE.child("a"))


def test_resources_and_instances() -> None:
    instance = Abs(ROOT_MODULE.child("a", 0), VPC.instance("k"))
    assert resource_of(instance) == Abs(ROOT_MODULE.child("a", 0), VPC)
    assert instance_of(resource_of(instance), "k") == instance
    assert block_of(instance) == Abs(ROOT_MODULE.child("a"), VPC)
    assert instance.unkeyed == Abs(ROOT_MODULE.child("a"), VPC.instance("k"))
    assert VPC.implied_provider == "aws"
    assert Resource(MANAGED, "single", "x").implied_provider == "single"


def test_reading_order() -> None:
    child = ROOT_MODULE.child("a", 2)
    wanted: list[Abs[ResourceInstance]] = [
        Abs(ROOT_MODULE, Resource(EPHEMERAL, "z", "z").instance()),
        Abs(ROOT_MODULE, Resource(DATA, "z", "z").instance()),
        Abs(ROOT_MODULE, VPC.instance(2)),
        Abs(ROOT_MODULE, VPC.instance(10)),
        Abs(ROOT_MODULE, VPC.instance("a")),
        Abs(child, VPC.instance()),
        Abs(ROOT_MODULE.child("a", 10), VPC.instance()),
        Abs(child.child("b"), VPC.instance()),
    ]
    backwards = wanted[::-1]
    assert sorted(backwards) == wanted


def _is_nfc(text: str) -> bool:
    return normalize("NFC", text) == text and not any("\ud800" <= c <= "\udfff" for c in text)


_names = st.from_regex(r"[a-z][a-z0-9_-]{0,6}", fullmatch=True).filter(
    lambda name: (
        name not in ("module", "data", "ephemeral", "provider", "var", "local")
        and name not in ("output", "check")
    )
)
_keys = st.one_of(st.none(), st.integers(0, 10**12), st.text(max_size=6).filter(_is_nfc))
_modules = st.lists(st.tuples(_names, _keys), max_size=4).map(module_from_steps)
_instances = st.builds(
    lambda module, mode, type_name, name, key: Abs(
        module, ResourceInstance(Resource(mode, type_name, name), key)
    ),
    _modules,
    st.sampled_from([MANAGED, DATA, EPHEMERAL]),
    _names,
    _names,
    _keys,
)


@given(_instances)
def test_resource_instances_round_trip(instance: Abs[ResourceInstance]) -> None:
    diags = Diagnostics()
    assert parse_resource_instance(str(instance), diags) == instance, list(diags)
    assert parse_address(str(instance), diags) == instance


@given(_modules.filter(lambda module: not module.is_root))
def test_modules_round_trip(module: ModuleAddr) -> None:
    assert parse_module(str(module), Diagnostics()) == module


@pytest.mark.parametrize(
    "text",
    [
        "module.a[*].module.b",
        "module.a[*].aws_vpc.main[*]",
        "module.a.var.x",
        "local.x",
        'module.a["k"].output.o',
        "check.c",
        'module.m.provider["registry.opentofu.org/hashicorp/aws"].by_region["eu"]',
        "data.a.b[1]",
    ],
)
def test_absolute_addresses_round_trip(text: str) -> None:
    diags = Diagnostics()
    address = parse_address(text, diags)
    assert not list(diags)
    assert str(address) == text


def test_provider_instance_of_a_state() -> None:
    text = 'module.m.provider["registry.opentofu.org/hashicorp/aws"].by_region["eu"]'
    instance = parse_provider_instance(text, Diagnostics())
    assert instance is not None
    assert str(instance) == text
    assert instance.module == ROOT_MODULE.child("m")
    assert instance.item.provider == default_provider("aws")
    assert (instance.item.config.alias, instance.item.key) == ("by_region", "eu")
