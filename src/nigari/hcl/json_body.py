"""Bodies in the JSON syntax.

In JSON an argument and a nested block look the same, so the schema decides about each property.
Owns that decision, labels as nested objects, and arrays of bodies. `json_expressions` turns values
into expressions, and `json_parse` parses the text.
"""

from __future__ import annotations

from nigari.cty.copying import reduced
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import (
    Attribute,
    Block,
    BlockSchema,
    Body,
    BodySchema,
    Content,
    report_duplicate_argument,
    report_missing_argument,
)
from nigari.hcl.json_expressions import (
    JsonArray,
    JsonExpression,
    JsonInvalid,
    JsonKeyword,
    JsonObject,
    Property,
)
from nigari.hcl.json_parse import parse_json
from nigari.hcl.quoting import at_the_start, with_article
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean

_NONE: frozenset[str] = frozenset()
_REMARK = "//"
"""Name of a property that is a comment in an object that represents a body."""


def parse_json_body(source: Source, diags: Diagnostics) -> JsonBody:
    """Parse a whole JSON file as a body; without items if it is not one."""
    root = parse_json(source, diags)
    if isinstance(root, JsonObject | JsonArray):
        return JsonBody(root)
    if not isinstance(root, JsonInvalid):
        _report_wrong_root(root, diags)
    return JsonBody(JsonObject(source, root.start, root.start, [], ([], []), [], False))


def parse_json_expression(source: Source, diags: Diagnostics) -> JsonExpression:
    return parse_json(source, diags)


class JsonBody(Body):
    """An object, or an array of objects, as a body.

    `hidden` names the items that an earlier `partial_content` selected. A value of another kind is
    reported when the content of the body is requested.
    """

    __slots__ = ("hidden", "value")

    value: JsonExpression
    hidden: frozenset[str]

    def __init__(self, value: JsonExpression, hidden: frozenset[str] = _NONE) -> None:
        self.value = value
        self.hidden = hidden

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self, ("value", "hidden"))

    @property
    def source(self) -> Source:
        return self.value.source

    @property
    def range(self) -> Range:
        return self.value.range

    @property
    def missing_item_range(self) -> Range:
        value = self.value
        if isinstance(value, JsonObject):
            return value.close_range
        return value.start_range

    def content(self, schema: BodySchema, diags: Diagnostics) -> Content:
        properties = self._properties(diags)
        content = self._select(properties, schema, diags)
        known = {wanted.name for wanted in schema.attributes}
        known.update([wanted.type for wanted in schema.blocks])
        known |= self.hidden
        for item in properties:
            # JSON syntax of HCL: the property "//" is a comment in a body, but not in
            # an expression.
            if item.name not in known and item.name != _REMARK:
                self._report_unexpected(item, schema, content, diags)
        return content

    def partial_content(self, schema: BodySchema, diags: Diagnostics) -> tuple[Content, Body]:
        content = self._select(self._properties(diags), schema, diags)
        taken = {wanted.name for wanted in schema.attributes}
        taken.update([wanted.type for wanted in schema.blocks])
        return content, JsonBody(self.value, self.hidden | taken)

    def just_attributes(self, diags: Diagnostics) -> dict[str, Attribute]:
        attributes: dict[str, Attribute] = {}
        value = self.value
        if not isinstance(value, JsonObject):
            if not isinstance(value, JsonInvalid):
                _report_no_object(value, diags)
            return attributes
        for item in value.properties:
            if item.name != _REMARK and item.name not in self.hidden:
                self._add(attributes, item, diags)
        return attributes

    def _select(
        self, properties: list[Property], schema: BodySchema, diags: Diagnostics
    ) -> Content:
        attributes: dict[str, Attribute] = {}
        blocks: list[Block] = []
        wanted_names = {wanted.name for wanted in schema.attributes}
        wanted_blocks = {wanted.type: wanted for wanted in schema.blocks}
        for item in properties:
            if item.name in self.hidden:
                continue
            if item.name in wanted_names:
                self._add(attributes, item, diags)
            # The schema decides: a name of both kinds is an argument, as an object is
            # also a value.
            elif item.name in wanted_blocks:
                _Blocks(wanted_blocks[item.name], item, blocks).unpack(item.value, diags)
        for wanted in schema.attributes:
            if wanted.required and wanted.name not in attributes:
                report_missing_argument(wanted.name, self.missing_item_range, diags)
        return Content(attributes, blocks, self)

    def _add(self, attributes: dict[str, Attribute], item: Property, diags: Diagnostics) -> None:
        attribute = Attribute(
            item.name,
            item.value,
            item.value.source,
            item.name_start,
            item.value.end,
            item.name_start,
            item.name_end,
        )
        if item.name in attributes:
            report_duplicate_argument(attributes[item.name], attribute, diags)
        else:
            attributes[item.name] = attribute

    def _properties(self, diags: Diagnostics) -> list[Property]:
        properties, wrong = _flatten(self.value)
        for value in wrong:
            _report_no_body(value, diags)
        return properties

    def _report_unexpected(
        self, item: Property, schema: BodySchema, content: Content, diags: Diagnostics
    ) -> None:
        free = [wanted.name for wanted in schema.attributes]
        names = [name for name in free if name not in content.attributes]
        names += [wanted.type for wanted in schema.blocks]
        source = item.value.source
        diags.error(
            "Unexpected property",
            f'There is no argument or block named "{item.name}" here.'
            f"{did_you_mean(item.name, names)}",
            source.range(item.name_start, item.name_end),
            source.range(item.name_start, item.value.end),
        )


