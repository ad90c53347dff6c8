"""Provider configurations: `provider` blocks.

Deliberately unknown here: the provider's own arguments, which are decoded with its schema.
"""

from __future__ import annotations

from nigari.addrs.module import ModuleCall, ModuleCallInstance
from nigari.addrs.provider import LocalProviderConfig
from nigari.addrs.resource import MANAGED, Resource, ResourceInstance
from nigari.config.core.declared import (
    Declared,
    Dependencies,
    dependencies,
    expression,
    only_block,
    report_bad_name,
    report_reserved_blocks,
    schema,
    with_escaped,
)
from nigari.config.core.literals import is_written_out, written_value
from nigari.config.core.provider_ref import check_local_name
from nigari.cty.types import STRING
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, Body, BodySchema, Content
from nigari.hcl.expressions import Expression
from nigari.hcl.scanner import is_identifier
from nigari.hcl.traversal import Traversal
from nigari.lang.versions import parse_provider_constraints
from nigari.record import record


@record
class ProviderConfig:
    """A `provider` block. With `for_each` or `count` it has several instances."""

    name: str
    """Local name of the provider in the module."""
    alias: str
    for_each: Expression | None
    count: Expression | None
    version: Expression | None
    """A version constraint, where old configurations had it."""
    body: Body
    block: Block
    parents: Dependencies = ()
    """Addresses in `all_objects_part_of`: whatever the provider manages goes with any of these."""
    is_mocked: bool = False
    """True for a mock in a test, whose arguments are ignored."""

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range

    @property
    def addr(self) -> LocalProviderConfig:
        """The configuration's name in the module."""
        return LocalProviderConfig(self.name, self.alias)

    @property
    def is_expanded(self) -> bool:
        """True if the block has instances with keys."""
        return self.for_each is not None or self.count is not None

    @property
    def is_empty(self) -> bool:
        """True without any arguments, as in modules that expect a configuration from the caller."""
        if self.version is not None or self.parents:
            return False
        unexpected = Diagnostics()
        self.body.content(_EMPTY, unexpected)
        return not unexpected.has_errors


_EMPTY = BodySchema()
_ALIAS = schema("alias")
_SCHEMA = schema(
    "alias",
    "version",
    "for_each",
    "count",
    "depends_on",
    "source",
    blocks=("_", "lifecycle", "locals"),
)
_RESERVED_BLOCKS = frozenset(("locals",))
_LIFECYCLE = schema("all_objects_part_of")


def written_alias(body: Body) -> str | None:
    """Return the alias of a provider block, empty without one; None if it is not literal."""
    unreported = Diagnostics()
    content, _ = body.partial_content(_ALIAS, unreported)
    attribute = content.attributes.get("alias")
    if attribute is None:
        return ""
    value = written_value(attribute.expr, STRING, "alias", unreported)
    return None if value is None else value.as_string()


def decode_provider_config(declared: Declared, diags: Diagnostics) -> ProviderConfig | None:
    """Decode a `provider` block; None if its label is not a valid provider name."""
    named = check_local_name(declared.name, declared.range, diags)
    content, rest = declared.body.partial_content(_SCHEMA, diags)
    given = content.attributes
    alias = _alias(given.get("alias"), diags)
    for_each, count = given.get("for_each"), given.get("count")
    if for_each is not None and count is not None:
        _report_both(count, diags)
    for repeated in (for_each, count):
        if repeated is not None and "alias" not in given:
            _report_no_alias(declared.name, repeated, diags)
    for name in ("depends_on", "source"):
        if name in given:
            _report_reserved(given[name], diags)
    report_reserved_blocks(content, _RESERVED_BLOCKS, diags)
    _check_version(given.get("version"), diags)
    if not named:
        return None
    return ProviderConfig(
        name=declared.name,
        alias=alias,
        for_each=expression(given, "for_each"),
        count=expression(given, "count"),
        version=expression(given, "version"),
        body=with_escaped(content, rest, diags),
        block=declared.block,
        parents=_parents(content, diags),
    )


def _parents(content: Content, diags: Diagnostics) -> Dependencies:
    """Decode the `lifecycle` block."""
    block = only_block(content, "lifecycle", diags)
    if block is None:
        return ()
    from nigari.lang.references import parse_reference

    found: list[Traversal] = []
    attribute = block.body.content(_LIFECYCLE, diags).attributes.get("all_objects_part_of")
    for traversal in dependencies(attribute, diags):
        reference = parse_reference(traversal, diags)
        if reference is None:
            continue
        subject = reference.subject
        if isinstance(subject, ResourceInstance):
            subject = subject.resource
        is_managed = isinstance(subject, Resource) and subject.mode is MANAGED
        if is_managed or isinstance(subject, ModuleCall | ModuleCallInstance):
            found.append(traversal)
        else:
            _report_parent(traversal, diags)
    return tuple(found)


def _alias(attribute: Attribute | None, diags: Diagnostics) -> str:
    if attribute is None:
        return ""
    if not is_written_out(attribute.expr):
        _report_dynamic_alias(attribute, diags)
        return ""
    value = written_value(attribute.expr, STRING, "alias", diags)
    if value is None:
        return ""
    if not is_identifier(value.as_string()):
        report_bad_name(value.as_string(), "provider alias", attribute.expr.range, diags)
    return value.as_string()


def _check_version(attribute: Attribute | None, diags: Diagnostics) -> None:
    if attribute is None:
        return
    diags.warning(
        "Version in a provider block",
        "The version of a provider belongs in the required_providers block of the module. It "
        "still works here, but may not in later versions: move it there.",
        attribute.expr.range,
    )
    value = written_value(attribute.expr, STRING, "version", diags)
    if value is not None:
        parse_provider_constraints(value.as_string(), diags, attribute.expr.range)


def _report_dynamic_alias(attribute: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Alias is not a literal",
        "An alias is part of an address, and addresses must not depend on values, so it must be "
        'a literal, as in alias = "west". To have one configuration for each of several values, '
        "keep one alias and add for_each to the block: its instances are selected by key, as in "
        "aws.by_region[each.key].",
        attribute.expr.range,
    )


def _report_no_alias(name: str, attribute: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Provider instances without an alias",
        f"A provider block with {attribute.name} needs an alias, because its instances are named "
        f"{name}.alias[key]. Add one.",
        attribute.expr.range,
    )


def _report_both(count: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Conflicting repetition arguments",
        "The arguments count and for_each each decide how many instances there are, so only one "
        "of them can be used.",
        count.name_range,
    )


def _report_parent(traversal: Traversal, diags: Diagnostics) -> None:
    diags.error(
        "Invalid all_objects_part_of",
        "Each element must name a managed resource, one of its instances, or a module call: when that "
        "is destroyed, everything that this provider manages is forgotten.",
        traversal.range,
    )


def _report_reserved(attribute: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Reserved argument",
        f'The argument "{attribute.name}" is reserved for later versions of the language. If the '
        'provider has such an argument, put it inside a block of type "_".',
        attribute.name_range,
    )
