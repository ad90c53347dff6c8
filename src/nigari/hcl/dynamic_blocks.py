"""Expansion of `dynamic` blocks, each of which produces one block per element of its `for_each`.

dynamic "TYPE" {
for_each = …           # a collection; evaluated in the scope passed to `expand`
iterator = NAME        # the name of the current element inside; TYPE by default
labels   = [ … ]       # only for block types with labels
content { … }          # the body of each block
}

`expand` returns a body with the produced blocks in place; nothing is evaluated until a schema is
applied to it. If `for_each` is unknown, one block represents them all and everything in it is
unknown. Deliberately unknown here: which blocks of a language allow `dynamic`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.cty.copying import reduced
from nigari.cty.values import DYNAMIC_UNKNOWN, NO_MARKS, Mark, Value, object_value
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import (
    Attribute,
    AttributeSchema,
    Block,
    BlockSchema,
    Body,
    BodySchema,
    Content,
    report_second_form,
)
from nigari.hcl.decode import Expr, Spec, same_body_pieces, schema_of
from nigari.hcl.decode_blocks import BlockAttrs, BlocksSpec
from nigari.hcl.dynamic_template import (
    CONTENT,
    DYNAMIC_BLOCK,
    ITERATOR,
    Template,
    for_each_value,
    iterator_name,
    label_text,
    read_template,
)
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.traversal import Traversal

_ANY_PART = BodySchema(
    (AttributeSchema("for_each"), ITERATOR, AttributeSchema("labels")), (CONTENT,)
)

Iterators = Mapping[str, Value]
"""Values of the enclosing iterators' names in one block."""

_NO_ITERATORS: Iterators = {}


def expand(body: Body, scope: Scope) -> Body:
    """Expand the `dynamic` blocks of a body, at every depth.

    The expressions of `for_each` and `labels` are evaluated in the scope; those of the content in
    the scope of the later evaluation.
    """
    return ExpandedBody(body, scope, _NO_ITERATORS, NO_MARKS)


def is_dynamic(body: Body, spec: Spec) -> bool:
    """Check for `dynamic` blocks in the body, at any depth."""
    return any(True for _ in expand_expressions(body, spec, content=False))


def expand_variables(body: Body, spec: Spec, content: bool = True) -> list[Traversal]:
    """List every reference that expanding the body and then decoding it would evaluate.

    Without `content`, only those that expansion itself evaluates. References to iterators are
    excluded.
    """
    found: list[Traversal] = []
    for expression, bound in expand_expressions(body, spec, content):
        expression.add_variables(found, bound)
    return found


def expand_expressions(
    body: Body, spec: Spec, content: bool = True
) -> Iterator[tuple[Expression, frozenset[str]]]:
    """Yield the expressions behind `expand_variables`, each with the names of its iterators."""
    return _expressions(body, spec, frozenset(), content)


class IteratedExpression(Expression):
    """An expression in a dynamic block's content, with values for the iterators."""

    __slots__ = ("inner", "iterators", "marks")

    source: Source
    start: int
    end: int
    inner: Expression
    iterators: Iterators
    marks: frozenset[Mark]

    def __init__(self, inner: Expression, iterators: Iterators, marks: frozenset[Mark]) -> None:
        self.source = inner.source
        self.start = inner.start
        self.end = inner.end
        self.inner = inner
        self.iterators = iterators
        self.marks = marks

    def start_span(self) -> tuple[int, int]:
        return self.inner.start_span()

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        if self.iterators:
            scope = Scope(self.iterators, parent=scope)
        return self.inner.value(scope, diags).with_marks(self.marks)

    def children(self) -> list[Expression]:
        return [self.inner]

    def add_variables(self, found: list[Traversal], bound: frozenset[str]) -> None:
        self.inner.add_variables(found, bound.union(self.iterators))

    def static_traversal(self) -> Traversal | None:
        return self.inner.static_traversal()

    def static_list(self) -> list[Expression] | None:
        elements = self.inner.static_list()
        return None if elements is None else [self._same_place(element) for element in elements]

    def static_map(self) -> list[tuple[Expression, Expression]] | None:
        items = self.inner.static_map()
        if items is None:
            return None
        return [(self._same_place(key), self._same_place(value)) for key, value in items]

    def _same_place(self, part: Expression) -> Expression:
        return IteratedExpression(part, self.iterators, self.marks)


class UnknownExpression(Expression):
    """An expression in a block that may never exist, so that its value is unknown."""

    __slots__ = ("inner", "unknown")

    source: Source
    start: int
    end: int
    inner: Expression
    unknown: Value

    def __init__(self, inner: Expression, unknown: Value) -> None:
        self.source = inner.source
        self.start = inner.start
        self.end = inner.end
        self.inner = inner
        self.unknown = unknown

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return self.unknown

    def children(self) -> list[Expression]:
        return []


