"""Expressions and bodies with bound names, whose meaning is fixed wherever they are evaluated.

The caller binds an object to each name. A name bound as a whole hides the scope's value of that
name; otherwise only the object's attributes are bound, and the scope provides the rest.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cty.values import Mark, Value, object_value
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, Body, BodySchema, Content
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.traversal import Traversal, TraverseAttr


class Names:
    """Bound names: an object for each; `whole` names those that hide the scope's value entirely."""

    __slots__ = ("objects", "whole")

    def __init__(self, objects: Mapping[str, Value], whole: frozenset[str]) -> None:
        self.objects: Mapping[str, Value] = objects
        self.whole: frozenset[str] = whole

    def has(self, traversal: Traversal) -> bool:
        """Check that a reference leads to a bound value."""
        root = traversal.root_name
        if root in self.whole:
            return True
        found = self.objects.get(root)
        if found is None or len(traversal) < 2:
            return False
        step = traversal[1]
        # A partly bound name also has attributes of the outer scope, so the reference may
        # lead there.
        return isinstance(step, TraverseAttr) and step.name in found.mapping()

    def scope(self, outer: Scope) -> Scope:
        """Create a scope with the bound names."""
        variables: dict[str, Value] = {}
        for root, found in self.objects.items():
            known = None if root in self.whole else outer.variable(root)
            if known is None:
                variables[root] = found
            else:
                variables[root] = object_value({**known.mapping(), **found.mapping()})
        return Scope(variables, {}, outer)


class BoundExpression(Expression):
    __slots__ = ("inner", "names")

    def __init__(self, inner: Expression, names: Names) -> None:
        self.source: Source = inner.source
        self.start: int = inner.start
        self.end: int = inner.end
        self.inner: Expression = inner
        self.names: Names = names

    def start_span(self) -> tuple[int, int]:
        return self.inner.start_span()

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        return self.inner.value(self.names.scope(scope), diags)

    def children(self) -> list[Expression]:
        return [self.inner]

    def add_variables(self, found: list[Traversal], bound: frozenset[str]) -> None:
        inner: list[Traversal] = []
        self.inner.add_variables(inner, bound)
        found.extend([each for each in inner if not self.names.has(each)])

    def static_traversal(self) -> Traversal | None:
        return self.inner.static_traversal()

    def static_list(self) -> list[Expression] | None:
        return self.inner.static_list()

    def static_map(self) -> list[tuple[Expression, Expression]] | None:
        return self.inner.static_map()


class BoundBody(Body):
    """A body with names bound in all its expressions."""

    __slots__ = ("inner", "names")

    def __init__(self, inner: Body, names: Names) -> None:
        self.inner: Body = inner
        self.names: Names = names

    def content(self, schema: BodySchema, diags: Diagnostics) -> Content:
        return self._content(self.inner.content(schema, diags))

    def partial_content(self, schema: BodySchema, diags: Diagnostics) -> tuple[Content, Body]:
        content, rest = self.inner.partial_content(schema, diags)
        return self._content(content), BoundBody(rest, self.names)

    def just_attributes(self, diags: Diagnostics) -> dict[str, Attribute]:
        return self._attributes(self.inner.just_attributes(diags))

    @property
    def missing_item_range(self) -> Range:
        return self.inner.missing_item_range

    @property
    def unknown_causes(self) -> tuple[object, ...] | None:
        return self.inner.unknown_causes

    @property
    def marks(self) -> frozenset[Mark]:
        return self.inner.marks

    def _content(self, content: Content) -> Content:
        blocks: list[Block] = [
            each.with_body(BoundBody(each.body, self.names)) for each in content.blocks
        ]
        return Content(self._attributes(content.attributes), blocks, self)

    def _attributes(self, given: dict[str, Attribute]) -> dict[str, Attribute]:
        return {
            name: each.with_expr(BoundExpression(each.expr, self.names))
            for name, each in given.items()
        }
