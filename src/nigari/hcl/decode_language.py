"""The language of `.hcldec` files, which write specifications for `decode` as HCL.

Each block is one piece of the specification: `object`, `array`, `attr`, `block`, `block_list`,
`block_set`, `block_tuple`, `block_map`, `block_object`, `block_attrs`, `literal`, `default`,
`transform`. In an `object` a piece has a label, the name of its attribute, which is also the name
that it reads unless it names another. Besides the root piece, a file may define `variables` and
`function`s for the input.
"""

from __future__ import annotations

from nigari.cty.function import Function
from nigari.cty.stdlib.arithmetic import ABSOLUTE, INT, MAX, MIN
from nigari.cty.stdlib.collections import HAS_INDEX, LENGTH
from nigari.cty.stdlib.general import COALESCE
from nigari.cty.stdlib.json_text import JSON_DECODE, JSON_ENCODE
from nigari.cty.stdlib.sequences import CONCAT
from nigari.cty.stdlib.strings import LOWER, REVERSE, STRLEN, SUBSTR, UPPER
from nigari.cty.types import BOOL, DYNAMIC, NUMBER, STRING, ListType, Type
from nigari.cty.values import Value, null
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import AttributeSchema, Block, BlockSchema, Body, BodySchema, Content
from nigari.hcl.decode import (
    Array,
    Attr,
    Default,
    LiteralValue,
    Object,
    Spec,
    TransformExpr,
    convert_or_report,
)
from nigari.hcl.decode_blocks import (
    BlockAttrs,
    BlockList,
    BlockMap,
    BlockObject,
    BlockSet,
    BlockTuple,
    SingleBlock,
)
from nigari.hcl.scope import Scope
from nigari.hcl.type_expressions import parse_type
from nigari.hcl.user_functions import decode_functions

SPEC_FUNCTIONS: dict[str, Function] = {
    "abs": ABSOLUTE,
    "coalesce": COALESCE,
    "concat": CONCAT,
    "hasindex": HAS_INDEX,
    "int": INT,
    "jsondecode": JSON_DECODE,
    "jsonencode": JSON_ENCODE,
    "length": LENGTH,
    "lower": LOWER,
    "max": MAX,
    "min": MIN,
    "reverse": REVERSE,
    "strlen": STRLEN,
    "substr": SUBSTR,
    "upper": UPPER,
}
"""Functions that expressions of a specification may call."""

_SCOPE = Scope(functions=SPEC_FUNCTIONS)
_CONSTANTS = Scope()
_NOTHING = LiteralValue(null(DYNAMIC))

_PIECES = (
    "object",
    "array",
    "attr",
    "block",
    "block_list",
    "block_set",
    "block_tuple",
    "block_map",
    "block_object",
    "block_attrs",
    "literal",
    "default",
    "transform",
)
_ANY_PIECES = BodySchema((), tuple([BlockSchema(name) for name in _PIECES]))
_NAMED_PIECES = BodySchema((), tuple([BlockSchema(name, ("key",)) for name in _PIECES]))


class SpecFile:
    """The content of a `.hcldec` file."""

    __slots__ = ("functions", "root", "variables")

    root: Spec
    variables: dict[str, Value]
    functions: dict[str, Function]

    def __init__(
        self, root: Spec, variables: dict[str, Value], functions: dict[str, Function]
    ) -> None:
        self.root = root
        self.variables = variables
        self.functions = functions


def read_spec(body: Body, diags: Diagnostics) -> SpecFile:
    """Read the specification in the body of a `.hcldec` file."""
    functions, rest = decode_functions(body, _SCOPE, diags)
    content, rest = rest.partial_content(BodySchema((), (BlockSchema("variables"),)), diags)
    variables: dict[str, Value] = {}
    for block in content.blocks:
        for name, attribute in block.body.just_attributes(diags).items():
            variables[name] = attribute.expr.value(_SCOPE, diags)
    return SpecFile(_only_piece(rest, diags), variables, functions)


def _only_piece(body: Body, diags: Diagnostics) -> Spec:
    errors = diags.error_count
    blocks = body.content(_ANY_PIECES, diags).blocks
    if len(blocks) == 1:
        return _piece(blocks[0], diags)
    if blocks:
        diags.error(
            "Duplicate specification",
            "There is already a specification here. To read several things from the same body, "
            "wrap them in an object or array block.",
            blocks[1].def_range,
        )
    elif diags.error_count == errors:
        diags.error(
            "Missing specification",
            "A block that says what to decode is required here, such as an object block.",
            body.missing_item_range,
        )
    return _NOTHING


def _piece(block: Block, diags: Diagnostics) -> Spec:
    # The label is the attribute name in the result and, unless overridden, the name to read.
    implied = block.labels[0] if block.labels else ""
    body = block.body
    match block.type:
        case "object":
            pieces = body.content(_NAMED_PIECES, diags).blocks
            return Object({piece.labels[0]: _piece(piece, diags) for piece in pieces})
        case "array":
            return Array(
                [_piece(piece, diags) for piece in body.content(_ANY_PIECES, diags).blocks]
            )
        case "attr":
            return _attr(body, implied, diags)
        case "block_attrs":
            return _block_attrs(body, implied, diags)
        case "literal":
            return _literal(body, diags)
        case "default":
            return _default(body, diags)
        case "transform":
            return _transform(body, diags)
        case "block_map" | "block_object":
            return _labelled_blocks(block.type, body, implied, diags)
    return _blocks(block.type, body, implied, diags)


def _attr(body: Body, implied: str, diags: Diagnostics) -> Spec:
    content = body.content(_arguments("name", "type", "required"), diags)
    name = _name(content, "name", implied, diags)
    required = _flag(content, "required", diags)
    return Attr(name, _type(content, "type", diags), required) if name else _NOTHING