class ExpandedBody(Body):
    """A body with the produced blocks in place of its `dynamic` blocks.

    `hidden_attributes` and `hidden_blocks` were selected by an earlier `partial_content`. They are
    recorded here instead of in the original body, which must continue to offer all `dynamic`
    blocks.
    """

    __slots__ = ("_marks", "hidden_attributes", "hidden_blocks", "iterators", "original", "scope")

    original: Body
    scope: Scope
    iterators: Iterators
    hidden_attributes: frozenset[str]

    def __init__(
        self,
        original: Body,
        scope: Scope,
        iterators: Iterators,
        marks: frozenset[Mark],
        hidden_attributes: frozenset[str] = frozenset(),
        hidden_blocks: Mapping[str, BlockSchema] | None = None,
    ) -> None:
        self.original = original
        self.scope = scope
        self.iterators = iterators
        self._marks = marks
        self.hidden_attributes = hidden_attributes
        self.hidden_blocks: dict[str, BlockSchema] = (
            {} if hidden_blocks is None else dict(hidden_blocks)
        )

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(
            self, ("original", "scope", "iterators", "marks", "hidden_attributes", "hidden_blocks")
        )

    @property
    def missing_item_range(self) -> Range:
        return self.original.missing_item_range

    @property
    def marks(self) -> frozenset[Mark]:
        return self._marks

    def content(self, schema: BodySchema, diags: Diagnostics) -> Content:
        written = self.original.content(self._extended(schema), diags)
        return self._expanded(written, schema, False, diags)

    def partial_content(self, schema: BodySchema, diags: Diagnostics) -> tuple[Content, Body]:
        written, _ = self.original.partial_content(self._extended(schema), diags)
        rest = ExpandedBody(
            self.original,
            self.scope,
            self.iterators,
            self._marks,
            self.hidden_attributes.union([wanted.name for wanted in schema.attributes]),
            {**self.hidden_blocks, **{wanted.type: wanted for wanted in schema.blocks}},
        )
        return self._expanded(written, schema, True, diags), rest

    def just_attributes(self, diags: Diagnostics) -> dict[str, Attribute]:
        return self._attributes(self.original.just_attributes(diags))

    def _extended(self, schema: BodySchema) -> BodySchema:
        attributes = schema.attributes
        if self.hidden_attributes:
            asked = {wanted.name for wanted in attributes}
            hidden = [AttributeSchema(name) for name in self.hidden_attributes - asked]
            attributes = (*attributes, *hidden)
        asked = {wanted.type for wanted in schema.blocks}
        more = [wanted for name, wanted in self.hidden_blocks.items() if name not in asked]
        # Items selected earlier must stay in the schema, or the body would report them as
        # unexpected.
        return BodySchema(attributes, (*schema.blocks, DYNAMIC_BLOCK, *more))

    def _expanded(
        self, written: Content, schema: BodySchema, partial: bool, diags: Diagnostics
    ) -> Content:
        types = {wanted.type: wanted for wanted in schema.blocks}
        blocks: list[Block] = []
        for block in written.blocks:
            if block.type != "dynamic":
                if block.type not in self.hidden_blocks:
                    blocks.append(block.with_body(self._nested(block.body, NO_MARKS)))
                continue
            made = block.labels[0]
            # An earlier partial_content has expanded it.
            if made in self.hidden_blocks:
                continue
            wanted = types.get(made)
            if wanted is None:
                if not partial:
                    _report_unexpected_type(block, schema, diags)
            elif made in written.attributes:
                report_second_form(written.attributes[made], block.label_ranges[0], diags)
            else:
                self._expand_block(block, wanted, blocks, diags)
        return Content(self._attributes(written.attributes), blocks, self)

    def _attributes(self, written: dict[str, Attribute]) -> dict[str, Attribute]:
        hidden = self.hidden_attributes
        if hidden:
            written = {name: item for name, item in written.items() if name not in hidden}
        if not self.iterators and not self._marks:
            return written
        return {
            name: item.with_expr(IteratedExpression(item.expr, self.iterators, self._marks))
            for name, item in written.items()
        }

    def _nested(self, body: Body, marks: frozenset[Mark]) -> ExpandedBody:
        return ExpandedBody(body, self.scope, self.iterators, marks)

    def _expand_block(
        self, block: Block, wanted: BlockSchema, blocks: list[Block], diags: Diagnostics
    ) -> None:
        """Append the blocks that a dynamic block produces."""
        template = read_template(block, wanted, diags)
        if template is None:
            return
        collection = for_each_value(template.for_each, self.scope, diags)
        if collection is None:
            # After the error just reported, a missing block must not cause another.
            # With labels, a block that represents others would need some, and there
            # are none.
            if not wanted.labels:
                self._expand_unknown(template, DYNAMIC_UNKNOWN, blocks, diags)
        elif not collection.is_known:
            self._expand_unknown(template, collection, blocks, diags)
        else:
            # Marks of the collection reveal the number of blocks, so all values in
            # them carry the marks.
            plain, marks = collection.unmark()
            for key, element in plain.items():
                made = self._one_block(template, key, element, marks, diags)
                if made is not None:
                    blocks.append(made)

    def _expand_unknown(
        self, template: Template, origin: Value, blocks: list[Block], diags: Diagnostics
    ) -> None:
        stand_in = DYNAMIC_UNKNOWN.with_causes(origin.causes)
        # dynblock.unknownBody: one block stands for all, so that its content is still
        # checked against the schema.
        made = self._one_block(template, stand_in, stand_in, origin.marks, diags)
        if made is not None:
            blocks.append(made.with_body(UnknownBody(made.body, origin.causes)))

    def _one_block(
        self,
        template: Template,
        key: Value,
        element: Value,
        marks: frozenset[Mark],
        diags: Diagnostics,
    ) -> Block | None:
        # dynblock: the iterator is an object with key and value.
        current = object_value({"key": key, "value": element})
        # Iterators of enclosing dynamic blocks stay visible; an inner one of the same
        # name hides them.
        iterators = {**self.iterators, template.iterator: current}
        scope = Scope({template.iterator: current}, parent=self.scope)
        labels: list[str] = []
        for expr in template.labels:
            label = label_text(expr, scope, diags)
            if label is None:
                return None
            labels.append(label)
        body = ExpandedBody(template.content, scope, iterators, marks)
        return template.block(labels, body)


