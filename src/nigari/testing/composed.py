"""Mocked values of objects: from the configuration, from the test, and generated for other computed
attributes.

The rules are OpenTofu's, including the order in which texts are generated: attributes by name, then
blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    NUMBER,
    STRING,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
)
from nigari.cty.values import (
    EMPTY_TUPLE,
    FALSE,
    Value,
    list_value,
    map_value,
    null,
    number,
    object_value,
    set_value,
    string,
    tuple_value,
)
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.placeholders import empty_nested
from nigari.testing.random_texts import texts_for

Values = Mapping[str, Value]
_ZERO: Final = number(0)


def compose(
    type_name: str, block: Block, config: Value, given: Values
) -> tuple[Value | None, api.ProviderDiagnostics]:
    """Compose the mocked value of an object; None if the diagnostics contain errors."""
    composing = _Composing(iter(texts_for(type_name)))
    value = composing.block(block, config, given)
    return value, tuple(composing.reported)


class _Composing:
    def __init__(self, texts: Iterator[str]) -> None:
        self._texts = texts
        self.reported: list[api.ProviderDiagnostic] = []

    def block(self, block: Block, config: Value, given: Values) -> Value | None:
        """Compose the value of a body; None after reporting a mistake."""
        written = {} if config.is_null else config.mapping()
        known = len(self.reported)
        found = {
            name: self._attribute(name, attribute, written.get(name), given.get(name))
            for name, attribute in sorted(block.attributes.items())
        }
        if self._has_errors(known):
            return None
        for name, nested in sorted(block.blocks.items()):
            value = self._nested(name, nested, written.get(name), given.get(name))
            if value is not None:
                found[name] = value
        if self._has_errors(known):
            return None
        for name in given:
            if name not in block.implied_type.attributes:
                self._error(f"the object has no attribute or block {name}", name)
        return None if self._has_errors(known) else object_value(found)

    def _attribute(
        self, name: str, attribute: Attribute, config: Value | None, given: Value | None
    ) -> Value:
        type_ = attribute.implied_type
        is_argument = attribute.required or attribute.optional
        # With ignore_changes, a computed-only attribute may still have its configured value.
        written = config if is_argument and config is not None and not config.is_null else None
        replacement: Value | None = None
        if given is not None:
            replacement = self._fitting(name, attribute, written, given)
        if attribute.write_only:
            if given is not None:
                self._warn_of_write_only(name)
            return null(type_)
        if attribute.required and written is None:
            self._error("the configuration must set it, and does not", name)
        if written is not None:
            return written
        if replacement is not None:
            return replacement
        return self._made_up(type_) if attribute.computed else null(type_)

    def _fitting(
        self, name: str, attribute: Attribute, written: Value | None, given: Value
    ) -> Value:
        if written is not None:
            self._error("the configuration sets it, and that cannot be overridden", name)
        if not attribute.computed:
            self._error("the provider does not compute it, so a test cannot set it", name)
        try:
            return convert(given, attribute.implied_type)
        except CtyError as error:
            self._error(f"the value does not match the type: {error.message}", name)
            return null(attribute.implied_type)

    def _nested(
        self, name: str, nested: NestedBlock, config: Value | None, given: Value | None
    ) -> Value | None:
        if given is not None and not isinstance(given.type, ObjectType):
            self._error("a block is overridden with an object of its attributes", name)
            return None
        if config is None or config.is_null or not config.is_known or _is_empty(config):
            if given is not None:
                self._error("the configuration has no such block", name)
            return empty_nested(nested)
        values: Values = {} if given is None or given.is_null else given.mapping()
        inner = nested.block
        if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
            return self.block(inner, config, values)
        if nested.nesting is Nesting.MAP:
            parts = sorted(config.mapping().items())
            return _mapping(config, [(key, self.block(inner, each, values)) for key, each in parts])
        made = [self.block(inner, each, values) for each in config.sequence()]
        return _sequence(nested, config, [each for each in made if each is not None])

    def _made_up(self, type_: Type) -> Value:
        if type_ is STRING:
            return string(next(self._texts))
        if type_ is NUMBER:
            return _ZERO
        if type_ is BOOL:
            return FALSE
        if isinstance(type_, ListType):
            return list_value(type_.element, ())
        if isinstance(type_, SetType):
            return set_value(type_.element, ())
        if isinstance(type_, MapType):
            return map_value(type_.element, {})
        if isinstance(type_, ObjectType):
            return object_value(
                {
                    name: self._made_up(each)
                    for name, each in sorted(type_.attributes.items())
                    if name not in type_.optional
                }
            )
        return EMPTY_TUPLE if isinstance(type_, TupleType) else null(DYNAMIC)

    def _has_errors(self, since: int) -> bool:
        return api.has_errors(tuple(self.reported[since:]))

    def _error(self, problem: str, name: str) -> None:
        self.reported.append(
            api.ProviderDiagnostic(
                Severity.ERROR,
                "Invalid value of a mock",
                f'The test cannot generate a value for "{name}": {problem}.',
            )
        )

    def _warn_of_write_only(self, name: str) -> None:
        self.reported.append(
            api.ProviderDiagnostic(
                Severity.WARNING,
                "Value for a write-only attribute",
                f'"{name}" is write-only, so it is always null afterwards: the value in the test is ignored.',
            )
        )


def _is_empty(value: Value) -> bool:
    return not isinstance(value.type, ObjectType) and not value.length_int()


def _mapping(config: Value, made: Sequence[tuple[str, Value | None]]) -> Value:
    found = {key: each for key, each in made if each is not None}
    if isinstance(config.type, MapType):
        return map_value(config.type.element, found)
    return object_value(found)


def _sequence(nested: NestedBlock, config: Value, made: Sequence[Value]) -> Value:
    inner = nested.block.implied_type
    if nested.nesting is Nesting.SET:
        return set_value(inner, made)
    return list_value(inner, made) if isinstance(config.type, ListType) else tuple_value(made)
