"""Contents that a block accepts, by the language, the provider's schema or the called module.

The answer has the form of a provider's schema, whatever it comes from. Where nothing is known of a
block, such as one of a provider that is not installed, that is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari import cty
from nigari.config.blocks.variable import Variable
from nigari.hcl.body import Block as WrittenBlock
from nigari.language.cursor import cursor_at
from nigari.language.document import Document, Kind
from nigari.language.language_blocks import (
    ACTION,
    BLOCKS,
    DATA,
    EPHEMERAL,
    MODULE,
    RESOURCE,
    SYMBOL_BLOCKS,
    TEST_BLOCKS,
)
from nigari.language.own_blocks import ENVIRONMENTS_BLOCKS, FLEET_BLOCKS, LINT_BLOCKS, QUERY_BLOCKS
from nigari.language.workbench import Workbench
from nigari.record import record
from nigari.schema.block import Attribute, Block, NestedBlock
from nigari.schema.config_block import action_schema
from nigari.schema.provider import ProviderSchema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_RESOURCES: Final = {
    "resource": RESOURCE,
    "data": DATA,
    "ephemeral": EPHEMERAL,
    "action": ACTION,
}
_FILES: Final = {
    Kind.CONFIGURATION: BLOCKS,
    Kind.TESTS: TEST_BLOCKS,
    Kind.SYMBOLS: SYMBOL_BLOCKS,
    Kind.QUERIES: QUERY_BLOCKS,
    Kind.ENVIRONMENTS: ENVIRONMENTS_BLOCKS,
    Kind.FLEET: FLEET_BLOCKS,
    Kind.LINT: LINT_BLOCKS,
}
_NOTHING: Final = Block()
_OPEN: Final = frozenset(("locals", "values", "variables", "required_providers", "mock_provider"))
"""Blocks whose arguments have names of the user's own."""


@record
class Description:
    """The arguments and blocks that may be in a block."""

    block: Block
    is_whole: bool = True
    """True if the description is complete, as far as is known."""
    source: str = ""
    """The provider or module that says so, if one does."""


_UNKNOWN: Final = Description(_NOTHING, is_whole=False)


def file_blocks(kind: Kind) -> dict[str, Block]:
    """The blocks that a file may have."""
    return dict(_FILES.get(kind, {}))


def described(
    workbench: Workbench, document: Document, blocks: Sequence[WrittenBlock]
) -> Description:
    """The schema of the innermost of some blocks, given from the outermost on."""
    if not blocks:
        return Description(Block({}, {}))
    top = blocks[0]
    found = _of_top(workbench, document, top)
    if found is None:
        return _UNKNOWN
    inside = found.block
    dynamic = False
    for block in blocks[1:]:
        if block.type == "dynamic":
            nested = inside.blocks.get(block.labels[0]) if block.labels else None
            dynamic = True
        elif dynamic and block.type == "content":
            dynamic = False
            continue
        elif block.type == "data" and top.type == "check":
            nested = None
            inner = _of_resource(workbench, document.directory, block)
            found, inside = inner, inner.block
            continue
        else:
            nested = inside.blocks.get(block.type)
        if nested is None:
            return _UNKNOWN
        inside = nested.block
    if dynamic:
        return Description(_DYNAMIC)
    return Description(inside, found.is_whole, found.source)


def _of_top(workbench: Workbench, document: Document, block: WrittenBlock) -> Description | None:
    if block.type in _RESOURCES:
        return _of_resource(workbench, document.directory, block)
    if document.kind in (Kind.CONFIGURATION, Kind.QUERIES):
        if block.type == "module":
            return _of_call(workbench, document.directory, block)
        if block.type == "provider" and block.labels:
            return _of_provider(workbench, document.directory, block.labels[0])
    own = file_blocks(document.kind).get(block.type)
    if own is None:
        return None
    is_whole = block.type not in _OPEN
    return Description(own, is_whole)


def _of_resource(workbench: Workbench, directory: str, block: WrittenBlock) -> Description:
    general = _RESOURCES[block.type]
    if not block.labels:
        return Description(general, is_whole=False)
    schema = resource_block(workbench, directory, block.type, block.labels[0], local_name(block))
    if schema is None:
        return Description(general, is_whole=False)
    return Description(_merged(schema[0], general), source=schema[1])


