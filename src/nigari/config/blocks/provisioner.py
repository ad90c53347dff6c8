"""`provisioner` and `connection` blocks: actions after a resource is created, or before it is
destroyed.
"""

from __future__ import annotations

from nigari.config.core.declared import (
    only_block,
    report_reserved_blocks,
    schema,
    with_escaped,
)
from nigari.config.core.literals import is_quoted, is_written_out, unquoted
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, Body
from nigari.hcl.expressions import Expression
from nigari.hcl.override_body import OverrideBody
from nigari.hcl.scope import Scope
from nigari.hcl.static import expr_as_keyword
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.traversal import Traversal, TraverseAttr
from nigari.record import record


@record
class Connection:
    """A `connection` block, by which provisioners reach the created machine."""

    block: Block

    @property
    def body(self) -> Body:
        """The arguments, which depend on the connection type."""
        return self.block.body

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


@record
class Provisioner:
    """A `provisioner` block. Its body is decoded later, by the schema of its type."""

    type: str
    when: Expression | None
    """`create` or `destroy` as a keyword, or an expression that evaluates to one of them as a
    string.
    """
    on_failure: Expression | None
    """`continue` or `fail`, in the same two forms."""
    connection: Connection | None
    body: Body
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range

    def connection_over(self, base: Connection | None) -> Body | None:
        """Merge this provisioner's own connection over that of its resource."""
        own = self.connection
        if base is None or own is None:
            found = own or base
            return None if found is None else found.body
        return OverrideBody(base.body, own.body)

    @property
    def is_written_destroy(self) -> bool:
        """True for the literal keyword `destroy`."""
        return self.when is not None and expr_as_keyword(self.when) == "destroy"


_SCHEMA = schema("when", "on_failure", blocks=("_", "connection", "lifecycle"))
_RESERVED = frozenset(("lifecycle",))
_REMOVED = frozenset(("chef", "habitat", "puppet", "salt-masterless"))
_AT_DESTROY = frozenset(("self", "path", "terraform", "tofu"))


def decode_provisioner(block: Block, diags: Diagnostics) -> Provisioner | None:
    """Decode a `provisioner` block; None for a removed type."""
    content, rest = block.body.partial_content(_SCHEMA, diags)
    if block.labels[0] in _REMOVED:
        _report_removed(block, diags)
        return None
    found = only_block(content, "connection", diags)
    report_reserved_blocks(content, _RESERVED, diags)
    given = content.attributes
    provisioner = Provisioner(
        block.labels[0],
        _keyword(given.get("when"), ("create", "destroy"), diags),
        _keyword(given.get("on_failure"), ("continue", "fail"), diags),
        None if found is None else Connection(found),
        with_escaped(content, rest, diags),
        block,
    )
    if provisioner.is_written_destroy:
        check_destroy_references(provisioner.body, diags)
        if provisioner.connection is not None:
            check_destroy_references(provisioner.connection.body, diags)
    return provisioner


def _keyword(
    attribute: Attribute | None, words: tuple[str, ...], diags: Diagnostics
) -> Expression | None:
    """Return an argument that is one of several keywords, or an expression that evaluates to one as
    a string.
    """
    if attribute is None:
        return None
    expr = attribute.expr
    if is_quoted(expr):
        expr = unquoted(expr, "keyword", diags)
    word = expr_as_keyword(expr)
    if word is None and is_written_out(expr):
        word = str(expr.value(Scope(), Diagnostics()).data)
    if word is None or word in words:
        return expr
    _report_keyword(attribute, word, words, diags)
    return None


def check_destroy_references(body: Body, diags: Diagnostics) -> None:
    """Report references that are unavailable while a resource is destroyed."""
    for attribute in body.just_attributes(Diagnostics()).values():
        for traversal in attribute.expr.variables():
            if not _is_known_at_destroy(traversal):
                _report_destroy_reference(traversal, attribute, diags)


def _is_known_at_destroy(traversal: Traversal) -> bool:
    root = traversal.root_name
    if root in _AT_DESTROY:
        return True
    if len(traversal) != 2:
        return False
    step = traversal[1]
    name = step.name if isinstance(step, TraverseAttr) else ""
    return (root, name) in (("count", "index"), ("each", "key"))


def _report_keyword(
    attribute: Attribute, word: str, words: tuple[str, ...], diags: Diagnostics
) -> None:
    diags.error(
        f'Invalid "{attribute.name}"',
        f'The argument "{attribute.name}" must be {" or ".join(words)}, or an expression that '
        f"evaluates to one of these strings.{did_you_mean(word, words)}",
        attribute.expr.range,
    )


def _report_removed(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Provisioner no longer supported",
        f'The "{block.labels[0]}" provisioner no longer exists. Use local-exec or remote-exec to '
        "run its program.",
        block.label_ranges[0],
    )


def _report_destroy_reference(
    traversal: Traversal, attribute: Attribute, diags: Diagnostics
) -> None:
    diags.error(
        "Reference from a destroy provisioner",
        f"{traversal} may no longer exist when this provisioner runs. Only self, "
        "count.index and each.key can be used here: store what is needed in an attribute of the "
        "resource.",
        attribute.expr.range,
    )
