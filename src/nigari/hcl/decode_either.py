"""A specification piece that reads an argument or, in its place, nested blocks.

rule = [{ port = 80 }]          rule { port = 80 }

Some languages accept a list of objects in either form. If the argument is present it is used, which
is always the case in the JSON syntax, where both forms look the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.cty.convert import convert
from nigari.cty.types import ListType, SetType, Type, without_optional
from nigari.cty.values import Value, list_value, null
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import AttributeSchema, Block, Content, report_second_form
from nigari.hcl.decode import Labels, Spec, convert_or_report
from nigari.hcl.decode_blocks import RepeatedBlocks
from nigari.hcl.scope import Scope
from nigari.hcl.traversal import Traversal


class ArgumentOrBlocks(RepeatedBlocks):
    """A list or set of objects: the value of an argument, or one object from each block.

    Null if neither is present. In a block every argument may be omitted, which makes it null; in
    the argument form objects must be complete, as for any conversion.
    """

    __slots__ = ("type",)

    def __init__(self, name: str, type: ListType | SetType, nested: Spec) -> None:
        super().__init__(name, nested)
        self.type: Type = type

    @property
    def implied_type(self) -> Type:
        return self.type

    def attributes(self) -> Sequence[AttributeSchema]:
        return (AttributeSchema(self.type_name),)

    def own_variables(self, content: Content) -> list[Traversal]:
        attribute = content.attributes.get(self.type_name)
        if attribute is not None:
            return attribute.expr.variables()
        return super().own_variables(content)

    def place(self, content: Content, labels: Labels) -> Range:
        attribute = content.attributes.get(self.type_name)
        return super().place(content, labels) if attribute is None else attribute.expr.range

    def decode(self, content: Content, labels: Labels, scope: Scope, diags: Diagnostics) -> Value:
        attribute = content.attributes.get(self.type_name)
        blocks = content.blocks_of(self.type_name)
        if attribute is not None:
            if blocks:
                report_second_form(attribute, blocks[0].type_range, diags)
            value = attribute.expr.value(scope, diags)
            return convert_or_report(value, self.type, attribute, scope, diags)
        if not blocks:
            return null(without_optional(self.type))
        # In the argument form, the expression would have added these marks.
        return super().decode(content, labels, scope, diags).with_marks(content.body.marks)

    def collect(self, values: list[Value], blocks: list[Block], diags: Diagnostics) -> Value:
        unified = self.unified(values, blocks, diags)
        return self.placeholder if unified is None else convert(list_value(*unified), self.type)
