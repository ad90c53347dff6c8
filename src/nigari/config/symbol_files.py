"""Files of symbol libraries, `*.sym.hcl`: values, types and functions for modules to share.

Decodes the files of one directory. Nothing is evaluated, and libraries that a library uses itself
are not read. Deliberately unknown here: modules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.config.blocks.symbols import LibraryCall, decode_library_call
from nigari.config.core.declared import (
    CheckRule,
    Declared,
    check_name,
    check_rule,
    expression,
    report_bad_name,
    report_second_block,
)
from nigari.config.core.literals import constant_flag, constant_text
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, AttributeSchema, Block, BlockSchema, Body, BodySchema
from nigari.hcl.expressions import Expression
from nigari.hcl.scanner import is_identifier
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    _T = TypeVar("_T", "LibraryType", "LibraryFunction", LibraryCall)


EDITION: Final = "experimental2026"
"""The only edition of the language of symbol libraries."""


@record
class LibraryType:
    """A `typedef` block."""

    name: str
    expr: Expression
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


@record
class LibraryParameter:
    """A `parameter` block of a function."""

    name: str
    type: Expression | None
    description: str
    allow_null: bool
    allow_unknown: bool
    is_variadic: bool
    validations: tuple[CheckRule, ...]


@record
class LibraryFunction:
    """A `function` block. The variadic parameter, if there is one, is the last."""

    name: str
    description: str
    parameters: tuple[LibraryParameter, ...]
    locals: Mapping[str, Expression]
    type: Expression | None
    result: Expression
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


@record
class LibraryDeclarations:
    """Declarations in the files of one library."""

    files: tuple[str, ...]
    values: Mapping[str, Attribute]
    types: Mapping[str, LibraryType]
    functions: Mapping[str, LibraryFunction]
    calls: Mapping[str, LibraryCall]


_FILE: Final = BodySchema(
    (),
    (
        BlockSchema("values"),
        BlockSchema("typedef", ("name",)),
        BlockSchema("function", ("name",)),
        BlockSchema("symbols", ("name",)),
        BlockSchema("language"),
    ),
)
_LANGUAGE: Final = BodySchema((AttributeSchema("edition", required=True),))
_TYPE: Final = BodySchema((AttributeSchema("type", required=True),))
_FUNCTION: Final = BodySchema(
    (
        AttributeSchema("description"),
        AttributeSchema("return", required=True),
        AttributeSchema("type"),
    ),
    (BlockSchema("parameter", ("name",)), BlockSchema("locals")),
)
_PARAMETER: Final = BodySchema(
    tuple(
        [
            AttributeSchema(name)
            for name in ("type", "description", "variadic", "allow_null", "allow_unknown")
        ]
    ),
    (BlockSchema("validation"),),
)


def decode_library(
    files: Sequence[str], bodies: Sequence[Body], diags: Diagnostics
) -> LibraryDeclarations:
    """Decode the files of one library; of several declarations of a name the first counts."""
    values: dict[str, Attribute] = {}
    types: dict[str, LibraryType] = {}
    functions: dict[str, LibraryFunction] = {}
    calls: dict[str, LibraryCall] = {}
    language: Block | None = None
    for body in bodies:
        for block in body.content(_FILE, diags).blocks:
            if block.type == "values":
                _add_attributes(block, values, "value", diags)
            elif block.type == "typedef":
                _add(_decode_type(block, diags), types, block, diags)
            elif block.type == "function":
                _add(_decode_function(block, diags), functions, block, diags)
            elif block.type == "symbols":
                _add(decode_library_call(Declared(block, block.body), diags), calls, block, diags)
            else:
                _check_edition(block, diags)
                if language is not None:
                    report_second_block(block, language, diags)
                language = language or block
    return LibraryDeclarations(tuple(files), values, types, functions, calls)


def _add(decoded: _T | None, known: dict[str, _T], block: Block, diags: Diagnostics) -> None:
    if decoded is None:
        return
    first = known.setdefault(decoded.name, decoded)
    if first is not decoded:
        _report_second(block, first.range, diags)


def _add_attributes(
    block: Block, known: dict[str, Attribute], what: str, diags: Diagnostics
) -> None:
    """Add the named expressions of a `values` or `locals` block."""
    for name, attribute in block.body.just_attributes(diags).items():
        if not is_identifier(name):
            report_bad_name(name, f"{what} name", attribute.name_range, diags)
        first = known.setdefault(name, attribute)
        if first is not attribute:
            _report_second_attribute(attribute, first, what, diags)


def _check_edition(block: Block, diags: Diagnostics) -> None:
    edition = block.body.content(_LANGUAGE, diags).attributes.get("edition")
    errors = diags.error_count
    written = constant_text(edition, diags)
    if edition is not None and written != EDITION and diags.error_count == errors:
        _report_edition(edition, diags)


def _decode_type(block: Block, diags: Diagnostics) -> LibraryType | None:
    check_name(block, 0, "typedef name", diags)
    type_ = block.body.content(_TYPE, diags).attributes.get("type")
    return None if type_ is None else LibraryType(block.labels[0], type_.expr, block)


def _decode_function(block: Block, diags: Diagnostics) -> LibraryFunction | None:
    check_name(block, 0, "function name", diags)
    content = block.body.content(_FUNCTION, diags)
    given = content.attributes
    description = constant_text(given.get("description"), diags)
    parameters: dict[str, LibraryParameter] = {}
    for each in content.blocks_of("parameter"):
        parameter = _decode_parameter(each, diags)
        first = parameters.setdefault(parameter.name, parameter)
        if first is not parameter:
            _report_second_parameter(each, diags)
    variadic = [each for each in parameters.values() if each.is_variadic]
    for surplus in variadic[1:]:
        _report_second_variadic(block, surplus, diags)
    local: dict[str, Attribute] = {}
    for each in content.blocks_of("locals"):
        _add_attributes(each, local, "local value", diags)
    result = given.get("return")
    if result is None:
        return None
    fixed = [each for each in parameters.values() if not each.is_variadic]
    return LibraryFunction(
        name=block.labels[0],
        description=description,
        parameters=(*fixed, *variadic[:1]),
        locals={name: attribute.expr for name, attribute in local.items()},
        type=expression(given, "type"),
        result=result.expr,
        block=block,
    )


def _decode_parameter(block: Block, diags: Diagnostics) -> LibraryParameter:
    check_name(block, 0, "parameter name", diags)
    content = block.body.content(_PARAMETER, diags)
    given = content.attributes
    # OpenTofu: the conditions of libraries need not refer to anything.
    rules = [check_rule(each, diags, takes_constants=True) for each in content.blocks]
    return LibraryParameter(
        name=block.labels[0],
        type=expression(given, "type"),
        description=constant_text(given.get("description"), diags),
        allow_null=constant_flag(given.get("allow_null"), diags, default=True),
        allow_unknown=constant_flag(given.get("allow_unknown"), diags, default=True),
        is_variadic=constant_flag(given.get("variadic"), diags),
        validations=tuple([rule for rule in rules if rule is not None]),
    )


def _report_second(block: Block, first: Range, diags: Diagnostics) -> None:
    diags.error(
        f"Duplicate {block.type}",
        f'{block.type} "{block.labels[0]}" was already declared at {first}. Each name can be '
        "declared only once in a symbol library.",
        block.def_range,
    )


def _report_second_attribute(
    attribute: Attribute, first: Attribute, what: str, diags: Diagnostics
) -> None:
    diags.error(
        f"Duplicate {what}",
        f'A {what} named "{attribute.name}" was already declared at {first.range}. Use another '
        "name here.",
        attribute.range,
    )


def _report_second_parameter(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate parameter",
        f'The function already has a parameter named "{block.labels[0]}". Use another name here.',
        block.label_ranges[0],
    )


def _report_second_variadic(block: Block, parameter: LibraryParameter, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate variadic parameter",
        f'The parameter "{parameter.name}" cannot be variadic too: only one parameter can take '
        "all further arguments.",
        block.def_range,
    )


def _report_edition(attribute: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Unsupported language edition",
        f'There is only one edition of the language of symbol libraries: write "{EDITION}".',
        attribute.expr.range,
    )
