"""Module calls: `module` blocks."""

from __future__ import annotations

from nigari.addrs.module_source import (
    ModuleSource,
    RemoteSource,
    parse_module_source,
    parse_registry_source,
)
from nigari.config.core.declared import (
    MODULE_ARGUMENTS,
    MODULE_BLOCKS,
    Declared,
    Dependencies,
    DependencyValue,
    Repetition,
    check_name,
    decode_depends_on,
    expression,
    only_block,
    repetition,
    report_reserved_blocks,
    schema,
    with_escaped,
)
from nigari.config.core.provider_ref import ProviderRef, decode_provider_ref
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, BlockSchema, Body, BodySchema
from nigari.hcl.expressions import Expression
from nigari.hcl.static import expr_map
from nigari.record import record


@record
class PassedProvider:
    """An entry of `providers`: the name in the called module, and the caller's configuration."""

    in_child: ProviderRef
    in_parent: ProviderRef


@record
class ModuleCall:
    """A module call. Source and version stay unevaluated: they may be static expressions."""

    name: str
    source: Expression
    version: Expression | None
    repetition: Repetition
    providers: tuple[PassedProvider, ...]
    depends_on: Dependencies | None
    """None if the argument is absent, which differs from an empty list."""
    dependency_values: tuple[DependencyValue, ...]
    body: Body
    """Arguments for the called module's input variables."""
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


_RESERVED = frozenset(("locals", "provider"))
_SCHEMA = BodySchema(
    schema(*MODULE_ARGUMENTS, required=("source",)).attributes,
    tuple([BlockSchema(each, ("type",) if each == "provider" else ()) for each in MODULE_BLOCKS]),
)
_LIFECYCLE = schema("enabled")
_TAGGED = {"git": frozenset(("ref",)), "oci": frozenset(("tag", "digest"))}
"""The getters whose tags can be versions, with the arguments of addresses that select one of them."""


def decode_module_call(declared: Declared, diags: Diagnostics) -> ModuleCall | None:
    """Decode a `module` block; None without a source."""
    check_name(declared.block, 0, "module call name", diags)
    content, rest = declared.body.partial_content(_SCHEMA, diags)
    given = content.attributes
    enabled: Attribute | None = None
    if content.blocks:
        lifecycle = only_block(content, "lifecycle", diags)
        if lifecycle is not None:
            enabled = lifecycle.body.content(_LIFECYCLE, diags).attributes.get("enabled")
        report_reserved_blocks(content, _RESERVED, diags)
    repeated = repetition(given, enabled, diags)
    depends_on, dependency_values = decode_depends_on(given.get("depends_on"), diags)
    providers = decode_passed_providers(given.get("providers"), diags)
    source = given.get("source")
    if source is None:
        return None
    return ModuleCall(
        name=declared.name,
        source=source.expr,
        version=expression(given, "version"),
        repetition=repeated,
        providers=providers,
        depends_on=depends_on if "depends_on" in given else None,
        dependency_values=dependency_values,
        body=with_escaped(content, rest, diags),
        block=declared.block,
    )


def parse_source(
    text: str, is_versioned: bool, where: Range, diags: Diagnostics
) -> ModuleSource | None:
    """Parse a module source. Modules of registries have versions, and the tags of git repositories and
    OCI repositories can be versions.
    """
    if not is_versioned:
        return parse_module_source(text, diags, where)
    if text.startswith(("./", "../")):
        _report_local_version(text, where, diags)
        return None
    problems = Diagnostics()
    source = parse_registry_source(text, problems, where)
    remote = None if source is not None else parse_module_source(text, Diagnostics(), where)
    if not isinstance(remote, RemoteSource):
        diags.extend(problems)
        return source
    if remote.getter not in _TAGGED:
        _report_remote_version(remote, where, diags)
        return None
    from urllib.parse import parse_qsl, urlsplit

    for argument, _ in parse_qsl(urlsplit(remote.url).query):
        if argument in _TAGGED[remote.getter]:
            _report_two_versions(argument, where, diags)
            return None
    return remote


def decode_passed_providers(
    attribute: Attribute | None, diags: Diagnostics
) -> tuple[PassedProvider, ...]:
    """Decode the entries of a `providers` argument."""
    if attribute is None:
        return ()
    passed: dict[str, PassedProvider] = {}
    for key, value in expr_map(attribute.expr, diags) or ():
        in_child = decode_provider_ref(key, "providers", diags)
        in_parent = decode_provider_ref(value, "providers", diags)
        if in_child is None or in_parent is None:
            continue
        first = passed.setdefault(str(in_child), PassedProvider(in_child, in_parent))
        if first.in_parent is not in_parent:
            _report_passed_twice(first, value, diags)
    return tuple(passed.values())


def _report_passed_twice(first: PassedProvider, value: Expression, diags: Diagnostics) -> None:
    diags.error(
        "Provider passed twice",
        f"A provider configuration for {first.in_child} was already passed to the called module "
        f"at {first.in_child.range}. Only one is allowed.",
        value.range,
    )


def _report_remote_version(source: RemoteSource, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Version constraint on a module without versions",
        "The argument version selects among the versions that a registry has, or among the tags of "
        f'a git repository or an OCI repository, and "{source.display}" is neither. Remove the '
        "argument version.",
        where,
    )


def _report_two_versions(argument: str, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Two versions of a module",
        f"The argument version selects a tag, and so does ?{argument}= in the source. Remove one of "
        "the two.",
        where,
    )


def _report_local_version(text: str, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Version constraint on a local module",
        f'The module in "{text}" is part of this configuration, so it has no versions. Remove '
        "the version argument, or use a module from a registry.",
        where,
    )
