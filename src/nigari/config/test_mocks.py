"""Mocks in test files: mocked providers and provisioners, and overridden objects.

Decodes `mock_provider`, `mock_provisioner` and the `override_…` blocks, in test files and in mock
files. `nigari.testing` evaluates and uses the values.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.absolute import Abs, AbsResource
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.parse import parse_module, parse_target
from nigari.addrs.resource import DATA, MANAGED, Resource, ResourceInstance, ResourceMode
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.config.core.declared import expression, report_bad_name, schema
from nigari.config.core.literals import constant, constant_text, native
from nigari.config.core.provider_ref import check_local_name
from nigari.cty.types import STRING, ObjectType
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, BlockSchema, Body, BodySchema, Content
from nigari.hcl.expressions import Expression
from nigari.hcl.scanner import is_identifier
from nigari.hcl.scope import Scope
from nigari.hcl.splats import Splat, SplatItem
from nigari.hcl.static import abs_traversal_for_expr
from nigari.hcl.suggestion import did_you_mean
from nigari.record import record, replace

MOCK_PROVIDER = "mock_provider"
MOCK_PROVISIONER = "mock_provisioner"
_PROVISIONER_TYPES = ("file", "local-exec", "remote-exec")
_PROVISIONER = schema("error_message")
_MODES: Mapping[str, ResourceMode] = {
    "override_resource": MANAGED,
    "override_data": DATA,
    "mock_resource": MANAGED,
    "mock_data": DATA,
}
_OVERRIDE_RESOURCE = tuple(BlockSchema(name) for name in ("override_resource", "override_data"))
OVERRIDE_BLOCKS = (*_OVERRIDE_RESOURCE, BlockSchema("override_module"))
"""Override blocks, in a file or in a run."""
_MOCKS = tuple(BlockSchema(name, ("type",)) for name in ("mock_resource", "mock_data"))
_PROVIDER = BodySchema(
    schema("alias", "for_each", "source").attributes, (*_MOCKS, *_OVERRIDE_RESOURCE)
)
MOCK_FILE = BodySchema((), (*_MOCKS, *_OVERRIDE_RESOURCE))
_RESOURCE = schema("values", required=("target",))
_OVERRIDDEN_MODULE = schema("outputs", required=("target",))
_DEFAULTS = schema("defaults")

Values = Mapping[str, Value]


@record
class MockProvisioner:
    """A provisioner type that does nothing except succeed, or fail with a message."""

    type: str
    error_message: str
    """Failure message; empty for success."""
    range: Range


@record
class OverrideResource:
    """Values for the computed attributes of a resource, or of one of its instances."""

    mode: ResourceMode
    """Mode of the resource."""
    target: AbsResource
    """The resource, in the module as declared."""
    key: InstanceKey
    """The only instance to override; None for all."""
    module: ModuleAddr
    """The module instance, if its address has keys."""
    values: Values
    range: Range

    @property
    def name(self) -> str:
        """The overridden object, as in the source."""
        return str(Abs(self.module, ResourceInstance(self.target.item, self.key)))


@record
class OverrideModule:
    """Output values of a module whose objects are not created."""

    target: ModuleAddr
    """A call with all its instances, or one of them."""
    outputs: Values
    range: Range


@record
class Overrides:
    """All overrides of a file or a run."""

    resources: tuple[OverrideResource, ...] = ()
    modules: tuple[OverrideModule, ...] = ()


NO_OVERRIDES = Overrides()


@record
class MockProvider:
    """A provider with mocked objects."""

    config: ProviderConfig
    """The provider block that the mock replaces."""
    defaults: Mapping[tuple[ResourceMode, str], Values]
    """Attribute values by type."""
    resources: tuple[OverrideResource, ...]
    source: str = ""
    """Directory with more mocks; empty for none."""
    source_range: Range | None = None

    def with_more(self, other: MockProvider) -> MockProvider:
        """Add a directory's mocks for types and resources that this one does not mention."""
        known = {each.name for each in self.resources}
        added = tuple(each for each in other.resources if each.name not in known)
        return replace(
            self,
            defaults={**other.defaults, **self.defaults},
            resources=(*self.resources, *added),
        )


def decode_mock_provider(block: Block, diags: Diagnostics) -> MockProvider | None:
    """Decode a `mock_provider` block; None if its label is not a valid provider name."""
    content = block.body.content(_PROVIDER, diags)
    name = block.labels[0]
    if not check_local_name(name, block.def_range, diags):
        return None
    given = content.attributes
    alias = _alias(given.get("alias"), diags)
    for_each = given.get("for_each")
    if for_each is not None and not alias:
        diags.error(
            "Provider instances without an alias",
            f"A mock_provider block with for_each needs an alias, because its instances are named "
            f"{name}.alias[key]. Add one.",
            for_each.expr.range,
        )
    source = given.get("source")
    config = ProviderConfig(
        name=name,
        alias=alias,
        for_each=expression(given, "for_each"),
        count=None,
        version=None,
        body=_empty(block),
        block=block,
        is_mocked=True,
    )
    where = None if source is None else source.expr.range
    mocks = decode_mocks(content, block.def_range, diags)
    return MockProvider(config, *mocks, constant_text(source, diags), where)


def decode_mocks(
    content: Content, where: Range, diags: Diagnostics
) -> tuple[Mapping[tuple[ResourceMode, str], Values], tuple[OverrideResource, ...]]:
    """Decode the defaults of types, and overrides of single resources."""
    defaults: dict[tuple[ResourceMode, str], Values] = {}
    for block in content.blocks:
        if not block.labels:
            continue
        values = _object(block.body.content(_DEFAULTS, diags).attributes.get("defaults"), diags)
        key = _MODES[block.type], block.labels[0]
        if key in defaults:
            diags.error(
                f"Duplicate {block.type} block",
                f"This mock has several {block.type} blocks for {block.labels[0]}. Put the "
                "defaults of a type into one block.",
                where,
            )
        defaults.setdefault(key, values)
    resources = decode_overrides(content, diags).resources
    seen: set[str] = set()
    for each in resources:
        if each.name in seen:
            _report_second(each, where, diags)
        seen.add(each.name)
    return defaults, resources