class UnknownBody(Body):
    """The body of a block that represents an unknown number of blocks; all its values are unknown.

    Its items are still checked against the schema, so that mistakes in them are reported.
    """

    __slots__ = ("causes", "template")

    template: Body
    causes: tuple[object, ...]

    def __init__(self, template: Body, causes: tuple[object, ...]) -> None:
        self.template = template
        self.causes = causes

    @property
    def unknown_causes(self) -> tuple[object, ...] | None:
        return self.causes

    @property
    def marks(self) -> frozenset[Mark]:
        return self.template.marks

    @property
    def missing_item_range(self) -> Range:
        return self.template.missing_item_range

    def content(self, schema: BodySchema, diags: Diagnostics) -> Content:
        return self._unknown(self.template.content(schema, diags))

    def partial_content(self, schema: BodySchema, diags: Diagnostics) -> tuple[Content, Body]:
        content, rest = self.template.partial_content(schema, diags)
        return self._unknown(content), UnknownBody(rest, self.causes)

    def just_attributes(self, diags: Diagnostics) -> dict[str, Attribute]:
        return self._attributes(self.template.just_attributes(diags))

    def _unknown(self, content: Content) -> Content:
        blocks = [block.with_body(UnknownBody(block.body, self.causes)) for block in content.blocks]
        return Content(self._attributes(content.attributes), blocks, self)

    def _attributes(self, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
        stand_in = DYNAMIC_UNKNOWN.with_causes(self.causes).with_marks(self.marks)
        return {
            name: item.with_expr(UnknownExpression(item.expr, stand_in))
            for name, item in attributes.items()
        }


# -- references ---------------------------------------------------------------------------------


def _expressions(
    body: Body, spec: Spec, bound: frozenset[str], with_content: bool
) -> Iterator[tuple[Expression, frozenset[str]]]:
    schema = schema_of(spec)
    extended = BodySchema(schema.attributes, (*schema.blocks, DYNAMIC_BLOCK))
    content, _ = body.partial_content(extended, Diagnostics())
    if with_content:
        for attribute in content.attributes.values():
            yield attribute.expr, bound
    pieces = same_body_pieces(spec)
    nested = {piece.type_name: piece for piece in pieces if isinstance(piece, BlocksSpec)}
    loose = {piece.type_name for piece in pieces if isinstance(piece, BlockAttrs)}
    for block in content.blocks:
        type_name, block_body, inside = block.type, block.body, bound
        if type_name == "dynamic":
            type_name = block.labels[0]
            if type_name not in nested and type_name not in loose:
                continue
            parts, _ = block.body.partial_content(_ANY_PART, Diagnostics())
            name = iterator_name(parts, block, Diagnostics())
            if name is None or not parts.blocks:
                continue
            inside = bound | {name}
            block_body = parts.blocks[0].body
            # for_each is evaluated outside of the iterator, labels within it.
            for part, names in (("for_each", bound), ("labels", inside)):
                if part in parts.attributes:
                    yield parts.attributes[part].expr, names
        piece = nested.get(type_name)
        if piece is not None:
            yield from _expressions(block_body, piece.nested, inside, with_content)
        elif type_name in loose and with_content:
            for attribute in block_body.just_attributes(Diagnostics()).values():
                yield attribute.expr, inside
    if with_content:
        for own in pieces:
            if isinstance(own, Expr):
                yield own.expr, frozenset()


# -- diagnostics --------------------------------------------------------------------------------


def _report_unexpected_type(block: Block, schema: BodySchema, diags: Diagnostics) -> None:
    made = block.labels[0]
    hint = did_you_mean(made, [wanted.type for wanted in schema.blocks])
    diags.error(
        "Unexpected block",
        f'There is no block type "{made}" here, so a dynamic block cannot produce one.{hint}',
        block.label_ranges[0],
    )
