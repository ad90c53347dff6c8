"""The rows of OpenTofu's own tables for addresses, moves, module sources and versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from nigari.addrs import (
    ROOT_MODULE,
    ModuleAddr,
    MoveEndpoint,
    MovePattern,
    RegistrySource,
    instance_destination,
    module_destination,
    module_from_names,
    normalize_provider_part,
    parse_module,
    parse_module_block,
    parse_module_source,
    parse_move_endpoint,
    parse_output,
    parse_registry_source,
    parse_remove_endpoint,
    parse_resource,
    parse_resource_block,
    parse_resource_instance,
    parse_target,
    resource_destination,
    unify_endpoints,
)
from nigari.addrs.module_source import LocalSource
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_traversal
from nigari.hcl.source import Source
from nigari.hcl.traversal import Traversal
from nigari.lang.versions import parse_module_constraints, parse_version
from tests.conformance import Json, Row, needs_conformance, table
from tests.conformance.not_applicable import reason

TABLE: Final = "tables/tofu-tables.jsonl"


def _fields(row: Row) -> dict[str, Json]:
    fields = row["fields"]
    assert isinstance(fields, dict)
    return fields


def _name(row: Row) -> str:
    return f"{row['test']}-{row['n']}"


def _module(text: Json) -> ModuleAddr:
    parsed = parse_module(str(text), Diagnostics())
    assert parsed is not None
    return parsed


def _endpoint(text: Json) -> MoveEndpoint:
    parsed = parse_move_endpoint(str(text), Diagnostics())
    assert parsed is not None
    return parsed


def _move(fields: dict[str, Json]) -> tuple[MovePattern, MovePattern]:
    declared = str(fields["DeclModule"])
    declaring = module_from_names(declared.split(".")) if declared else ROOT_MODULE
    patterns = unify_endpoints(
        declaring, _endpoint(fields["StmtFrom"]), _endpoint(fields["StmtTo"])
    )
    assert patterns is not None
    return patterns


def _check_moved(fields: dict[str, Json], moved: object) -> None:
    if fields["WantMatch"]:
        assert str(moved) == fields["WantResult"]
    else:
        assert moved is None


def _module_moves(row: Row) -> None:
    fields = _fields(row)
    receiver = _module(fields["Receiver"]) if fields["Receiver"] else ROOT_MODULE
    _check_moved(fields, module_destination(receiver, *_move(fields)))


def _resource_moves(row: Row) -> None:
    fields = _fields(row)
    receiver = parse_resource(str(fields["Receiver"]), Diagnostics())
    assert receiver is not None
    _check_moved(fields, resource_destination(receiver, *_move(fields)))


def _instance_moves(row: Row) -> None:
    fields = _fields(row)
    receiver = parse_resource_instance(str(fields["Receiver"]), Diagnostics())
    assert receiver is not None
    _check_moved(fields, instance_destination(receiver, *_move(fields)))


def _modules_differ(row: Row) -> None:
    fields = _fields(row)
    left, right = _module(fields["left"]), _module(fields["right"])
    assert left != right
    assert right != left


def _same_module(row: Row) -> None:
    fields = _fields(row)
    same = _module(fields["a"]).unkeyed == _module(fields["b"]).unkeyed
    assert same is fields["wantSame"]


def _instance_of_module(row: Row) -> None:
    fields = _fields(row)
    assert (_module(fields["inst"]).unkeyed == _module(fields["mod"])) is fields["want"]


def _parses(parse: Callable[[str, Diagnostics], object]) -> Callable[[Row], None]:
    """Rows that say only whether a text is an address of that kind."""

    def check(row: Row) -> None:
        fields = _fields(row)
        text = fields["Input"] if "Input" in fields else row["name"]
        diags = Diagnostics()
        parsed = parse(str(text), diags)
        wrong = bool(fields.get("WantErr") or fields.get("wantErr"))
        assert (parsed is None) is wrong
        assert diags.has_errors is wrong
        if "WantModule" in fields:
            assert isinstance(parsed, ModuleAddr)
            assert list(parsed.names) == fields["WantModule"]

    return check


def _module_sources(row: Row) -> None:
    fields = _fields(row)
    diags = Diagnostics()
    parsed = parse_module_source(str(fields["input"]), diags)
    assert (parsed is None) is bool(fields.get("wantErr"))
    if parsed is not None:
        assert str(parsed) == fields["wantString"]
        assert parsed.display == fields["wantForDisplay"]


def _registry_sources(row: Row) -> None:
    fields = _fields(row)
    parsed = parse_registry_source(str(fields["input"]), Diagnostics())
    assert (parsed is None) is bool(fields.get("wantErr"))
    if parsed is not None:
        assert isinstance(parsed, RegistrySource)
        assert str(parsed) == fields["wantString"]
        assert parsed.display == fields["wantForDisplay"]
        assert parsed.package_path == fields["wantForProtocol"]


def _enters_package(row: Row) -> None:
    fields = _fields(row)
    parsed = parse_module_source(str(fields["Addr"]), Diagnostics())
    assert parsed is not None
    assert (not isinstance(parsed, LocalSource)) is fields["Want"]


def _provider_parts(row: Row) -> None:
    fields = _fields(row)
    part = normalize_provider_part(str(row["name"]))
    assert part == (None if fields["Error"] else fields["Want"])


def _required_version(row: Row) -> None:
    fields = _fields(row)
    constraints = parse_module_constraints(str(fields["RequiredVersions"]), Diagnostics())
    version = parse_version(str(fields["CurrentVersion"]))
    assert constraints is not None
    assert version is not None
    met = constraints.allows(version) and not constraints.names_prerelease
    assert met is not fields["Err"]


def _traversal(text: Json) -> Traversal:
    parsed = parse_traversal(Source("", str(text)), Diagnostics())
    assert parsed is not None
    return parsed


def _traversals(row: Row) -> None:
    fields = _fields(row)
    same = str(_traversal(fields["A"])) == str(_traversal(fields["B"]))
    assert same is fields["Equivalent"]


CHECKS: Final[dict[str, Callable[[Row], None]]] = {
    "TestModuleInstanceEqual_false": _modules_differ,
    "TestHasSameModule": _same_module,
    "TestIsForModule": _instance_of_module,
    "TestParseModuleSource": _module_sources,
    "TestParseModuleSourceRemote": _module_sources,
    "TestParseModuleSourceRegistry": _registry_sources,
    "TestParseModule": _parses(parse_module_block),
    "TestModuleInstanceMoveDestination": _module_moves,
    "TestAbsResourceInstanceMoveDestination": _instance_moves,
    "TestAbsResourceMoveDestination": _resource_moves,
    "TestParseMoveEndpoint": _parses(parse_move_endpoint),
    "TestParseAbsOutputValueStr": _parses(parse_output),
    "TestParseTarget": _parses(parse_target),
    "TestParseProviderPart": _provider_parts,
    "TestParseRemoveEndpoint": _parses(parse_remove_endpoint),
    "TestParseConfigResource": _parses(parse_resource_block),
    "TestTraversalsEquivalent": _traversals,
    "TestRequiredVersion": _required_version,
    "TestModuleSourceAddrEntersNewPackage": _enters_package,
}


@needs_conformance
@pytest.mark.parametrize("row", table(TABLE, CHECKS), ids=_name)
def test_addresses(row: Row) -> None:
    why_not = reason(row)
    if why_not:
        pytest.skip(why_not)
    CHECKS[str(row["test"])](row)
