"""`encryption` blocks: declared encryption of states and plans.

Also parses the text of `TF_ENCRYPTION`, which has the same form, and overrides one declaration by
another, name by name. Keys and encryption are in `nigari.state.encryption`.
"""

from __future__ import annotations

from collections.abc import Iterable

from nigari.config.core.declared import check_name, expression, only_block, schema
from nigari.config.core.literals import is_written_out, written_value
from nigari.cty.types import BOOL
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, BlockSchema, Body, BodySchema, Content
from nigari.hcl.expressions import Expression
from nigari.hcl.override_body import OverrideBody
from nigari.record import record, replace


@record
class KeyProviderBlock:
    """A `key_provider` block, unevaluated."""

    type: str
    name: str
    body: Body
    encrypted_metadata_alias: Expression | None
    range: Range


@record
class MethodBlock:
    """A `method` block, unevaluated."""

    type: str
    name: str
    body: Body
    range: Range


@record
class EncryptionTarget:
    """A `state`, `plan`, or remote state data source target, or a `fallback` block in one."""

    name: str
    """`state`, `plan`, `default`, or the address of a remote state data source."""
    method: Expression | None
    enforced: Expression | None
    fallback: EncryptionTarget | None
    range: Range


@record
class EncryptionBlock:
    """A whole `encryption` block."""

    key_providers: tuple[KeyProviderBlock, ...]
    methods: tuple[MethodBlock, ...]
    state: EncryptionTarget | None
    plan: EncryptionTarget | None
    remote_default: EncryptionTarget | None
    remote: tuple[EncryptionTarget, ...]
    range: Range


_SCHEMA = BodySchema(
    (),
    (
        BlockSchema("key_provider", ("type", "name")),
        BlockSchema("method", ("type", "name")),
        BlockSchema("state"),
        BlockSchema("plan"),
        BlockSchema("remote_state_data_sources"),
    ),
)
_REMOTE = BodySchema(
    (), (BlockSchema("default"), BlockSchema("remote_state_data_source", ("name",)))
)
_KEY_PROVIDER = schema("encrypted_metadata_alias")
_ENFORCEABLE = schema("enforced", "method", blocks=("fallback",))
_TARGET = schema("method", blocks=("fallback",))


def decode_encryption(body: Body, where: Range, diags: Diagnostics) -> EncryptionBlock:
    """Decode the body of an `encryption` block, or of the text of `TF_ENCRYPTION`."""
    content = body.content(_SCHEMA, diags)
    key_providers = [
        _key_provider(block, diags) for block in _distinct(content.blocks_of("key_provider"), diags)
    ]
    methods = [
        MethodBlock(block.labels[0], block.labels[1], block.body, block.def_range)
        for block in _distinct(content.blocks_of("method"), diags)
    ]
    remote = only_block(content, "remote_state_data_sources", diags)
    inner: Content | None = None if remote is None else remote.body.content(_REMOTE, diags)
    named = [] if inner is None else inner.blocks_of("remote_state_data_source")
    return EncryptionBlock(
        key_providers=tuple(key_providers),
        methods=tuple(methods),
        state=_only_target(content, "state", _ENFORCEABLE, diags),
        plan=_only_target(content, "plan", _ENFORCEABLE, diags),
        remote_default=None if inner is None else _only_target(inner, "default", _TARGET, diags),
        remote=tuple(
            [_target(block, block.labels[0], _TARGET, diags) for block in _distinct(named, diags)]
        ),
        range=where,
    )


def _key_provider(block: Block, diags: Diagnostics) -> KeyProviderBlock:
    content, rest = block.body.partial_content(_KEY_PROVIDER, diags)
    alias = expression(content.attributes, "encrypted_metadata_alias")
    return KeyProviderBlock(block.labels[0], block.labels[1], rest, alias, block.def_range)


