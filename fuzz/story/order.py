"""Whether the calls of a provider came in an order that the dependencies in the states allow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_KEY: Final = re.compile(r"\[[^]]*\]")


@dataclass(frozen=True)
class _Object:
    module: str
    resource: str
    """Its address without keys."""
    dependencies: frozenset[str]
    outlives: bool
    """Whether it is deleted after its successor is made."""
    key: str
    """The key of its instance."""

    @property
    def instance(self) -> tuple[str, str, str]:
        return self.module, self.resource, self.key

    def needs(self, other: _Object) -> bool:
        """Whether it depends on the other; instances of a module do not on one another's."""
        related = _is_within(self.module, other.module) or _is_within(other.module, self.module)
        return other.resource in self.dependencies and related


def _is_within(module: str, other: str) -> bool:
    return not other or f"{module}.".startswith(f"{other}.")


def too_early(
    before: str, after: str, journal: list[list[str]], configuring: frozenset[str] = frozenset()
) -> list[str]:
    """Calls that came before another that they need, given the states before and after.

    A resource that a provider is configured with is made before that provider can delete anything.
    """
    old, new = dict(_objects(before)), dict(_objects(after))
    places = {(call[0], call[1]): at for at, call in enumerate(journal)}
    made = [(i, at) for (verb, i), at in places.items() if verb in ("create", "update") if i in new]
    gone = [(i, at) for (verb, i), at in places.items() if verb == "delete" and i in old]
    # What is configured by now also counts for the objects that were made before.
    outliving = {each.instance for each in (*old.values(), *new.values()) if each.outlives}
    return [
        *(
            f"{first} was made before {second}, which it needs"
            for first, early in made
            for second, late in made
            if early < late and new[first].needs(new[second])
        ),
        *(
            f"{first} was deleted before {second}, which needed it"
            for first, early in gone
            for second, late in gone
            if early < late and old[second].needs(old[first])
        ),
        *(
            f"{first} was made before {second} was deleted, which needed it"
            for first, early in made
            for second, late in gone
            if early < late
            and old[second].instance not in outliving
            and old[second].needs(new[first])
            if new[first].resource not in configuring
        ),
    ]


def _objects(state: str) -> Iterator[tuple[str, _Object]]:
    for resource in json.loads(state)["resources"]:
        module = resource.get("module", "")
        prefix = f"{_KEY.sub('', module)}." if module else ""
        address = f"{prefix}{resource['type']}.{resource['name']}"
        for instance in resource["instances"]:
            identifier = (instance.get("attributes") or {}).get("id")
            if identifier and resource["mode"] == "managed":
                needed = frozenset(instance.get("dependencies") or ())
                outlives = instance.get("create_before_destroy", False)
                key = json.dumps(instance.get("index_key"))
                yield identifier, _Object(module, address, needed, outlives, key)
