"""Record classes: dataclasses, attrs classes, pydantic models, named tuples.

Owns how the fields of such a class are found, and how its objects are created and read. Neither
attrs nor pydantic is imported: their classes are recognised by their attributes.
"""

import dataclasses
import typing
from typing import Protocol, cast


class Model(Protocol):
    """A class whose constructor takes its fields by name."""

    def __call__(self, **given: object) -> object: ...


class ModelField:
    """A field of a class: `hint` is its annotation, `keyword` its name in the constructor, and
    `written` its name in data unless overridden: its alias, or else its own name.
    """

    __slots__ = ("has_default", "hint", "keyword", "name", "written")

    name: str
    keyword: str
    written: str
    hint: object
    has_default: bool

    def __init__(
        self, name: str, keyword: str, hint: object, has_default: bool, written: str = ""
    ) -> None:
        self.name = name
        self.keyword = keyword
        self.written = written or keyword
        self.hint = hint
        self.has_default = has_default


def is_model(cls: object) -> bool:
    """Check for a class with known fields."""
    return isinstance(cls, type) and (
        dataclasses.is_dataclass(cls)
        or hasattr(cls, "__attrs_attrs__")
        or _is_pydantic(cls)
        or (issubclass(cls, tuple) and hasattr(cls, "_field_defaults"))
    )


def checks_itself(cls: type[object]) -> bool:
    """Check for a class that validates and converts plain data itself, as pydantic models do."""
    return _is_pydantic(cls)


def model_fields(cls: type[object]) -> list[ModelField]:
    """List the constructor's fields in order."""
    if _is_pydantic(cls):
        return _pydantic_fields(cls)
    hints = typing.get_type_hints(cls, include_extras=True)
    if dataclasses.is_dataclass(cls):
        return [
            ModelField(each.name, each.name, hints[each.name], _has_default(each))
            for each in dataclasses.fields(cls)
            if each.init
        ]
    if issubclass(cls, tuple):
        defaults: dict[str, object] = getattr(cls, "_field_defaults")  # noqa: B009 - not in the type
        return [ModelField(name, name, hint, name in defaults) for name, hint in hints.items()]
    return [
        ModelField(each.name, each.alias, hints.get(each.name, object), _attrs_has_default(each))
        for each in getattr(cls, "__attrs_attrs__")  # noqa: B009 - not in the type
        if each.init
    ]


def make_model(cls: type[object], given: dict[str, object]) -> object:
    """Create an object of the class; exceptions of its constructor pass through."""
    return cast(Model, cls)(**given)


def model_values(obj: object) -> dict[str, object]:
    """Read the field values of a model object, by name."""
    return {each.name: getattr(obj, each.name) for each in model_fields(type(obj))}


def plain_field(obj: object, name: str) -> object:
    """Read a pydantic field as the plain data from which the model recreates it."""
    dumped = getattr(obj, "model_dump")(mode="json", include={name})  # noqa: B009 - not in the type
    return dumped[name]


def failure_text(error: Exception) -> str:
    """Word an exception for a sentence: its text, with its class unless that adds nothing."""
    text = str(error).strip().removesuffix(".")
    if isinstance(error, ValueError | AssertionError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _has_default(field: "dataclasses.Field[object]") -> bool:
    return (
        field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
    )


def _attrs_has_default(attribute: object) -> bool:
    return getattr(getattr(attribute, "default", None), "name", "") != "NOTHING"


def _is_pydantic(cls: type[object]) -> bool:
    return hasattr(cls, "__pydantic_fields__")


def _pydantic_fields(cls: type[object]) -> list[ModelField]:
    found: list[ModelField] = []
    for name, info in getattr(cls, "__pydantic_fields__").items():  # noqa: B009 - not in the type
        hint = info.annotation
        for note in info.metadata:
            hint = typing.Annotated[hint, note]
        config = getattr(cls, "model_config", {})
        by_name = config.get("populate_by_name") or config.get("validate_by_name")
        alias = info.validation_alias if isinstance(info.validation_alias, str) else info.alias
        alias = alias if isinstance(alias, str) else name
        keyword = name if by_name else alias
        found.append(ModelField(name, keyword, hint, not info.is_required(), alias))
    return found
