"""Provider configurations recorded in a state: creation and restoration.

Arguments that are sensitive, by their marks or by the schema, are withheld: only the name is
recorded, so that it can be reported as missing. An argument is a whole attribute; those of nested
blocks are recorded individually.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.provider import AbsProviderInstance
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.json import value_from_json, value_to_json
from nigari.cty.marks import unmark_deep_with_paths
from nigari.cty.paths import Path, path_text, transform, walk
from nigari.cty.types import BOOL, DYNAMIC, NUMBER, STRING
from nigari.cty.values import (
    Value,
    list_value,
    map_value,
    null,
    number,
    object_value,
    set_value,
    string,
    tuple_value,
    unknown,
)
from nigari.eval.core.module_tree import InstanceData
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.placeholders import empty_nested
from nigari.state.json_text import (
    escaped_for_html,
    quoted,
    read_elements,
    read_members,
    read_text,
)
from nigari.state.model import ProviderMemory
from nigari.state.sensitive_paths import parse_paths, paths_text
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_SECRET: Final = frozenset((SENSITIVE, EPHEMERAL))
_SECRET_NAMES: Final = ("credentials", "headers")
_SECRET_WORDS: Final = ("secret", "password", "passphrase", "token", "private_key", "api_key")
_ONE: Final = (Nesting.SINGLE, Nesting.GROUP)

Raw = Mapping[str, str]
"""Members of a JSON object, each as text."""


# -- recording --------------------------------------------------------------------------------


def remember(
    address: AbsProviderInstance, data: InstanceData, block: Block, config: Value
) -> ProviderMemory:
    """Record a configuration, whose marks are still present."""
    keeping = _Keeping()
    # Escaped as in the file, so that equal configurations have equal records.
    arguments = escaped_for_html(keeping.block(block, config.unmark()[0], ""))
    each, hidden = None, "[]"
    if data.each_value is not None:
        plain, marks = unmark_deep_with_paths(data.each_value)
        secret = {path for path, found in marks if found & _SECRET}
        # An element derived from a sensitive argument is sensitive, even without a mark.
        secret.update(
            path for path, part in walk(plain) if not part.is_known or part in keeping.secrets
        )
        each = _without(plain, secret)
        hidden = paths_text(sorted(secret, key=path_text))
    return ProviderMemory(address, each, hidden, arguments, tuple(keeping.withheld))


def _without(value: Value, paths: set[Path]) -> Value:
    if not paths:
        return value
    return transform(value, lambda path, part: null(part.type) if path in paths else part)


class _Keeping:
    """Builds the recorded text, and collects withheld arguments."""

    def __init__(self) -> None:
        self.withheld: list[str] = []
        self.secrets: set[Value] = set()
        """Strings and numbers in withheld arguments."""

    def block(self, block: Block, value: Value, path: str) -> str:
        members: list[str] = []
        for name, attribute in sorted(block.attributes.items()):
            part = value.attribute(name)
            if part.unmark()[0].is_null:
                continue
            if _hides(attribute) or _sounds_secret(name, attribute) or _is_secret(part):
                self._withhold(part, path + name)
            elif part.is_wholly_known:
                text = value_to_json(part.unmark_deep()[0], attribute.implied_type)
                members.append(f"{quoted(name)}:{text}")
        for name, nested in sorted(block.blocks.items()):
            part, marks = value.attribute(name).unmark()
            if marks & _SECRET:
                self._withhold(part, path + name)
            elif part.is_known and not part.is_null:
                members.append(f"{quoted(name)}:{self._nested(nested, part, path + name)}")
        return f"{{{','.join(members)}}}"

    def _nested(self, nested: NestedBlock, value: Value, path: str) -> str:
        block = nested.block
        if nested.nesting in _ONE:
            return self.block(block, value, f"{path}.")
        if nested.nesting is Nesting.MAP:
            texts = [
                f"{quoted(name)}:{self._element(block, part, f'{path}.{name}')}"
                for name, part in sorted(value.mapping().items())
            ]
            return f"{{{','.join(texts)}}}"
        texts = [
            self._element(block, part, f"{path}[{index}]")
            for index, part in enumerate(value.elements())
        ]
        return f"[{','.join(texts)}]"

    def _element(self, block: Block, value: Value, path: str) -> str:
        plain, marks = value.unmark()
        if marks & _SECRET:
            self._withhold(plain, path)
            return "{}"
        return self.block(block, plain, f"{path}.") if plain.is_known else "{}"

    def _withhold(self, value: Value, path: str) -> None:
        self.withheld.append(path)
        for _, part in walk(value.unmark_deep()[0]):
            if part.is_known and not part.is_null and part.type in (STRING, NUMBER):
                self.secrets.add(part)


def _is_secret(value: Value) -> bool:
    return value.contains_marked and bool(value.unmark_deep()[1] & _SECRET)


def _sounds_secret(name: str, attribute: Attribute) -> bool:
    """Check for an argument with the name of a secret: not every provider marks its keys as
    sensitive.
    """
    if attribute.implied_type in (BOOL, NUMBER):
        return False
    return name in _SECRET_NAMES or any(word in name for word in _SECRET_WORDS)


def _hides(attribute: Attribute) -> bool:
    """Check for a schema that forbids storing a value, or a part of it."""
    nested = attribute.nested
    return (
        attribute.sensitive
        or attribute.write_only
        or (nested is not None and (nested.has_sensitive or nested.has_write_only))
    )


# -- restoring --------------------------------------------------------------------------------


def recalled_data(memory: ProviderMemory) -> InstanceData:
    """Restore `each` and `count`; unrecorded parts are unknown."""
    key = memory.address.item.key
    each = unknown(DYNAMIC)
    if memory.each_value is not None:
        paths = set(parse_paths(memory.each_withheld))
        each = transform(
            memory.each_value,
            lambda path, part: unknown(part.type) if path in paths else part,
        )
    return InstanceData(
        string(key) if isinstance(key, str) else unknown(DYNAMIC),
        each,
        number(key) if isinstance(key, int) else unknown(NUMBER),
    )


def recalled_config(
    block: Block, value: Value | None, memory: ProviderMemory, given: Mapping[str, Value]
) -> Value:
    """Use the recorded arguments of a configuration, even if the block has other values for them by
    now: `lookup(var.regions, each.key, "us")` has one for a key that was removed, which would reach
    the objects of another region.

    Arguments that are not recorded are those of the block, if it still exists. Withheld ones come
    from there or from `given`; otherwise they stay unknown.
    """
    recalling = _Recalling(frozenset(memory.withheld), given)
    return recalling.block(block, value, _members(memory.arguments), "")


def missing_arguments(config: Value) -> list[str]:
    """List the unknown arguments of a configuration."""
    return sorted({path_text(path)[1:] for path, part in walk(config) if not part.is_known})


class _Recalling:
    def __init__(self, withheld: frozenset[str], given: Mapping[str, Value]) -> None:
        self._withheld = withheld
        self._given = given

    def block(self, block: Block, value: Value | None, raw: Raw, path: str) -> Value:
        parts: dict[str, Value] = {}
        for name, attribute in block.attributes.items():
            part = None if value is None else value.attribute(name)
            parts[name] = self._attribute(attribute, part, raw.get(name), path + name)
        for name, nested in block.blocks.items():
            part = None if value is None else value.attribute(name)
            parts.setdefault(name, self._nested(nested, part, raw.get(name), path + name))
        return object_value(parts)

    def _attribute(
        self, attribute: Attribute, value: Value | None, text: str | None, path: str
    ) -> Value:
        type_ = attribute.implied_type
        if text is not None:
            try:
                return value_from_json(text, type_)
            except CtyError:
                return unknown(type_)
        if value is not None and value.is_wholly_known:
            return value
        if path in self._given:
            try:
                return convert(self._given[path], type_)
            except CtyError:
                return unknown(type_)
        is_unset = value is None and path not in self._withheld
        return null(type_) if is_unset else unknown(type_)

    def _nested(
        self, nested: NestedBlock, value: Value | None, text: str | None, path: str
    ) -> Value:
        if text is None:
            if value is not None and value.is_wholly_known:
                return value
            is_unset = value is None and path not in self._withheld
            return empty_nested(nested) if is_unset else unknown(nested.spec_type)
        block, inner = nested.block, nested.block.implied_type
        if value is not None and (not value.is_known or value.is_null):
            value = None
        if nested.nesting in _ONE:
            return self.block(block, value, _members(text), f"{path}.")
        if nested.nesting is Nesting.MAP:
            members = _members(text)
            known = value.mapping() if value is not None else {}
            found = {
                name: self._element(block, known.get(name), each, f"{path}.{name}")
                for name, each in members.items()
            }
            return object_value(found) if inner.has_dynamic else map_value(inner, found)
        texts, _ = read_elements(text, 0, read_text)
        elements: Sequence[Value] = value.elements() if value is not None else ()
        # The element of the other set that was meant is not known.
        matching = len(elements) == len(texts) and (
            nested.nesting is Nesting.LIST or len(elements) == 1
        )
        made = [
            self._element(block, elements[index] if matching else None, each, f"{path}[{index}]")
            for index, each in enumerate(texts)
        ]
        if nested.nesting is Nesting.SET:
            return set_value(inner, made)
        return tuple_value(made) if inner.has_dynamic else list_value(inner, made)

    def _element(self, block: Block, value: Value | None, text: str, path: str) -> Value:
        known = value if value is not None and value.is_known else None
        if path not in self._withheld:
            return self.block(block, known, _members(text), f"{path}.")
        if known is None or not known.is_wholly_known:
            return unknown(block.implied_type)
        return known


def _members(text: str) -> Raw:
    members, _ = read_members(text, 0, {}, read_text)
    return cast("Raw", members)