def _flatten(value: JsonExpression) -> tuple[list[Property], list[JsonExpression]]:
    """List the properties of an object or of all objects in an array, and the values that are not
    objects.

    Null is an absent body, and unparsable values have been reported already.
    """
    if isinstance(value, JsonObject):
        return value.properties, []
    if not isinstance(value, JsonArray):
        return [], [] if _is_nothing(value) else [value]
    properties: list[Property] = []
    wrong: list[JsonExpression] = []
    for element in value.elements:
        if isinstance(element, JsonObject):
            # Objects in an array preserve the order of labels, which JSON objects
            # need not.
            properties += element.properties
        elif not isinstance(element, JsonInvalid):
            wrong.append(element)
    return properties, wrong


def _is_nothing(value: JsonExpression) -> bool:
    return isinstance(value, JsonInvalid) or (isinstance(value, JsonKeyword) and value.is_null)


class _Blocks:
    """Unpacks the value of a property into blocks of one type: first the labels, then bodies."""

    __slots__ = ("_blocks", "_schema", "_type")

    def __init__(self, schema: BlockSchema, type: Property, blocks: list[Block]) -> None:
        self._schema = schema
        self._type = type
        self._blocks = blocks

    def unpack(self, value: JsonExpression, diags: Diagnostics) -> None:
        self._labelled(value, [], diags)

    def _labelled(self, value: JsonExpression, labels: list[Property], diags: Diagnostics) -> None:
        names = self._schema.labels
        # JSON syntax of HCL: one level of objects for each label, then the body.
        if len(labels) == len(names):
            self._bodies(value, labels, diags)
            return
        label = names[len(labels)]
        properties, wrong = _flatten(value)
        for element in wrong:
            _report_no_labels(element, self._schema.type, label, diags)
        if not properties and not wrong and not isinstance(value, JsonInvalid):
            _report_missing_label(value, self._schema.type, label, diags)
        for item in properties:
            self._labelled(item.value, [*labels, item], diags)

    def _bodies(self, value: JsonExpression, labels: list[Property], diags: Diagnostics) -> None:
        if isinstance(value, JsonObject):
            self._add(value, value, labels)
        elif isinstance(value, JsonArray):
            for element in value.elements:
                self._add(element, value, labels)
        elif not _is_nothing(value):
            _report_no_blocks(value, self._schema.type, diags)

    def _add(self, body: JsonExpression, header: JsonExpression, labels: list[Property]) -> None:
        """Add a block; `header` opens it or, in an array, all blocks."""
        type = self._type
        self._blocks.append(
            Block(
                self._schema.type,
                [label.name for label in labels],
                JsonBody(body),
                body.source,
                type.name_start,
                body.end,
                type.name_start,
                type.name_end,
                [(label.name_start, label.name_end) for label in labels],
                header.start,
                header.start + 1,
                body.start,
            )
        )


def _report_wrong_root(root: JsonExpression, diags: Diagnostics) -> None:
    diags.error(
        "Wrong kind of JSON value",
        "A JSON configuration file must contain a single object, in braces, whose properties are "
        "arguments and blocks, or an array of such objects.",
        root.start_range,
    )


def _report_no_object(value: JsonExpression, diags: Diagnostics) -> None:
    diags.error(
        "Wrong kind of JSON value",
        "An object, in braces, is required here: its properties are the arguments of the block.",
        value.start_range,
    )


def _report_no_body(value: JsonExpression, diags: Diagnostics) -> None:
    diags.error(
        "Wrong kind of JSON value",
        "An object, in braces, is required here: its properties are the arguments and nested "
        "blocks of this body. An array of such objects is also allowed.",
        value.start_range,
    )


def _report_no_labels(value: JsonExpression, type: str, label: str, diags: Diagnostics) -> None:
    diags.error(
        "Wrong kind of JSON value",
        f"An object, in braces, is required here: each property name is the {label} of {with_article(type)} "
        "block. An array of such objects is also allowed.",
        value.start_range,
    )


def _report_missing_label(value: JsonExpression, type: str, label: str, diags: Diagnostics) -> None:
    diags.error(
        "Missing block label",
        f"{at_the_start(with_article(type))} block needs a {label}: write it as a property name "
        "here, with the block as the value.",
        value.start_range,
    )


def _report_no_blocks(value: JsonExpression, type: str, diags: Diagnostics) -> None:
    diags.error(
        "Wrong kind of JSON value",
        f"An object, in braces, is required here for one {type} block, or an array of objects "
        "for several.",
        value.start_range,
    )
