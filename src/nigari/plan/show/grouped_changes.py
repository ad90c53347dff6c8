"""A plan in short: one line for changes that are alike, whatever their instances.

Changes are alike if the same is done for the same reason to instances of one block. Filters choose
what is shown, never what is planned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from nigari.addrs.keys import key_text
from nigari.plan.model.action_reasons import why
from nigari.plan.model.changes import Action, Change
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

Filter = Callable[[Change], bool]
"""Decides whether a change is shown."""

_KINDS: Final[Mapping[str, Filter]] = {
    "create": lambda change: change.action is Action.CREATE,
    "update": lambda change: change.action is Action.UPDATE,
    "replace": lambda change: change.action.is_replace,
    "delete": lambda change: change.action is Action.DELETE,
    "read": lambda change: change.action is Action.READ,
    "forget": lambda change: change.action is Action.FORGET,
    "import": lambda change: bool(change.imported_as),
    "move": lambda change: change.is_moved,
}
KINDS: Final = tuple(_KINDS)
"""The words for what is done."""


@record
class GroupedChange:
    """Changes that are alike."""

    action: Action
    block: str
    """The address of the block, without keys."""
    keys: tuple[str, ...]
    """The keys of the instances, those of modules first; a single instance without any has none."""
    addresses: tuple[str, ...]
    why: str
    """The reason, where all of them have the same."""

    @property
    def count(self) -> int:
        """The number of changes."""
        return len(self.addresses)


def short_changes(changes: Iterable[Change]) -> list[GroupedChange]:
    """The groups, in the order of the first of each."""
    found: dict[tuple[Action, str, str, bool], list[Change]] = {}
    for change in changes:
        block = f"{change.address.module.unkeyed}.{change.address.item.resource}".lstrip(".")
        kind = (change.action, block, change.reason.value, bool(change.deposed))
        found.setdefault(kind, []).append(change)
    return [
        GroupedChange(
            action,
            block,
            tuple(key for key in map(_keys, alike) if key),
            tuple(str(each.address) for each in alike),
            _shared(why(each) for each in alike),
        )
        for (action, block, _, _), alike in found.items()
    ]


def counted(changes: Iterable[Change], name: Callable[[Change], str]) -> list[tuple[str, int]]:
    """The number of changes by name, the most first."""
    found: dict[str, int] = {}
    for change in changes:
        found[name(change)] = found.get(name(change), 0) + 1
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))


def filter_of(texts: Iterable[str]) -> Filter:
    """Shows what any of the words names: something that is done, or a pattern of addresses."""
    wanted = [word for text in texts for word in text.split(",") if word]

    def shows(change: Change) -> bool:
        return not wanted or any(_is_named(change, word) for word in wanted)

    return shows


def _is_named(change: Change, word: str) -> bool:
    kind = _KINDS.get(word)
    if kind is not None:
        return kind(change)
    address = str(change.address)
    return (
        address == word or address.startswith((f"{word}[", f"{word}.")) or _matches(address, word)
    )


def _matches(address: str, pattern: str) -> bool:
    # Brackets are part of addresses, and only stars and question marks stand for something else.
    from fnmatch import fnmatchcase

    return fnmatchcase(address, pattern.replace("[", "[[]"))


def _keys(change: Change) -> str:
    """All keys of an instance, one after the other."""
    keys = [*(key for _, key in change.address.module.steps), change.address.item.key]
    text = "".join(key_text(key) for key in keys)
    return f"{text} ({change.deposed})" if change.deposed else text


def _shared(texts: Iterable[str]) -> str:
    found = set(texts)
    return found.pop() if len(found) == 1 else ""
