"""JSON form of the sensitive paths in a state."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache

from nigari.cty import DYNAMIC, CtyError, GetAttr, Index, Path
from nigari.cty import json as cty_json
from nigari.state.json_text import Reader, quoted, read_elements, read_members, read_text


@lru_cache(maxsize=1024)
def parse_paths(text: str) -> tuple[Path, ...]:
    """Parse paths; raise `ValueError` if they are invalid.

    Most instances of a resource have the same text, so the last ones are cached.
    """
    if text == "null":
        return ()
    paths, _ = read_elements(text, 0, _read_path)
    return tuple(paths)


def paths_text(paths: Iterable[Path]) -> str:
    """Write paths as compact JSON."""
    return "[" + ",".join(_path_text(path) for path in paths) + "]"


_STEP_READERS: dict[str, Reader[object]] = {"value": read_text}


def _read_step(text: str, index: int) -> tuple[GetAttr | Index, int]:
    members, end = read_members(text, index, _STEP_READERS)
    value = members.get("value")
    kind = members.get("type")
    if not isinstance(value, str):
        raise ValueError("a step has no value")
    if kind == "get_attr":
        name = json.loads(value)
        if not isinstance(name, str):
            raise ValueError("an attribute's name is not a string")
        return GetAttr(name), end
    if kind == "index":
        try:
            return Index(cty_json.value_from_json(value, DYNAMIC)), end
        except CtyError as error:
            raise ValueError(error.message) from None
    raise ValueError(f"{kind!r} is not a kind of path step")


def _read_path(text: str, index: int) -> tuple[Path, int]:
    steps, end = read_elements(text, index, _read_step)
    return tuple(steps), end


def _path_text(path: Path) -> str:
    steps = []
    for step in path:
        if isinstance(step, GetAttr):
            steps.append('{"type":"get_attr","value":' + quoted(step.name) + "}")
        elif isinstance(step, Index):
            key = cty_json.value_to_json(step.key, DYNAMIC)
            steps.append('{"type":"index","value":' + key + "}")
    return "[" + ",".join(steps) + "]"
