"""Which resource instance a call of the provider or a line of a provisioner is about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from fuzz.story.events import read_events, subject

_STEP: Final = re.compile(r"(?:module|world_thing|terraform_data)\.(\w+)(?:\[([^]]*)\])?")


class Owners:
    """Finds the addresses of objects by their identifiers and names."""

    def __init__(self, states: Iterable[str], stdouts: Iterable[str]) -> None:
        self._by_identifier = {
            identifier: address for state in states for identifier, address in objects_of(state)
        }
        self._by_name = {
            identifier.rpartition("#")[0]: address
            for identifier, address in self._by_identifier.items()
        }
        for stdout in stdouts:
            for event in read_events(stdout):
                if address := subject(event).partition(" ")[2]:
                    self._by_name.setdefault(object_name(address), address)

    def of(self, words: list[str]) -> str:
        """Return the address for an operation and what it is about; nothing if that is unknown."""
        return self._by_identifier.get(words[-1]) or self._by_name.get(words[-1], "")


def object_name(address: str) -> str:
    """Return the name that a configuration gives to the object of an instance.

    It is made of the names that calls and resources were born with, and of the keys.
    """
    return ".".join(
        f"{name.rstrip('n')}{'-' if key else ''}{key.strip(chr(34))}"
        for name, key in _STEP.findall(address.replace("\\", ""))
    )


def objects_of(state: str) -> Iterator[tuple[str, str]]:
    """Yield the identifiers of managed objects in a state, and their instances."""
    for resource in json.loads(state)["resources"]:
        module = f"{resource['module']}." if resource.get("module") else ""
        for instance in resource["instances"]:
            key = instance.get("index_key")
            ending = "" if key is None else f"[{json.dumps(key)}]"
            if resource["mode"] == "managed":
                identifier = str((instance.get("attributes") or {}).get("id"))
                yield identifier, f"{module}{resource['type']}.{resource['name']}{ending}"
