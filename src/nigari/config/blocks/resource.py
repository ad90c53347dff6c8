"""Resources: `resource`, `data`, `ephemeral` and `action` blocks, and the `list` blocks of query files.

A body is decoded later, with the schema of the provider, which is not known here.
"""

from __future__ import annotations

from nigari.addrs.resource import ACTION, DATA, EPHEMERAL, LIST, MANAGED, ResourceMode
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.blocks.lifecycle import NO_LIFECYCLE, Lifecycle, decode_lifecycle
from nigari.config.core.declared import (
    Declared,
    Dependencies,
    DependencyValue,
    Repetition,
    check_name,
    decode_depends_on,
    only_block,
    repetition,
    report_reserved_blocks,
    schema,
    with_escaped,
)
from nigari.config.core.provider_ref import ProviderRef, decode_provider_ref
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, BlockSchema, Body, BodySchema, Content
from nigari.record import record

TYPE_CHECKING = False
# Loading provisioners costs start-up time, and few resources have any.
if TYPE_CHECKING:
    from nigari.config.blocks.provisioner import Connection, Provisioner


@record
class Resource:
    """A resource block of any mode. Its body is decoded later, with the provider's schema."""

    addr: ResourceAddr
    repetition: Repetition
    provider: ProviderRef | None
    depends_on: Dependencies
    lifecycle: Lifecycle
    connection: Connection | None
    provisioners: tuple[Provisioner, ...]
    body: Body
    block: Block
    in_check: str = ""
    """The `check` block that contains the data source, if one does."""
    dependency_values: tuple[DependencyValue, ...] = ()
    """Elements of `depends_on` that are not addresses."""

    @property
    def named_dependencies(self) -> Dependencies:
        """The elements of `depends_on` that are addresses."""
        in_values = sum(len(each.addresses) for each in self.dependency_values)
        return self.depends_on[: len(self.depends_on) - in_values]

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range

    @property
    def type_range(self) -> Range:
        """Range of the resource type."""
        return self.block.label_ranges[0]

    @property
    def has_static_arguments(self) -> bool:
        """Return whether anything besides the repetition and the provider must be static."""
        lifecycle = self.lifecycle
        return (
            lifecycle.create_before_destroy is not None
            or lifecycle.destroy is not None
            or lifecycle.ignore_changes is not None
            or any(
                each.when is not None or each.on_failure is not None for each in self.provisioners
            )
        )

    @property
    def provider_name(self) -> str:
        """Local name of the resource's provider."""
        return self.provider.name if self.provider else self.addr.implied_provider

    @property
    def provider_alias(self) -> str:
        """Alias of the resource's provider configuration, if it names one."""
        return self.provider.alias if self.provider else ""


_RESERVED = frozenset(("locals",))
_ATTRIBUTES = schema("count", "for_each", "provider", "depends_on").attributes
_DATA_SCHEMA = BodySchema(
    _ATTRIBUTES, (BlockSchema("lifecycle"), BlockSchema("locals"), BlockSchema("_"))
)
_SCHEMA = BodySchema(
    _ATTRIBUTES,
    (
        *_DATA_SCHEMA.blocks,
        BlockSchema("connection"),
        BlockSchema("provisioner", ("type",)),
    ),
)
# Queries and actions have no dependencies and no lifecycle.
_BARE_SCHEMA = schema("count", "for_each", "provider")
_SCHEMAS = {DATA: _DATA_SCHEMA, LIST: _BARE_SCHEMA, ACTION: _BARE_SCHEMA}
_TYPE_NAMES = {
    MANAGED: "resource type name",
    DATA: "data source name",
    EPHEMERAL: "ephemeral resource type name",
    LIST: "list resource type name",
    ACTION: "action type name",
}


def resource_addr(block: Block) -> ResourceAddr:
    """Return the address of a block of any mode."""
    return ResourceAddr(ResourceMode(block.type), block.labels[0], block.labels[1])


def decode_resource(
    addr: ResourceAddr, declared: Declared, diags: Diagnostics, in_check: str = ""
) -> Resource:
    mode = addr.mode
    block = declared.block
    check_name(block, 0, _TYPE_NAMES[mode], diags)
    check_name(block, 1, "action name" if mode is ACTION else "resource name", diags)
    content, rest = declared.body.partial_content(_SCHEMAS.get(mode, _SCHEMA), diags)
    given = content.attributes
    if in_check:
        given = _without_repetition(given, diags)
    provider = given.get("provider")
    lifecycle, enabled = NO_LIFECYCLE, None
    connection: Connection | None = None
    provisioners: tuple[Provisioner, ...] = ()
    if content.blocks:
        found = only_block(content, "lifecycle", diags)
        if found is not None and in_check:
            _report_lifecycle_in_check(found, diags)
        elif found is not None:
            lifecycle, enabled = decode_lifecycle(found, addr, diags)
        if mode is MANAGED:
            connection, provisioners = _provisioning(content, diags)
        elif mode is EPHEMERAL:
            _report_provisioning(content, mode, diags)
        report_reserved_blocks(content, _RESERVED, diags)
    depends_on, dependency_values = decode_depends_on(given.get("depends_on"), diags)
    return Resource(
        addr=addr,
        repetition=repetition(given, enabled, diags),
        provider=None
        if provider is None
        else decode_provider_ref(provider.expr, "provider", diags),
        depends_on=depends_on,
        dependency_values=dependency_values,
        lifecycle=lifecycle,
        connection=connection,
        provisioners=provisioners,
        body=with_escaped(content, rest, diags),
        block=block,
        in_check=in_check,
    )


def _provisioning(
    content: Content, diags: Diagnostics
) -> tuple[Connection | None, tuple[Provisioner, ...]]:
    found = only_block(content, "connection", diags)
    if found is None and not content.blocks_of("provisioner"):
        return None, ()
    from nigari.config.blocks.provisioner import (
        Connection,
        check_destroy_references,
        decode_provisioner,
    )

    connection = None if found is None else Connection(found)
    decoded = [decode_provisioner(block, diags) for block in content.blocks_of("provisioner")]
    provisioners = tuple([each for each in decoded if each is not None])
    if connection is not None and any(each.is_written_destroy for each in provisioners):
        check_destroy_references(connection.body, diags)
    return connection, provisioners


def _without_repetition(given: dict[str, Attribute], diags: Diagnostics) -> dict[str, Attribute]:
    for name in ("count", "for_each"):
        if name in given:
            _report_repetition_in_check(given[name], diags)
    return {name: given[name] for name in given if name not in ("count", "for_each")}


def _report_provisioning(content: Content, mode: ResourceMode, diags: Diagnostics) -> None:
    for block in content.blocks:
        if block.type in ("connection", "provisioner"):
            diags.error(
                f"Unexpected {block.type} block",
                f"Only resource blocks can have a {block.type}: {mode.value} resources are not "
                "created and destroyed.",
                block.def_range,
            )


def _report_repetition_in_check(attribute: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Repeated data source in a check",
        f'The data source of a check is read once, so it cannot have "{attribute.name}".',
        attribute.name_range,
    )


def _report_lifecycle_in_check(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Lifecycle of a data source in a check",
        "The data source of a check is part of the check, so it has no lifecycle block. Write "
        "its conditions in assert blocks.",
        block.def_range,
    )
