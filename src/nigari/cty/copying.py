"""Pickling and copying of objects, compiled or not.

A compiled object cannot be made without its constructor, so it is made again from the arguments
of that. For this a class keeps each argument in an attribute of the same name, or of that name
after an underscore; what else it holds must follow from them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_parameters: Final[dict[type[object], tuple[str, ...]]] = {}


def reduced(obj: object, parameters: tuple[str, ...] = ()) -> tuple[object, ...]:
    """What `__reduce__` returns: the class, and the arguments that make such an object again.

    Compiled, a constructor tells its parameters only where their defaults are plain constants: a
    class with others names them.
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
