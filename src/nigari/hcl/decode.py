r"""Declarative decoding: specifications that describe a body and the value that it decodes to.

A specification is a tree of small pieces: an attribute, a block, an object made of others. The
schema of the body, the type of the result, and the references in the body follow from it without
evaluating anything. Pieces that read nested blocks are in `decode_blocks`.

    from nigari import cty, hcl
    from nigari.hcl.decode import Attr, Default, LiteralValue, Object, decode, variables

    server = Object(
        {
            "name": Attr("name", cty.STRING, True),
            "port": Default(Attr("port", cty.NUMBER), LiteralValue(cty.number(80))),
        }
    )
    file = hcl.parse('name = "web-${zone}"\n')
    print([each.root_name for each in variables(file.body, server)])  # ['zone']
    value = decode(file.body, server, hcl.Scope({"zone": "a"}), file.diagnostics)
    print(value.to_python())  # {'name': 'web-a', 'port': 80}
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import Function
from nigari.cty.refinements import Refinement, refine
from nigari.cty.types import DYNAMIC, STRING, ObjectType, TupleType, Type, without_optional
from nigari.cty.values import Value, null, object_value, string, tuple_value, unknown
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import (
    Attribute,
    AttributeSchema,
    Block,
    BlockSchema,
    Body,
    BodySchema,
    Content,
)
from nigari.hcl.evaluation import sentence
from nigari.hcl.expressions import Expression
from nigari.hcl.reference_values import scope_values
from nigari.hcl.scope import Scope
from nigari.hcl.traversal import Traversal

__all__ = [
    "Array",
    "Attr",
    "BlockLabel",
    "Default",
    "Labels",
    "LiteralValue",
    "Object",
    "Spec",
    "decode",
    "labels_of",
    "partial_decode",
    "schema_of",
    "variables",
]

Labels = Sequence[tuple[str, Range]]
"""The labels of the block whose body is decoded, each with its range."""


class Spec:
    """A piece of a specification."""

    __slots__ = ()

    @property
    @abstractmethod
    def implied_type(self) -> Type:
        """Type of every value that this decodes to; it may have optional attributes."""

    @abstractmethod
    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        """Decode the value; after an error it is a placeholder of the implied type."""

    def children(self) -> Sequence[Spec]:
        """List the pieces inside this one that read the same body."""
        return ()

    def attributes(self) -> Sequence[AttributeSchema]:
        """List the arguments that this piece itself reads."""
        return ()

    def blocks(self) -> Sequence[BlockSchema]:
        """List the nested blocks that this piece itself reads."""
        return ()

    def own_variables(self, content: Content) -> list[Traversal]:
        """List the references of this piece itself."""
        return []

    def place(self, content: Content, labels: Labels) -> Range:
        """Return the range to report if the value is unsuitable."""
        return content.missing_item_range

    @property
    def placeholder(self) -> Value:
        """An unknown value in place of one that could not be decoded."""
        return unknown(without_optional(self.implied_type))


def decode(body: Body, spec: Spec, scope: Scope, diags: Diagnostics) -> Value:
    """Decode a body; items that the specification does not mention are errors."""
    return decode_block_body(body, (), spec, scope, diags)


def partial_decode(body: Body, spec: Spec, scope: Scope, diags: Diagnostics) -> tuple[Value, Body]:
    """Decode the items that the specification mentions; the second result is a body with the rest."""
    content, rest = body.partial_content(schema_of(spec), diags)
    return spec.decode(content, (), scope, diags), rest


def decode_block_body(
    body: Body, labels: Labels, spec: Spec, scope: Scope, diags: Diagnostics
) -> Value:
    """Decode the body of a block with these labels."""
    content = body.content(schema_of(spec), diags)
    return spec.decode(content, labels, scope, diags)


def schema_of(spec: Spec) -> BodySchema:
    """Build the schema of the bodies that this specification decodes."""
    attributes: dict[str, AttributeSchema] = {}
    blocks: dict[str, BlockSchema] = {}
    for piece in same_body_pieces(spec):
        for attribute in piece.attributes():
            have = attributes.get(attribute.name)
            # ImpliedSchema: an argument that two pieces read is required if either
            # piece requires it.
            if have is None or attribute.required:
                attributes[attribute.name] = attribute
        for block in piece.blocks():
            blocks.setdefault(block.type, block)
    return BodySchema(tuple(attributes.values()), tuple(blocks.values()))


def same_body_pieces(spec: Spec) -> list[Spec]:
    """List the specification and every piece in it that reads the same body."""
    found: list[Spec] = []
    pending: list[Spec] = [spec]
    while pending:
        piece = pending.pop()
        found.append(piece)
        pending.extend(reversed(piece.children()))
    return found


def variables(body: Body, spec: Spec) -> list[Traversal]:
    """List every reference that decoding the body would evaluate."""
    content, _ = body.partial_content(schema_of(spec), Diagnostics())
    return [
        traversal for piece in same_body_pieces(spec) for traversal in piece.own_variables(content)
    ]


def label_names(spec: Spec) -> tuple[str, ...]:
    """List the names of the block labels that pieces of the specification read."""
    names: dict[int, str] = {}
    for piece in same_body_pieces(spec):
        if isinstance(piece, BlockLabel):
            names[piece.index] = piece.name
    count = max(names, default=-1) + 1
    return tuple([names.get(i) or f"label {i + 1}" for i in range(count)])


def labels_of(block: Block) -> Labels:
    """List the labels of a block with their ranges."""
    return list(zip(block.labels, block.label_ranges, strict=True))


def convert_or_report(
    value: Value,
    wanted: Type,
    attribute: Attribute,
    scope: Scope,
    diags: Diagnostics,
) -> Value:
    """Convert the value of an argument to a type, and report a failure."""
    try:
        return convert(value, wanted)
    except CtyError as error:
        diags.error(
            "Wrong value type",
            f'Invalid value for the argument "{attribute.name}": {sentence(error)}',
            attribute.expr.range,
            values=scope_values(attribute.expr, scope),
        )
        return unknown(without_optional(wanted))


class Attr(Spec):
    """The value of an argument, converted to a type; null if the argument is absent."""

    __slots__ = ("name", "required", "type")

    name: str
    type: Type
    required: bool

    def __init__(self, name: str, type: Type = DYNAMIC, required: bool = False) -> None:
        self.name = name
        self.type = type
        self.required = required

    @property
    def implied_type(self) -> Type:
        return self.type

    def attributes(self) -> Sequence[AttributeSchema]:
        return (AttributeSchema(self.name, self.required),)

    def own_variables(self, content: Content) -> list[Traversal]:
        attribute = content.attributes.get(self.name)
        return [] if attribute is None else attribute.expr.variables()

    def place(self, content: Content, labels: Labels) -> Range:
        attribute = content.attributes.get(self.name)
        return content.missing_item_range if attribute is None else attribute.expr.range

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        attribute = content.attributes.get(self.name)
        if attribute is None:
            # AttrSpec: an absent argument is null of its type.
            return null(without_optional(self.type))
        value = attribute.expr.value(scope, diags)
        return convert_or_report(value, self.type, attribute, scope, diags)


class LiteralValue(Spec):
    """A constant."""

    __slots__ = ("literal",)

    literal: Value

    def __init__(self, literal: Value) -> None:
        self.literal = literal

    @property
    def implied_type(self) -> Type:
        return self.literal.type

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        return self.literal


class Expr(Spec):
    """The value of an expression in the specification."""

    __slots__ = ("expr",)

    expr: Expression

    def __init__(self, expr: Expression) -> None:
        self.expr = expr

    @property
    def implied_type(self) -> Type:
        return DYNAMIC

    def own_variables(self, content: Content) -> list[Traversal]:
        return self.expr.variables()

    def place(self, content: Content, labels: Labels) -> Range:
        return self.expr.range

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        return self.expr.value(scope, diags)


class BlockLabel(Spec):
    """A label of the block whose body is decoded."""

    __slots__ = ("index", "name")

    index: int
    name: str

    def __init__(self, index: int, name: str) -> None:
        self.index = index
        self.name = name

    @property
    def implied_type(self) -> Type:
        return STRING

    def place(self, content: Content, labels: Labels) -> Range:
        return labels[self.index][1]

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        if self.index >= len(labels):
            raise ValueError("a specification asks for the label of something that is not a block")
        return string(labels[self.index][0])


class Object(Spec):
    """An object with a piece for each attribute."""

    __slots__ = ("pieces",)

    def __init__(self, pieces: Mapping[str, Spec]) -> None:
        self.pieces: dict[str, Spec] = dict(pieces)

    @property
    def implied_type(self) -> Type:
        return ObjectType({name: piece.implied_type for name, piece in self.pieces.items()})

    def children(self) -> Sequence[Spec]:
        return list(self.pieces.values())

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        return object_value(
            {
                name: piece.decode(content, labels, scope, diags)
                for name, piece in self.pieces.items()
            }
        )


class MarkedObject(Object):
    """An object that carries the marks of its body, such as those of a dynamic block's collection."""

    __slots__ = ()

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        return super().decode(content, labels, scope, diags).with_marks(content.body.marks)


