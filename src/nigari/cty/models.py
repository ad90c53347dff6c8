"""Classes whose objects are records: dataclasses, attrs classes, pydantic models, named tuples.

Owns what fields such a class has, and how an object of it is made and read. Neither attrs nor
pydantic is imported: their classes say themselves what they are.
"""

import dataclasses
import typing
from typing import Protocol, cast


class Model(Protocol):
    """A class as what it is to us: something that takes its fields by name."""

    def __call__(self, **given: object) -> object: ...


class ModelField:
    """A field of a class: `hint` is its annotation, `keyword` what the constructor calls it, and
    `written` what it is called in data, if nothing else says so: its alias, where it has one.
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
    """Whether this is a class whose fields are known."""
    return isinstance(cls, type) and (
        dataclasses.is_dataclass(cls)
        or hasattr(cls, "__attrs_attrs__")
        or _is_pydantic(cls)
        or (issubclass(cls, tuple) and hasattr(cls, "_field_defaults"))
    )


def checks_itself(cls: type[object]) -> bool:
    """Whether the class makes of plain data what its annotations say (pydantic models do)."""
    return _is_pydantic(cls)


def model_fields(cls: type[object]) -> list[ModelField]:
    """The fields that the constructor of a model takes, in order."""
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
    """An object of the class; whatever its constructor finds wrong is raised as it is."""
    return cast(Model, cls)(**given)


def model_values(obj: object) -> dict[str, object]:
    """What the fields of an object of a model hold, by name."""
    return {each.name: getattr(obj, each.name) for each in model_fields(type(obj))}


def plain_field(obj: object, name: str) -> object:
    """What a field of a pydantic model holds, as the data that the model makes it of."""
    dumped = getattr(obj, "model_dump")(mode="json", include={name})  # noqa: B009 - not in the type
    return dumped[name]


def failure_text(error: Exception) -> str:
    """What an exception says, for a sentence: its text, and its class where that tells more."""
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
