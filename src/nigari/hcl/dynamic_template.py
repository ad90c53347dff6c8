"""The template of a `dynamic` block: its collection and the content of the blocks it produces.

Owns reading the template from its body, and evaluating it in a scope that the caller passes.
Deliberately unknown here: the bodies of the produced blocks.
"""

from __future__ import annotations

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import DYNAMIC, STRING, CollectionType, ObjectType, TupleType, Type
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import AttributeSchema, Block, BlockSchema, Body, BodySchema, Content
from nigari.hcl.evaluation import as_sentence, sentence
from nigari.hcl.expressions import Expression
from nigari.hcl.quoting import at_the_start, with_article
from nigari.hcl.reference_values import scope_values
from nigari.hcl.scope import Scope
from nigari.hcl.static import abs_traversal_for_expr, expr_list

DYNAMIC_BLOCK = BlockSchema("dynamic", ("type",))
_FOR_EACH = AttributeSchema("for_each", True)
ITERATOR = AttributeSchema("iterator")
_LABELS = AttributeSchema("labels", True)
CONTENT = BlockSchema("content")
_WITHOUT_LABELS = BodySchema((_FOR_EACH, ITERATOR), (CONTENT,))
_WITH_LABELS = BodySchema((_FOR_EACH, ITERATOR, _LABELS), (CONTENT,))


class Template:
    """The content of a `dynamic` block, with its expressions unevaluated."""

    __slots__ = ("content", "for_each", "iterator", "labels", "written")

    written: Block
    for_each: Expression
    iterator: str
    labels: list[Expression]
    content: Body

    def __init__(
        self,
        written: Block,
        for_each: Expression,
        iterator: str,
        labels: list[Expression],
        content: Body,
    ) -> None:
        self.written = written
        self.for_each = for_each
        self.iterator = iterator
        self.labels = labels
        self.content = content

    def block(self, labels: list[str], body: Body) -> Block:
        """Build one of the produced blocks; its ranges are those of the original."""
        written = self.written
        start, end = written.label_spans[0]
        return Block(
            written.labels[0],
            labels,
            body,
            written.source,
            written.start,
            written.end,
            start,
            end,
            [(expr.start, expr.end) for expr in self.labels],
            written.def_start,
            written.def_end,
            written.open_start,
        )


def read_template(block: Block, wanted: BlockSchema, diags: Diagnostics) -> Template | None:
    """Read a `dynamic` block; None after an error."""
    errors = diags.error_count
    content = block.body.content(_WITH_LABELS if wanted.labels else _WITHOUT_LABELS, diags)
    iterator = iterator_name(content, block, diags)
    labels = _label_expressions(content, wanted, diags)
    if not content.blocks:
        _report_missing_content(content, diags)
    elif len(content.blocks) > 1:
        _report_second_content(content.blocks[1], diags)
    if diags.error_count > errors or iterator is None or labels is None:
        return None
    for_each = content.attributes["for_each"].expr
    return Template(block, for_each, iterator, labels, content.blocks[0].body)


def iterator_name(content: Content, block: Block, diags: Diagnostics) -> str | None:
    """Return the name of the iterator; None after an error."""
    attribute = content.attributes.get("iterator")
    if attribute is None:
        # dynblock: without an iterator argument, the block type is the name.
        return block.labels[0]
    # dynblock reads the iterator as a name; it is not evaluated.
    traversal = abs_traversal_for_expr(attribute.expr, diags)
    if traversal is None:
        return None
    if len(traversal) != 1:
        _report_iterator(attribute.expr, diags)
        return None
    return traversal.root_name


def _label_expressions(
    content: Content, wanted: BlockSchema, diags: Diagnostics
) -> list[Expression] | None:
    attribute = content.attributes.get("labels")
    if attribute is None:
        return []
    labels = expr_list(attribute.expr, diags)
    if labels is None:
        return None
    count = len(wanted.labels)
    if len(labels) != count:
        where = labels[count].range if len(labels) > count else attribute.expr.range
        _report_label_count(wanted, where, diags)
        return None
    return labels


def for_each_value(expr: Expression, scope: Scope, diags: Diagnostics) -> Value | None:
    """Evaluate the collection, which may be unknown; None after an error."""
    errors = diags.error_count
    value = expr.value(scope, diags)
    if diags.error_count > errors:
        return None
    if not _is_iterable(value.type):
        _report_not_iterable(value, expr, scope, diags)
        return None
    # dynblock rejects null, unlike a splat: an empty list is the way to have no blocks.
    if value.is_null:
        _report_null(expr, scope, diags)
        return None
    return value


def _is_iterable(type_: Type) -> bool:
    return type_ is DYNAMIC or isinstance(type_, CollectionType | TupleType | ObjectType)


def label_text(expr: Expression, scope: Scope, diags: Diagnostics) -> str | None:
    """Evaluate a label; None after an error."""
    errors = diags.error_count
    value = expr.value(scope, diags)
    if diags.error_count > errors:
        return None
    try:
        value = convert(value, STRING)
    except CtyError as error:
        _report_label(sentence(error), expr, scope, diags)
        return None
    if value.is_null:
        _report_label("it is null", expr, scope, diags)
    elif not value.is_known:
        _report_label("it is unknown, and labels must be known", expr, scope, diags)
    # dynblock: labels are part of the structure, which nothing can hide.
    elif value.is_marked:
        _report_label("labels are always shown, and this value is sensitive", expr, scope, diags)
    else:
        return value.as_string()
    return None


# -- diagnostics --------------------------------------------------------------------------------


def _report_iterator(expr: Expression, diags: Diagnostics) -> None:
    diags.error(
        "Invalid iterator name",
        "The iterator must be a single name, without dots: the content refers to the current "
        "element by it.",
        expr.range,
    )


def _report_label_count(wanted: BlockSchema, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Wrong number of labels",
        f"{at_the_start(with_article(wanted.type))} block takes these labels: {', '.join(wanted.labels)}. Give one "
        "expression for each of them.",
        where,
    )


def _report_missing_content(content: Content, diags: Diagnostics) -> None:
    diags.error(
        "Missing content block",
        "A dynamic block needs a nested content block, which becomes the body of each block it "
        "produces.",
        content.missing_item_range,
    )


def _report_second_content(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate content block",
        "A dynamic block has one content block. To produce blocks with different contents, write "
        "another dynamic block.",
        block.def_range,
    )


def _report_not_iterable(value: Value, expr: Expression, scope: Scope, diags: Diagnostics) -> None:
    diags.error(
        "Invalid for_each",
        f"This is {value.type.with_article()}, which cannot be iterated over. Use a list, a "
        "set or a map; for zero or one block, use [] or [value].",
        expr.range,
        values=scope_values(expr, scope),
    )


def _report_null(expr: Expression, scope: Scope, diags: Diagnostics) -> None:
    diags.error(
        "Invalid for_each",
        "This is null, which cannot be iterated over. For no blocks, use an empty list.",
        expr.range,
        values=scope_values(expr, scope),
    )


def _report_label(why: str, expr: Expression, scope: Scope, diags: Diagnostics) -> None:
    diags.error(
        "Invalid label of a dynamic block",
        f"This value cannot be used as a block label: {as_sentence(why)}",
        expr.range,
        values=scope_values(expr, scope),
    )