class Array(Spec):
    """A tuple with a piece for each element."""

    __slots__ = ("pieces",)

    def __init__(self, pieces: Sequence[Spec]) -> None:
        self.pieces: list[Spec] = list(pieces)

    @property
    def implied_type(self) -> Type:
        return TupleType(tuple([piece.implied_type for piece in self.pieces]))

    def children(self) -> Sequence[Spec]:
        return self.pieces

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        return tuple_value([piece.decode(content, labels, scope, diags) for piece in self.pieces])


class Default(Spec):
    """The value of the first piece, or of the second if the first is null."""

    __slots__ = ("default", "primary")

    primary: Spec
    default: Spec

    def __init__(self, primary: Spec, default: Spec) -> None:
        self.primary = primary
        self.default = default

    @property
    def implied_type(self) -> Type:
        return self.primary.implied_type

    def children(self) -> Sequence[Spec]:
        return (self.primary, self.default)

    def place(self, content: Content, labels: Labels) -> Range:
        return self.primary.place(content, labels)

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        value = self.primary.decode(content, labels, scope, diags)
        # DefaultSpec: only null counts as missing; an unknown value may turn out not to
        # be.
        if value.is_null:
            return self.default.decode(content, labels, scope, diags)
        return value


class Wrapper(Spec):
    """A piece that post-processes the value of another."""

    __slots__ = ("wrapped",)

    wrapped: Spec

    def __init__(self, wrapped: Spec) -> None:
        self.wrapped = wrapped

    @property
    def implied_type(self) -> Type:
        return self.wrapped.implied_type

    def children(self) -> Sequence[Spec]:
        return (self.wrapped,)

    def place(self, content: Content, labels: Labels) -> Range:
        return self.wrapped.place(content, labels)

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        errors = diags.error_count
        value = self.wrapped.decode(content, labels, scope, diags)
        # TransformFuncSpec and ValidateSpec: a wrong value is not processed further.
        if diags.error_count > errors:
            return self.placeholder
        return self.finish(value, self.place(content, labels), diags)

    @abstractmethod
    def finish(self, value: Value, where: Range, diags: Diagnostics) -> Value:
        """Post-process the wrapped piece's value."""


