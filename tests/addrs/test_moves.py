"""Where moves take addresses, and what targets cover."""

from __future__ import annotations

import pytest

from nigari.addrs import (
    ROOT_MODULE,
    Abs,
    MoveEndpoint,
    MovePattern,
    Target,
    implied_endpoint,
    instance_destination,
    is_module_reindex,
    module_from_names,
    parse_module,
    parse_module_block,
    parse_move_endpoint,
    parse_resource_block,
    parse_resource_instance,
    parse_target,
    resource_destination,
    unify_endpoints,
)
from nigari.diagnostics import Diagnostics


def endpoint(text: str) -> MoveEndpoint:
    parsed = parse_move_endpoint(text, Diagnostics())
    assert parsed is not None
    return parsed


def move(source: str, target: str, declared: str = "") -> tuple[MovePattern, MovePattern]:
    declaring = module_from_names(declared.split(".")) if declared else ROOT_MODULE
    patterns = unify_endpoints(declaring, endpoint(source), endpoint(target))
    assert patterns is not None
    return patterns


@pytest.mark.parametrize(
    ("source", "target", "patterns"),
    [
        ("a.b", "a.c", ("a.b[*]", "a.c[*]")),
        ("a.b", "a.b[0]", ("a.b", "a.b[0]")),
        ("module.a", "module.b", ("module.a[*]", "module.b[*]")),
        ("module.a", "module.a[0]", ("module.a", "module.a[0]")),
        ("module.a[1].x.y", "x.y", ("module.a[1].x.y[*]", "x.y[*]")),
        ("module.a", "x.y", None),
    ],
)
def test_unifying(source: str, target: str, patterns: tuple[str, str] | None) -> None:
    unified = unify_endpoints(ROOT_MODULE, endpoint(source), endpoint(target))
    assert (None if unified is None else (str(unified[0]), str(unified[1]))) == patterns


def test_patterns_show_the_declaring_module() -> None:
    source, _ = move("a.b", "a.c", "m.n")
    assert str(source) == "module.m[*].module.n[*].a.b[*]"


@pytest.mark.parametrize(
    ("source", "target", "instance", "wanted"),
    [
        ("a.b", "c.d", "a.b[1]", "c.d[1]"),
        ("a.b[1]", "a.b[2]", "a.b[1]", "a.b[2]"),
        ("a.b[1]", "a.b[2]", "a.b[3]", None),
        ("module.x", "module.y", 'module.x["k"].a.b[0]', 'module.y["k"].a.b[0]'),
        ("module.x", "module.x[0]", "module.x.a.b", "module.x[0].a.b"),
        ("a.b", "module.x.a.b", "a.b[1]", "module.x.a.b[1]"),
    ],
)
def test_instances_move(source: str, target: str, instance: str, wanted: str | None) -> None:
    address = parse_resource_instance(instance, Diagnostics())
    assert address is not None
    moved = instance_destination(address, *move(source, target))
    assert (None if moved is None else str(moved)) == wanted


def test_a_move_of_one_instance_moves_no_whole_resource() -> None:
    block = parse_resource_block("a.b", Diagnostics())
    assert block is not None
    assert resource_destination(block, *move("a.b[0]", "a.c[0]")) is None
    assert str(resource_destination(block, *move("a.b", "a.c"))) == "a.c"


@pytest.mark.parametrize(
    ("inner", "outer", "nested"),
    [
        ("module.a.module.b", "module.a", True),
        ("module.a.x.y", "module.a", True),
        ("module.a[0]", "module.a", True),
        ("module.a", "module.a", False),
        ("x.y[0]", "x.y", True),
        ("x.y", "x.y", False),
        ("x.z[0]", "x.y", False),
        ("module.a", "module.a.module.b", False),
    ],
)
def test_nesting(inner: str, outer: str, nested: bool) -> None:
    assert move(inner, inner)[0].is_nested_within(move(outer, outer)[0]) is nested


@pytest.mark.parametrize(
    ("source", "target", "chains"),
    [
        ("a.b", "a.b", True),
        ("a.b[0]", "a.b[0]", True),
        ("a.b", "a.b[0]", False),
        ("a.b[0]", "a.b[1]", False),
        ("module.a[0]", "module.a", True),
        ("module.a", "x.y", False),
        ("module.a[0].x.y", "module.a[1].x.y", False),
    ],
)
def test_chaining(source: str, target: str, chains: bool) -> None:
    assert move(source, source)[0].can_chain_from(move(target, target)[0]) is chains


def test_reindexing() -> None:
    assert is_module_reindex(*move("module.a", "module.a[0]"))
    assert is_module_reindex(*move("module.a[1]", "module.a[0]"))
    assert not is_module_reindex(*move("module.a", "module.b"))
    assert not is_module_reindex(*move("module.a[0]", "module.b[0]"))
    assert not is_module_reindex(*move("x.y", "x.y[0]"))


def test_endpoints() -> None:
    assert not endpoint("ephemeral.a.b").is_movable
    assert endpoint("data.a.b").is_movable
    assert str(endpoint("module.a[0].x.y[1]").block) == "module.a.x.y"
    assert str(endpoint("module.a[0]").block) == "module.a"
    instance = parse_resource_instance("module.a[0].x.y[1]", Diagnostics())
    assert instance is not None
    assert str(implied_endpoint(instance)) == "module.a[0].x.y[1]"


@pytest.mark.parametrize(
    ("target", "address", "covered"),
    [
        ("module.a", "module.a", True),
        ("module.a", "module.a[0]", True),
        ("module.a", "module.a[0].module.b.x.y", True),
        ("module.a[0]", "module.a", False),
        ("module.a[0]", "module.a[1].x.y", False),
        ("module.a.module.b", "module.a[0].module.b", False),
        ("module.a[0].module.b", "module.a[0].module.b[1].x.y[0]", True),
        ("x.y", "x.y[0]", True),
        ("x.y", "x.y", True),
        ("x.y[0]", "x.y", False),
        ("x.y[0]", "x.y[0]", True),
        ("x.y", "module.a.x.y", False),
        ("data.x.y", "x.y", False),
        ("x.y", "module.a", False),
    ],
)
def test_targets_cover(target: str, address: str, covered: bool) -> None:
    parsed, other = parse_target(target, Diagnostics()), parse_target(address, Diagnostics())
    assert parsed is not None
    assert other is not None
    assert parsed.covers(other.subject) is covered


@pytest.mark.parametrize(
    ("target", "block", "touched"),
    [
        ("module.a[0]", "module.a.x.y", True),
        ("module.a[0]", "module.a.module.b.x.y", True),
        ("module.a[0].x.y[1]", "module.a.x.y", True),
        ("module.a.x.y", "module.a.x.z", False),
        ("module.b", "module.a.x.y", False),
        ("module.a.module.b", "module.a.x.y", False),
    ],
)
def test_targets_touch_blocks(target: str, block: str, touched: bool) -> None:
    parsed = parse_target(target, Diagnostics())
    resource = parse_resource_block(block, Diagnostics())
    assert parsed is not None
    assert resource is not None
    assert parsed.touches_block(resource) is touched


def test_a_target_has_a_module() -> None:
    module = parse_module("module.a[0]", Diagnostics())
    declared = parse_module_block("module.a", Diagnostics())
    assert module is not None
    assert declared is not None
    target = Target(module)
    assert target.module == module
    assert target.resource is None
    assert target.touches_block(declared)
    resource = parse_target("module.a[0].x.y[1]", Diagnostics())
    assert resource is not None
    assert resource.resource is not None
    assert not resource.touches_block(declared)
    assert not Target(Abs(module, resource.resource)).covers(module)
