"""Decoding bodies into dataclasses, for Python authors who have a fixed shape in mind.

    @dataclass
    class Check:
        kind: Annotated[str, Label()]
        every: int = 30

    @dataclass
    class Service:
        name: Annotated[str, Label()]
        port: int
        level: Literal["low", "high"] = "low"
        hosts: list[str] = field(default_factory=list)
        checks: Annotated[list[Check], Named("check")] = field(default_factory=list)
        more: Annotated[Body, Remain()] | None = None

    service = decode_dataclass(Service, block.body, scope, diags, labels_of(block))

The annotations say what to read. A field of a dataclass type is a nested block, a list or tuple of
one any number of blocks, a dict of one blocks by their first label; written as an argument, it is
an object, a list or a map of objects. Every other field is an argument of whatever type
`nigari.cty.annotations` knows, `Expression` for the expression itself, or `Attribute`. A field with
a default, or whose type allows None, may be left out. Classes of attrs and pydantic do as well.
What a constructor raises is reported at the block, or at the field that it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast, get_origin

from nigari.arguments import check_kind
from nigari.cty.annotations import Named
from nigari.cty.errors import CtyError, Step
from nigari.cty.models import failure_text, is_model, make_model
from nigari.cty.paths import GetAttr, Path, index_step
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, Body, Content
from nigari.hcl.dataclass_fields import (
    ARGUMENT,
    BLOCK,
    BLOCKS,
    LABEL,
    REMAIN,
    Argument,
    DecodedField,
    Label,
    Remain,
    body_schema,
    fields_of,
    label_names,
)
from nigari.hcl.decode import Labels, labels_of
from nigari.hcl.evaluation import as_sentence, sentence
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.hcl.reference_values import scope_values
from nigari.hcl.scope import Scope, check_scope
from nigari.hcl.static import expr_part

__all__ = [
    "Argument",
    "Label",
    "Locations",
    "Named",
    "Remain",
    "decode_dataclass",
]

T = TypeVar("T")


class Locations:
    """The source ranges of decoded objects and their fields."""

    __slots__ = ("_objects", "_ranges")

    def __init__(self) -> None:
        self._objects: list[object] = []
        self._ranges: dict[tuple[int, str], Range] = {}

    def of(self, obj: object, field: str = "") -> Range | None:
        """Return the range of a field of an object, or of its block's header.

        None for a field with its default, and for objects that were not decoded here.
        """
        return self._ranges.get((id(obj), field))

    def note(self, obj: object, ranges: dict[str, Range]) -> None:
        """Record the ranges of an object and its fields. This keeps the object alive, as identities
        are reused otherwise.
        """
        self._objects.append(obj)
        for field, where in ranges.items():
            self._ranges[id(obj), field] = where


def decode_dataclass(
    cls: type[T],
    body: Body,
    scope: Scope,
    diags: Diagnostics,
    labels: Labels = (),
    locations: Locations | None = None,
) -> T | None:
    """Decode a body into an object of the class; return None after an error."""
    check_kind("what is decoded", body, Body)
    check_kind("what mistakes are appended to", diags, Diagnostics)
    check_scope(scope)
    run = _Run(scope, diags, locations)
    found = run.decode(cls, body, labels, body.missing_item_range, None)
    return cast(T | None, found)


class _Run:
    """State shared by all bodies of one decoding."""

    __slots__ = ("diags", "locations", "scope")

    def __init__(self, scope: Scope, diags: Diagnostics, locations: Locations | None) -> None:
        self.scope = scope
        self.diags = diags
        self.locations = locations

    def decode(
        self, cls: type[object], body: Body, labels: Labels, where: Range, context: Range | None
    ) -> object:
        """Decode one body; `where` is the range of its header, `context` that of the whole block."""
        fields = [_as_written(field, body) for field in fields_of(cls)]
        errors = self.diags.error_count
        schema = body_schema(fields)
        if any(field.kind == REMAIN for field in fields):
            content, rest = body.partial_content(schema, self.diags)
        else:
            content, rest = body.content(schema, self.diags), body
        given: dict[str, object] = {}
        ranges = {"": where}
        remaining = list(labels)
        for field in fields:
            if field.kind == LABEL:
                if remaining:
                    self._label(field, remaining.pop(0), given, ranges)
            elif field.kind == REMAIN:
                given[field.field.keyword] = rest
            elif field.kind == ARGUMENT:
                self._argument(field, content, given, ranges)
            else:
                self._blocks(field, content, given, ranges)
        if self.diags.error_count > errors:
            return None
        try:
            made = make_model(cls, given)
        except Exception as error:  # noqa: BLE001 - a user's constructor may raise anything
            self._report_refusal(error, fields, content, where, context)
            return None
        if self.locations is not None:
            self.locations.note(made, ranges)
        return made

    def _label(
        self,
        field: DecodedField,
        label: tuple[str, Range],
        given: dict[str, object],
        ranges: dict[str, Range],
    ) -> None:
        from nigari.cty.values import string

        assert field.shape is not None
        text, where = label
        try:
            given[field.field.keyword] = field.shape.read(string(text))
            ranges[field.field.name] = where
        except CtyError as error:
            self.diags.error(
                "Wrong label", f'Invalid label "{field.written}": {sentence(error)}', where
            )

    def _argument(
        self,
        field: DecodedField,
        content: Content,
        given: dict[str, object],
        ranges: dict[str, Range],
    ) -> None:
        name = field.field.keyword
        attribute = content.attributes.get(field.written)
        if attribute is None:
            if field.may_be_none and not field.field.has_default:
                given[name] = None
            return
        ranges[field.field.name] = attribute.expr.range
        if field.bare is Expression:
            given[name] = attribute.expr
            return
        if field.bare is Attribute:
            given[name] = attribute
            return
        errors = self.diags.error_count
        value = attribute.expr.value(self.scope, self.diags)
        if self.diags.error_count > errors:
            return
        assert field.shape is not None
        try:
            given[name] = field.shape.read(value)
        except CtyError as error:
            self._report_argument(attribute, error)
            return
        if self.locations is not None:
            _note_objects(given[name], attribute.expr, self.locations)

    def _report_argument(self, attribute: Attribute, error: CtyError) -> None:
        part = expr_part(attribute.expr, error.path)
        self.diags.error(
            "Wrong value type",
            f'Invalid value for the argument "{attribute.name}": {sentence(error)}',
            part.start_range,
            attribute.expr.range,
            values=scope_values(part, self.scope),
        )

    def _report_refusal(
        self,
        error: Exception,
        fields: list[DecodedField],
        content: Content,
        where: Range,
        context: Range | None,
    ) -> None:
        """Report an exception of a constructor: at the fields that it names, as pydantic does,
        otherwise at the block.
        """
        for path, text in _named_faults(error):
            name = str(path[0]) if path else ""
            known = [each for each in fields if name in (each.field.name, each.field.keyword)]
            attribute = content.attributes.get(known[0].written) if known else None
            if attribute is None:
                which = f"{known[0].written}: " if known else ""
                self.diags.error("Invalid values", f"{which}{as_sentence(text)}", where, context)
                continue
            part = expr_part(attribute.expr, _steps(path[1:]))
            self.diags.error(
                "Wrong value",
                f'Invalid value for the argument "{attribute.name}": {as_sentence(text)}',
                part.start_range,
                attribute.expr.range,
                values=scope_values(part, self.scope),
            )

    def _blocks(
        self,
        field: DecodedField,
        content: Content,
        given: dict[str, object],
        ranges: dict[str, Range],
    ) -> None:
        blocks = content.blocks_of(field.written)
        name, nested = field.field.keyword, field.nested
        assert nested is not None
        if blocks:
            ranges[field.field.name] = blocks[0].def_range
        if field.kind == BLOCK:
            self._one_block(field, nested, blocks, content, given)
            return
        if not blocks and field.field.has_default:
            return
        if field.kind == BLOCKS:
            decoded = [self._block(nested, each, labels_of(each)) for each in blocks]
            given[name] = tuple(decoded) if get_origin(field.bare) is tuple else decoded
            return
        by_label: dict[str, object] = {}
        has_own = bool(label_names(nested))
        for block in blocks:
            if block.labels[0] in by_label:
                self._report_duplicate(block, f'with the label "{block.labels[0]}"')
            labels = labels_of(block) if has_own else labels_of(block)[1:]
            by_label[block.labels[0]] = self._block(nested, block, labels)
        given[name] = by_label

    def _block(self, nested: type[object], block: Block, labels: Labels) -> object:
        return self.decode(nested, block.body, labels, block.def_range, block.range)

    def _one_block(
        self,
        field: DecodedField,
        nested: type[object],
        blocks: list[Block],
        content: Content,
        given: dict[str, object],
    ) -> None:
        if len(blocks) > 1:
            self._report_duplicate(blocks[1], "here")
        if blocks:
            block = blocks[0]
            given[field.field.keyword] = self._block(nested, block, labels_of(block))
        elif field.may_be_none and not field.field.has_default:
            given[field.field.keyword] = None
        elif field.required:
            self.diags.error(
                "Missing block",
                f'A block of type "{field.written}" is required here.',
                content.missing_item_range,
            )

    def _report_duplicate(self, block: Block, where: str) -> None:
        self.diags.error(
            "Duplicate block",
            f'Only one block of type "{block.type}" is allowed {where}.',
            block.def_range,
        )


def _note_objects(made: object, expr: Expression, locations: Locations) -> None:
    """Record the ranges of objects that were decoded from an argument."""
    pending: list[tuple[object, Expression]] = [(made, expr)]
    while pending:
        obj, whole = pending.pop()
        parts: list[tuple[str, object, Expression]] = []
        for field, part, step in _parts_of(obj):
            written = expr_part(whole, (step,))
            if written is not whole:
                parts.append((field, part, written))
        if is_model(type(obj)):
            locations.note(obj, {"": whole.range, **{field: at.range for field, _, at in parts}})
        pending.extend([(part, at) for _, part, at in parts])


def _parts_of(obj: object) -> list[tuple[str, object, Step]]:
    """List the parts of a decoded object: the field name, the part, and the step to it."""
    if is_model(type(obj)):
        fields = fields_of(type(obj))
        return [
            (each.field.name, getattr(obj, each.field.name), GetAttr(each.written))
            for each in fields
        ]
    if isinstance(obj, dict):
        return [("", part, GetAttr(str(key))) for key, part in obj.items()]
    if isinstance(obj, list | tuple):
        return [("", part, index_step(i)) for i, part in enumerate(obj)]
    return []


def _as_written(field: DecodedField, body: Body) -> DecodedField:
    """Choose the form of a field: blocks, or an argument if the body has one of that name."""
    if field.nested is not None and isinstance(body, NativeBody):
        if field.written in body.attributes and field.written not in body.hidden_attributes:
            return field.as_argument()
    return field


def _named_faults(error: Exception) -> list[tuple[Sequence[object], str]]:
    """Split an exception into messages, each with the path to the wrong field."""
    list_errors = getattr(error, "errors", None)
    if callable(list_errors):
        found = list_errors()
        if isinstance(found, list) and found and isinstance(found[0], dict) and "msg" in found[0]:
            return [(each.get("loc", ()), str(each["msg"])) for each in found]
    return [((), failure_text(error))]


def _steps(path: Sequence[object]) -> Path:
    return tuple(
        [GetAttr(each) if isinstance(each, str) else index_step(int(str(each))) for each in path]
    )