class TransformExpr(Wrapper):
    """The value of an expression that refers to the wrapped piece's value by a name."""

    __slots__ = ("expr", "name", "scope")

    expr: Expression
    scope: Scope
    name: str

    def __init__(self, wrapped: Spec, expr: Expression, scope: Scope, name: str) -> None:
        super().__init__(wrapped)
        self.expr = expr
        self.scope = scope
        self.name = name

    @property
    def implied_type(self) -> Type:
        # hcldec evaluates the expression with an unknown value to find its type.
        example = unknown(without_optional(self.wrapped.implied_type))
        return self._value(example, Diagnostics()).type

    def finish(self, value: Value, where: Range, diags: Diagnostics) -> Value:
        return self._value(value, diags)

    def _value(self, value: Value, diags: Diagnostics) -> Value:
        return self.expr.value(Scope({self.name: value}, parent=self.scope), diags)


class TransformFunction(Wrapper):
    """The result of a function called with the wrapped piece's value."""

    __slots__ = ("function",)

    function: Function

    def __init__(self, wrapped: Spec, function: Function) -> None:
        super().__init__(wrapped)
        self.function = function

    @property
    def implied_type(self) -> Type:
        try:
            return self.function.return_type_for([unknown(self.wrapped.implied_type)])
        except CtyError:
            return DYNAMIC

    def finish(self, value: Value, where: Range, diags: Diagnostics) -> Value:
        try:
            return self.function.call([value])
        except CtyError as error:
            diags.error("Invalid value", f"This value cannot be used: {error.message}.", where)
            return self.placeholder


class Refine(Wrapper):
    """The wrapped piece's value with an added refinement."""

    __slots__ = ("refinement",)

    refinement: Refinement

    def __init__(self, wrapped: Spec, refinement: Refinement) -> None:
        super().__init__(wrapped)
        self.refinement = refinement

    def finish(self, value: Value, where: Range, diags: Diagnostics) -> Value:
        return refine(value, self.refinement)


class Validate(Wrapper):
    """The wrapped piece's value, checked by a callback that reports mistakes."""

    __slots__ = ("check",)

    check: Callable[[Value, Range, Diagnostics], None]

    def __init__(self, wrapped: Spec, check: Callable[[Value, Range, Diagnostics], None]) -> None:
        super().__init__(wrapped)
        self.check = check

    def finish(self, value: Value, where: Range, diags: Diagnostics) -> Value:
        self.check(value, where, diags)
        return value
