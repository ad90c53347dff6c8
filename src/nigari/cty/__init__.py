"""Types, values and operations of the language, independent of its syntax.

Users import this package: `from nigari import cty`. Standard library functions are in
`nigari.cty.stdlib`, and `nigari.cty.function` defines new ones. Nothing here knows HCL, source text
or diagnostics: every failure is a `CtyError` with a path into the value.
"""

from __future__ import annotations

from nigari.cty.convert import conversion_exists, convert
from nigari.cty.errors import CtyError, Step
from nigari.cty.numbers import Number
from nigari.cty.paths import (
    GetAttr,
    Index,
    Path,
    index_step,
    path_text,
    transform,
    unknown_as_null,
    walk,
)
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_BOOL,
    KIND_CAPSULE,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_NUMBER,
    KIND_OBJECT,
    KIND_SET,
    KIND_STRING,
    KIND_TUPLE,
    NUMBER,
    STRING,
    CapsuleType,
    CollectionType,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
    collection,
    without_optional,
)
from nigari.cty.unify import unify
from nigari.cty.unknown import Unknown
from nigari.cty.values import (
    DYNAMIC_NULL,
    DYNAMIC_UNKNOWN,
    EMPTY_OBJECT,
    EMPTY_TUPLE,
    FALSE,
    NO_MARKS,
    TRUE,
    Mark,
    Value,
    boolean,
    capsule_value,
    list_value,
    map_value,
    normalize,
    null,
    number,
    object_value,
    set_value,
    string,
    tuple_value,
    unknown,
)
from nigari.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.cty import json, msgpack
    from nigari.cty.conform import conformance_errors
    from nigari.cty.json import (
        implied_value_from_json,
        type_from_json,
        type_to_json,
        value_from_json,
        value_to_json,
    )
    from nigari.cty.marks import MarksAt, mark_with_paths, unmark_deep_with_paths
    from nigari.cty.operations import apply_path
    from nigari.cty.refinements import Refinement, definitely_not_null, refine, refine_not_null
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "conform": ("conformance_errors",),
            "json": (
                "json",
                "implied_value_from_json",
                "type_from_json",
                "type_to_json",
                "value_from_json",
                "value_to_json",
            ),
            "marks": ("MarksAt", "mark_with_paths", "unmark_deep_with_paths"),
            "msgpack": ("msgpack",),
            "operations": ("apply_path",),
            "refinements": ("Refinement", "definitely_not_null", "refine", "refine_not_null"),
        },
    )

__all__ = [
    # types
    "BOOL",
    "DYNAMIC",
    "NUMBER",
    "STRING",
    "CapsuleType",
    "CollectionType",
    "KIND_BOOL",
    "KIND_CAPSULE",
    "KIND_DYNAMIC",
    "KIND_LIST",
    "KIND_MAP",
    "KIND_NUMBER",
    "KIND_OBJECT",
    "KIND_SET",
    "KIND_STRING",
    "KIND_TUPLE",
    "ListType",
    "MapType",
    "ObjectType",
    "SetType",
    "TupleType",
    "Type",
    "collection",
    "conformance_errors",
    "conversion_exists",
    "unify",
    "without_optional",
    # values
    "DYNAMIC_NULL",
    "DYNAMIC_UNKNOWN",
    "EMPTY_OBJECT",
    "EMPTY_TUPLE",
    "FALSE",
    "Number",
    "TRUE",
    "Value",
    "boolean",
    "capsule_value",
    "convert",
    "list_value",
    "map_value",
    "normalize",
    "null",
    "number",
    "object_value",
    "set_value",
    "string",
    "tuple_value",
    "unknown",
    # unknown and marked values
    "Mark",
    "MarksAt",
    "NO_MARKS",
    "Refinement",
    "Unknown",
    "definitely_not_null",
    "mark_with_paths",
    "refine",
    "refine_not_null",
    "unknown_as_null",
    "unmark_deep_with_paths",
    # paths and errors
    "CtyError",
    "GetAttr",
    "Index",
    "Path",
    "Step",
    "apply_path",
    "index_step",
    "path_text",
    "transform",
    "walk",
    # serialisation
    "implied_value_from_json",
    "json",
    "msgpack",
    "type_from_json",
    "type_to_json",
    "value_from_json",
    "value_to_json",
]