def _empty(block: Block) -> Body:
    """Return an empty provider body, since its arguments are ignored."""
    return block.body.partial_content(_PROVIDER, Diagnostics())[1]


def _alias(attribute: Attribute | None, diags: Diagnostics) -> str:
    value = None if attribute is None else constant(attribute, STRING, diags)
    if attribute is None or value is None:
        return ""
    if not is_identifier(value.as_string()):
        report_bad_name(value.as_string(), "provider alias", attribute.expr.range, diags)
    return value.as_string()


def decode_overrides(content: Content, diags: Diagnostics) -> Overrides:
    """Decode the overrides among the blocks of a file, a run or a mock."""
    resources: list[OverrideResource] = []
    modules: list[OverrideModule] = []
    for block in content.blocks:
        if block.type == "override_module":
            module = _decode_module(block, diags)
            if module is not None:
                modules.append(module)
        elif block.type in _MODES and not block.labels:
            resource = _decode_resource(block, diags)
            if resource is not None:
                resources.append(resource)
    return Overrides(tuple(resources), tuple(modules))


def _decode_resource(block: Block, diags: Diagnostics) -> OverrideResource | None:
    given = block.body.content(_RESOURCE, diags).attributes
    values = _object(given.get("values"), diags)
    target = given.get("target")
    if target is None:
        return None
    expr = _without_splat(native(target.expr, diags))
    traversal = abs_traversal_for_expr(expr, diags)
    found = None if traversal is None else parse_target(traversal, diags)
    if found is None:
        return None
    subject = found.subject
    if isinstance(subject, ModuleAddr):
        diags.error(
            "Invalid target",
            f"{subject} is a module, and this block overrides a resource. Use override_module, or "
            "name a resource in the module.",
            expr.range,
        )
        return None
    item = subject.item
    resource = item if isinstance(item, Resource) else item.resource
    key = None if isinstance(item, Resource) else item.key
    return OverrideResource(
        _MODES[block.type],
        Abs(subject.module.unkeyed, resource),
        key,
        subject.module,
        values,
        expr.range,
    )


def _without_splat(expr: Expression) -> Expression:
    """Remove a trailing `[*]` from a target, which means all instances, as does no key."""
    is_whole = isinstance(expr, Splat) and isinstance(expr.each, SplatItem)
    return expr.operand if is_whole and isinstance(expr, Splat) else expr


def _decode_module(block: Block, diags: Diagnostics) -> OverrideModule | None:
    given = block.body.content(_OVERRIDDEN_MODULE, diags).attributes
    outputs = _object(given.get("outputs"), diags)
    target = given.get("target")
    if target is None:
        return None
    expr = native(target.expr, diags)
    traversal = abs_traversal_for_expr(expr, diags)
    if traversal is None:
        return None
    found = parse_module(traversal, diags)
    return None if found is None else OverrideModule(found, outputs, expr.range)


def _object(attribute: Attribute | None, diags: Diagnostics) -> Values:
    """Read the values of an argument that must be a literal object."""
    if attribute is None:
        return {}
    errors = diags.error_count
    value = attribute.expr.value(Scope(), diags)
    if diags.error_count > errors:
        return {}
    if not isinstance(value.type, ObjectType) or value.is_null or not value.is_known:
        diags.error(
            "Object required",
            f'The argument "{attribute.name}" must be an object, with a value for each name: '
            '{ id = "abc" }.',
            attribute.range,
        )
        return {}
    return value.mapping()


def check_overrides(overrides: Overrides, diags: Diagnostics) -> None:
    """Report several overrides for one target."""
    seen: set[str] = set()
    for each in overrides.resources:
        if each.name in seen:
            _report_second(each, each.range, diags)
        seen.add(each.name)
    modules: set[ModuleAddr] = set()
    for module in overrides.modules:
        if module.target in modules:
            _report_second(module, module.range, diags)
        modules.add(module.target)


def _report_second(
    second: OverrideResource | OverrideModule, where: Range, diags: Diagnostics
) -> None:
    target = second.target if isinstance(second, OverrideModule) else second.name
    diags.error(
        "Duplicate override",
        f"There are several overrides of {target} here. Only one can be used: remove the others.",
        where,
    )


def decode_mock_provisioners(content: Content, diags: Diagnostics) -> Mapping[str, MockProvisioner]:
    """Decode the provisioners that a file or a run mocks, by type."""
    found: dict[str, MockProvisioner] = {}
    for block in content.blocks_of(MOCK_PROVISIONER):
        kind, where = block.labels[0], block.label_ranges[0]
        given = block.body.content(_PROVISIONER, diags).attributes
        message = constant_text(given.get("error_message"), diags)
        if kind not in _PROVISIONER_TYPES:
            hint = did_you_mean(kind, _PROVISIONER_TYPES)
            diags.error(
                "Unknown provisioner type",
                f'There is no provisioner "{kind}".{hint} The types are file, local-exec and '
                "remote-exec.",
                where,
            )
        elif kind in found:
            diags.error(
                "Duplicate mock_provisioner block",
                f"There is already a mock_provisioner block for {kind} at {found[kind].range}. "
                "Remove one of them.",
                block.def_range,
            )
        else:
            found[kind] = MockProvisioner(kind, message, block.def_range)
    return found
