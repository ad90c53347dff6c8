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

    def needs(self, other: _Object) -> bool:
        """Whether it depends on the other; instances of a module do not on one another's."""
        related = self.module.startswith(other.module) or other.module.startswith(self.module)
        return other.resource in self.dependencies and related


def too_early(before: str, after: str, journal: list[list[str]]) -> list[str]:
    """Calls that came before another that they need, given the states before and after."""
    old, new = dict(_objects(before)), dict(_objects(after))
    places = {(call[0], call[1]): at for at, call in enumerate(journal)}
    made = [(i, at) for (verb, i), at in places.items() if verb in ("create", "update") if i in new]
    gone = [(i, at) for (verb, i), at in places.items() if verb == "delete" and i in old]
    return [
        f"{verb} {first} came before {second}"
        for verb, calls, objects in (("make", made, new), ("delete", gone, old))
        for first, early in calls
        for second, late in calls
        if early < late and _waits(verb, objects[first], objects[second])
    ]


def _waits(verb: str, early: _Object, late: _Object) -> bool:
    """Whether the early call should have been the later one: what is needed goes last."""
    return early.needs(late) if verb == "make" else late.needs(early)


def _objects(state: str) -> Iterator[tuple[str, _Object]]:
    for resource in json.loads(state)["resources"]:
        module = resource.get("module", "")
        prefix = f"{_KEY.sub('', module)}." if module else ""
        address = f"{prefix}{resource['type']}.{resource['name']}"
        for instance in resource["instances"]:
            identifier = (instance.get("attributes") or {}).get("id")
            if identifier and resource["mode"] == "managed":
                needed = frozenset(instance.get("dependencies") or ())
                yield identifier, _Object(module, address, needed)