def _distinct(blocks: list[Block], diags: Diagnostics) -> Iterable[Block]:
    """Yield the blocks with distinct labels, and report duplicates."""
    seen: dict[tuple[str, ...], Block] = {}
    for block in blocks:
        if len(block.labels) == 2:
            check_name(block, 0, f"{block.type} type", diags)
            check_name(block, 1, f"{block.type} name", diags)
        first = seen.setdefault(tuple(block.labels), block)
        if first is not block:
            _report_duplicate(block, first, diags)
    return seen.values()


def _only_target(
    content: Content, type_: str, wanted: BodySchema, diags: Diagnostics
) -> EncryptionTarget | None:
    block = only_block(content, type_, diags)
    return None if block is None else _target(block, type_, wanted, diags)


def _target(block: Block, name: str, wanted: BodySchema, diags: Diagnostics) -> EncryptionTarget:
    """Decode a target and its nested fallbacks, outermost first."""
    levels: list[tuple[Block, dict[str, Attribute]]] = []
    current: Block | None = block
    while current is not None:
        content = current.body.content(wanted, diags)
        levels.append((current, content.attributes))
        current = only_block(content, "fallback", diags)
        wanted = _TARGET
    target: EncryptionTarget | None = None
    for level, given in reversed(levels):
        target = EncryptionTarget(
            name if level is block else "fallback",
            expression(given, "method"),
            _enforced(expression(given, "enforced"), diags),
            target,
            level.def_range,
        )
    assert target is not None
    return target


def _enforced(expr: Expression | None, diags: Diagnostics) -> Expression | None:
    """Return the expression of `enforced`, unless it is an invalid literal."""
    if expr is None or not is_written_out(expr):
        return expr
    return None if written_value(expr, BOOL, "enforced", diags) is None else expr


# -- overriding -------------------------------------------------------------------------------


def override_encryption(base: EncryptionBlock | None, over: EncryptionBlock) -> EncryptionBlock:
    """Override a declaration by another, name by name."""
    if base is None:
        return over
    key_providers = {(each.type, each.name): each for each in base.key_providers}
    for key_provider in over.key_providers:
        name = (key_provider.type, key_provider.name)
        below = key_providers.get(name)
        key_providers[name] = key_provider if below is None else _over_keys(below, key_provider)
    methods = {(each.type, each.name): each for each in base.methods}
    for method in over.methods:
        found = methods.get((method.type, method.name))
        methods[method.type, method.name] = (
            method if found is None else replace(found, body=OverrideBody(found.body, method.body))
        )
    remote = {each.name: each for each in base.remote}
    for target in over.remote:
        merged = _over_target(remote.get(target.name), target)
        remote[target.name] = target if merged is None else merged
    return EncryptionBlock(
        key_providers=tuple(key_providers.values()),
        methods=tuple(methods.values()),
        state=_over_target(base.state, over.state),
        plan=_over_target(base.plan, over.plan),
        remote_default=_over_target(base.remote_default, over.remote_default),
        remote=tuple(remote.values()),
        range=base.range,
    )


def _over_keys(base: KeyProviderBlock, over: KeyProviderBlock) -> KeyProviderBlock:
    return replace(
        base,
        body=OverrideBody(base.body, over.body),
        encrypted_metadata_alias=over.encrypted_metadata_alias or base.encrypted_metadata_alias,
    )


def _over_target(
    base: EncryptionTarget | None, over: EncryptionTarget | None
) -> EncryptionTarget | None:
    if base is None or over is None:
        return base if over is None else over
    return replace(
        base,
        method=over.method or base.method,
        enforced=over.enforced or base.enforced,
        fallback=over.fallback or base.fallback,
    )


def _report_duplicate(block: Block, first: Block, diags: Diagnostics) -> None:
    name = ".".join([block.type, *block.labels])
    diags.error(
        f"Duplicate {block.type}",
        f"There is already a {name} at {first.def_range}. Give this one another name.",
        block.def_range,
    )
