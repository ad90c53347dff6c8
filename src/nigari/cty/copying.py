"""Pickling and copying of objects of compiled classes.

A compiled object can only be created through its constructor, so it is recreated from its
arguments. Each argument must be stored in an attribute of the same name, optionally with a leading
underscore; everything else that the object holds must follow from them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_parameters: Final[dict[type[object], tuple[str, ...]]] = {}


def reduced(obj: object, parameters: tuple[str, ...] = ()) -> tuple[object, ...]:
    """Build the result of `__reduce__`: the class and its constructor arguments.

    A compiled constructor only reveals its parameters if all defaults are plain constants; a class
    with other defaults passes their names.
    """
    cls = type(obj)
    names = _parameters.get(cls)
    if names is None and parameters:
        names = tuple([_attribute(obj, name) for name in parameters])
        _parameters[cls] = names
    if names is None:
        from inspect import signature

        names = tuple([_attribute(obj, name) for name in signature(cls).parameters])
        _parameters[cls] = names
    return (cls, tuple([getattr(obj, name) for name in names]))


def _attribute(obj: object, parameter: str) -> str:
    for name in (parameter, f"_{parameter}", parameter.removesuffix("_")):
        if hasattr(obj, name):
            return name
    raise TypeError(f"a {type(obj).__name__} does not keep what it was made from: {parameter}")