def _block_attrs(body: Body, implied: str, diags: Diagnostics) -> Spec:
    content = body.content(_arguments("block_type", "element_type", "required"), diags)
    name = _name(content, "block_type", implied, diags)
    required = _flag(content, "required", diags)
    element = _type(content, "element_type", diags)
    return BlockAttrs(name, element, required) if name else _NOTHING


def _literal(body: Body, diags: Diagnostics) -> Spec:
    content = body.content(BodySchema((AttributeSchema("value", True),)), diags)
    attribute = content.attributes.get("value")
    return _NOTHING if attribute is None else LiteralValue(attribute.expr.value(_SCOPE, diags))


def _default(body: Body, diags: Diagnostics) -> Spec:
    errors = diags.error_count
    pieces = [_piece(block, diags) for block in body.content(_ANY_PIECES, diags).blocks]
    if not pieces:
        if diags.error_count == errors:
            diags.error(
                "Missing specification",
                "A default block must contain other blocks: its value is the first of theirs "
                "that is not null.",
                body.missing_item_range,
            )
        return _NOTHING
    result = pieces[0]
    for piece in pieces[1:]:
        result = Default(result, piece)
    return result


def _transform(body: Body, diags: Diagnostics) -> Spec:
    content, rest = body.partial_content(BodySchema((AttributeSchema("result", True),)), diags)
    wrapped = _only_piece(rest, diags)
    attribute = content.attributes.get("result")
    return (
        wrapped if attribute is None else TransformExpr(wrapped, attribute.expr, _SCOPE, "nested")
    )


def _blocks(kind: str, body: Body, implied: str, diags: Diagnostics) -> Spec:
    if kind == "block":
        content, rest = body.partial_content(_arguments("block_type", "required"), diags)
    else:
        limits = _arguments("block_type", "min_items", "max_items")
        content, rest = body.partial_content(limits, diags)
    name = _name(content, "block_type", implied, diags)
    nested = _only_piece(rest, diags)
    if not name:
        return _NOTHING
    if kind == "block":
        return SingleBlock(name, nested, _flag(content, "required", diags))
    least = _number(content, "min_items", diags)
    most = _number(content, "max_items", diags)
    if kind == "block_list":
        return BlockList(name, nested, least, most)
    if kind == "block_set":
        return BlockSet(name, nested, least, most)
    return BlockTuple(name, nested, least, most)


def _labelled_blocks(kind: str, body: Body, implied: str, diags: Diagnostics) -> Spec:
    schema = BodySchema((AttributeSchema("block_type"), AttributeSchema("labels", True)))
    content, rest = body.partial_content(schema, diags)
    name = _name(content, "block_type", implied, diags)
    nested = _only_piece(rest, diags)
    value = _constant(content, "labels", ListType(STRING), diags)
    if value is None or not name:
        return _NOTHING
    labels = [label.as_string() for label in value.sequence() if not label.is_null]
    if not labels:
        diags.error(
            "Missing label names",
            f"The blocks of a {kind} are keyed by their labels, so it needs at least one label "
            "name.",
            content.attributes["labels"].expr.range,
        )
        return _NOTHING
    if kind == "block_object":
        return BlockObject(name, labels, nested)
    # hcldec: BlockMapSpec panics for a nested type without a fixed type; BlockObjectSpec
    # exists for it.
    if nested.implied_type.has_dynamic:
        diags.error(
            "Specification without a fixed type",
            "All elements of a map have the same type, so an attribute inside a block_map cannot "
            'have type "any". Give it a type, or use a block_object.',
            body.missing_item_range,
        )
        return _NOTHING
    return BlockMap(name, labels, nested)


# -- arguments ----------------------------------------------------------------------------------


def _arguments(*names: str) -> BodySchema:
    return BodySchema(tuple([AttributeSchema(name) for name in names]))


def _constant(content: Content, name: str, type_: Type, diags: Diagnostics) -> Value | None:
    """Evaluate an argument that must be constant; None if it is absent or invalid."""
    attribute = content.attributes.get(name)
    if attribute is None:
        return None
    value = attribute.expr.value(_CONSTANTS, diags)
    value = convert_or_report(value, type_, attribute, _CONSTANTS, diags)
    return value if value.is_known and not value.is_null else None


def _name(content: Content, argument: str, implied: str, diags: Diagnostics) -> str:
    value = _constant(content, argument, STRING, diags)
    name = implied if value is None else value.as_string()
    if not name and (value is not None or argument not in content.attributes):
        diags.error(
            f"Missing {argument}",
            f"The argument {argument} names what to read from the input. It can be omitted only "
            "inside an object block whose attribute gives the name.",
            content.missing_item_range,
        )
    return name


def _flag(content: Content, argument: str, diags: Diagnostics) -> bool:
    value = _constant(content, argument, BOOL, diags)
    return value is not None and value.as_bool()


def _number(content: Content, argument: str, diags: Diagnostics) -> int:
    value = _constant(content, argument, NUMBER, diags)
    if value is None:
        return 0
    count = value.as_number()
    if isinstance(count, int) and count >= 0:
        return count
    diags.error(
        "Invalid limit",
        f"The argument {argument} is a number of blocks, so it must be a whole number that is "
        "not negative.",
        content.attributes[argument].expr.range,
    )
    return 0


def _type(content: Content, argument: str, diags: Diagnostics) -> Type:
    attribute = content.attributes.get(argument)
    return DYNAMIC if attribute is None else parse_type(attribute.expr, diags, constraint=True)