def local_name(block: WrittenBlock) -> str:
    """The local name of the provider that a resource block is served by."""
    given = block.attributes.get("provider")
    traversal = None if given is None else given.expr.static_traversal()
    if traversal is not None:
        return traversal.root_name
    return block.labels[0].partition("_")[0] if block.labels else ""


def resource_block(
    workbench: Workbench, directory: str, mode: str, type_: str, name: str
) -> tuple[Block, str] | None:
    """The schema of a resource type, and the provider that has it."""
    provider = workbench.provider(directory, name)
    offered = None if provider is None else workbench.offered(directory, provider)
    if offered is None:
        return None
    schema = resource_types(offered, mode).get(type_)
    return None if schema is None else (schema, str(provider))


def resource_types(offered: ProviderSchema, mode: str) -> dict[str, Block]:
    """The resource types of a mode that a provider offers."""
    if mode == "action":
        found = {name: action_schema(offered, name) for name in offered.actions}
        return {name: each.block for name, each in found.items() if each is not None}
    of_mode = {
        "resource": offered.resources,
        "data": offered.data_sources,
        "ephemeral": offered.ephemeral_resources,
    }[mode]
    return {name: each.block for name, each in of_mode.items()}


def _of_provider(workbench: Workbench, directory: str, name: str) -> Description:
    general = BLOCKS["provider"]
    provider = workbench.provider(directory, name)
    offered = None if provider is None else workbench.offered(directory, provider)
    if offered is None:
        return Description(general, is_whole=False)
    return Description(_merged(offered.provider.block, general), source=str(provider))


def _of_call(workbench: Workbench, directory: str, block: WrittenBlock) -> Description:
    variables = called_variables(workbench, directory, block)
    if variables is None:
        return Description(MODULE, is_whole=False)
    arguments = {
        name: Attribute(
            cty.without_optional(each.type),
            required=each.default is None,
            optional=each.default is not None,
            sensitive=each.sensitive,
            description=each.description,
            deprecated=bool(each.deprecated),
            deprecation_message=each.deprecated,
        )
        for name, each in variables.items()
    }
    return Description(_merged(Block(arguments), MODULE), source="the called module")


def called_variables(
    workbench: Workbench, directory: str, block: WrittenBlock
) -> dict[str, Variable] | None:
    """The variables of the module that a call leads to; None where that is not known."""
    if not block.labels:
        return None
    found: dict[str, Variable] = {}
    places = workbench.project.called(directory, (block.labels[0],))
    for place in places:
        variables = workbench.variables(place)
        if variables is None:
            return None
        found.update(variables)
    return found if places else None


def roots_without_schema(workbench: Workbench, document: Document, offset: int) -> list[str]:
    """Find the root modules in which the schema of the resource at an offset is missing."""
    cursor = cursor_at(document, offset)
    top = cursor.blocks[0] if cursor.blocks else cursor.header
    if top is None or top.type not in _RESOURCES or document.kind is not Kind.CONFIGURATION:
        return []
    provider = workbench.provider(document.directory, local_name(top))
    if provider is None or workbench.offered(document.directory, provider) is not None:
        return []
    return [each.root for each in workbench.evaluations_of(document.directory)]


def nested_type(nested: NestedBlock) -> str:
    """The number of blocks that may be written, in words."""
    if nested.min_items > 0:
        return "required block"
    return "block" if nested.max_items == 1 else "block, any number"


def _merged(own: Block, general: Block) -> Block:
    """A schema with the arguments that the language gives every block of the kind."""
    return Block(
        {**own.attributes, **general.attributes},
        {**own.blocks, **general.blocks},
        own.description or general.description,
        own.markdown,
        own.deprecated,
        own.deprecation_message,
    )


_DYNAMIC: Final = Block(
    {
        "for_each": Attribute(
            required=True, description="The elements to make a block for each of."
        ),
        "iterator": Attribute(optional=True, description="The name of the element in the content."),
        "labels": Attribute(optional=True, description="The labels of the blocks."),
    },
    {
        "content": NestedBlock(
            Block(description="What each block has."), BLOCKS["check"].blocks["data"].nesting, 1, 1
        )
    },
    "Makes a block for each element of a collection.",
)
