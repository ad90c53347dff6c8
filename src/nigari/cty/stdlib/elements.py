"""Collections whose element type follows from their elements.

The result type of a function may leave part of the element type open, as when an empty list of
anything is concatenated. The elements then determine it, and must agree.
"""

from collections.abc import Sequence

from nigari.cty.function import FunctionError
from nigari.cty.types import KIND_DYNAMIC, CollectionType, Type
from nigari.cty.values import Value, list_value, set_value


def list_of(expected: Type, elements: Sequence[Value]) -> Value:
    return list_value(_element_type(expected, elements), elements)


def set_of(expected: Type, elements: Sequence[Value]) -> Value:
    return set_value(_element_type(expected, elements), elements)


def _element_type(expected: Type, elements: Sequence[Value]) -> Type:
    assert isinstance(expected, CollectionType)
    element = expected.element
    if not element.has_dynamic:
        return element
    found: Type | None = None
    for value in elements:
        if value.type.kind == KIND_DYNAMIC:
            continue
        if found is not None and found != value.type:
            raise FunctionError("all elements must have the same type")
        found = value.type
    return element if found is None else found
