"""Reading addresses: what each place takes, and where a mistake is shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nigari.addrs import (
    parse_address,
    parse_legacy_provider_config,
    parse_local_provider_config,
    parse_module,
    parse_module_block,
    parse_move_endpoint,
    parse_output,
    parse_provider_config,
    parse_provider_instance,
    parse_remove_endpoint,
    parse_resource,
    parse_resource_block,
    parse_resource_instance,
    parse_target,
)
from nigari.addrs.parse import parse_action
from nigari.diagnostics import Diagnostics

Parse = Callable[[str, Diagnostics], object]


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_module, "module.a"),
        (parse_module, 'module.a[0].module.b["k"]'),
        (parse_module_block, "module.a.module.b"),
        (parse_target, "module.a[1]"),
        (parse_target, "module.a[1].data.x.y[0]"),
        (parse_target, "ephemeral.x.y"),
        (parse_resource, "module.a[1].x.y"),
        (parse_resource_instance, "x.y"),
        (parse_resource_instance, 'x.y["k"]'),
        (parse_resource_block, "module.a.x.y"),
        (parse_move_endpoint, "module.a[1]"),
        (parse_move_endpoint, "x.y[1]"),
        (parse_remove_endpoint, "module.a"),
        (parse_remove_endpoint, "module.a.x.y"),
        (parse_action, "action.t.n"),
        (parse_action, 'module.a["k"].action.t.n[0]'),
        (parse_address, 'module.a.action.t.n["k"]'),
        (parse_address, "action.n"),
        (parse_output, "module.a[1].output.o"),
        (parse_output, "output.o"),
        (parse_provider_config, 'provider["registry.opentofu.org/hashicorp/aws"]'),
        (parse_provider_config, 'module.a.provider["example.com/x/y"].z'),
        (parse_provider_instance, 'provider["registry.opentofu.org/hashicorp/aws"].a[0]'),
        (parse_local_provider_config, "aws"),
        (parse_local_provider_config, "aws.west"),
    ],
)
def test_what_is_read_prints_the_same(parse: Parse, text: str) -> None:
    diags = Diagnostics()
    parsed = parse(text, diags)
    assert not list(diags)
    assert str(parsed) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("provider.aws", 'provider["registry.opentofu.org/-/aws"]'),
        ("module.m.provider.aws.west", 'module.m.provider["registry.opentofu.org/-/aws"].west'),
        ("provider.terraform", 'provider["terraform.io/builtin/terraform"]'),
    ],
)
def test_legacy_provider_configs(text: str, wanted: str) -> None:
    assert str(parse_legacy_provider_config(text, Diagnostics())) == wanted


@pytest.mark.parametrize(
    ("parse", "text", "wrong"),
    [
        (parse_module, "module", "module"),
        (parse_module, "module[0]", "[0]"),
        (parse_module, "aws_vpc.main", "aws_vpc.main"),
        (parse_module, "module.a.b.c", ".b.c"),
        (parse_module, "module.a[1.5]", "[1.5]"),
        (parse_module, "module.a[9223372036854775808]", "[9223372036854775808]"),
        (parse_module, "module.a[*]", "[*]"),
        (parse_module_block, "module.a[0]", "[0]"),
        (parse_target, "module.a.b", ".b"),
        (parse_target, "a.b.c", ".c"),
        (parse_target, "a.b[1].c", ".c"),
        (parse_target, "data", "data"),
        (parse_target, "data.a", ".a"),
        (parse_target, "a[0]", "[0]"),
        (parse_target, "resource.a.b", "resource"),
        (parse_resource, "a.b[0]", "a.b[0]"),
        (parse_resource, "module.a", "module.a"),
        (parse_resource_instance, "module.a", "module.a"),
        (parse_resource_block, "module.a", "module.a"),
        (parse_resource_block, "a.b[0]", "[0]"),
        (parse_move_endpoint, "module.a.data", ".data"),
        (parse_remove_endpoint, "module.a[0].x.y", "[0]"),
        (parse_remove_endpoint, "x.y[0]", "[0]"),
        (parse_remove_endpoint, "data.x.y", "data.x.y"),
        (parse_remove_endpoint, "ephemeral.x.y", "ephemeral.x.y"),
        (parse_output, "module.a", ".a"),
        (parse_output, "output", "output"),
        (parse_output, "output.a.b", ".b"),
        (parse_output, "var.a", "var.a"),
        (parse_provider_instance, "aws.west", "aws.west"),
        (parse_provider_instance, "provider.aws", ".aws"),
        (parse_provider_instance, 'provider["a/b/c/d"]', '["a/b/c/d"]'),
        (parse_provider_instance, 'provider["aws"]["x"]', '["x"]'),
        (parse_provider_instance, 'provider["aws"].a.b', ".b"),
        (parse_provider_instance, 'module.a[0].provider["aws"]', "[0]"),
        (parse_provider_config, 'provider["aws"].a[0]', 'provider["aws"].a[0]'),
        (parse_legacy_provider_config, "provider.aws.a.b", ".b"),
        (parse_local_provider_config, "provider.aws", "provider.aws"),
        (parse_local_provider_config, "aws.a.b", ".b"),
        (parse_address, "var", "var"),
        (parse_address, "module.a.local.b.c", ".c"),
    ],
)
def test_mistakes_are_shown_where_they_are(parse: Parse, text: str, wrong: str) -> None:
    diags = Diagnostics()
    assert parse(text, diags) is None
    assert len(diags) == 1, list(diags)
    subject = diags[0].subject
    assert subject is not None
    assert text[subject.start.byte : subject.end.byte] == wrong
    assert diags[0].detail.endswith((".", "?"))


@pytest.mark.parametrize("text", ["", "1", "a.", "a[", "a b", "${a}"])
def test_what_is_not_even_a_traversal(text: str) -> None:
    diags = Diagnostics()
    assert parse_target(text, diags) is None
    assert diags.has_errors
