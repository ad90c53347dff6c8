"""Whether two plans or two states are the same, up to random values and moments in time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from typing import Final

Tree = dict[str, "Tree"] | list["Tree"] | str | int | float | bool | None

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_BCRYPT = re.compile(r"\$2a\$10\$[./A-Za-z0-9]{53}")
RECOGNISABLE: Final = 6
_ALL_RANDOM: Final = ("random_", "time_", "null_data_source")
_RANDOM_IDS: Final = ("null_", "simple_", "terraform_data")


def states(theirs: str, ours: str) -> tuple[Tree, Tree]:
    """Two states without what may differ."""
    their_data, our_data = json.loads(theirs), json.loads(ours)
    for data in (their_data, our_data):
        for name in ("serial", "lineage", "terraform_version", "nigari_provider_instances"):
            data.pop(name, None)
        data["check_results"] = _check_results(data.get("check_results") or ())
        # OpenTofu leaves an empty entry behind where nothing could be created.
        data["resources"] = [each for each in data["resources"] if each["instances"]]
        for resource in data["resources"]:
            resource["instances"].sort(key=_instance_order)
    alike = Alike(their_data, our_data)
    left_tree, right_tree = alike(json.dumps(their_data), json.dumps(our_data))
    return json.loads(left_tree), json.loads(right_tree)


class Alike:
    """Makes texts of two programs alike in what chance has put into their states."""

    def __init__(self, theirs: dict[str, Tree], ours: dict[str, Tree]) -> None:
        pairs = dict(_random_pairs(theirs, ours))
        self._pairs = sorted(pairs.items(), key=lambda pair: -len(pair[0]))

    def __call__(self, theirs: str, ours: str) -> tuple[str, str]:
        for number, (left, right) in enumerate(self._pairs):
            theirs = theirs.replace(left, f"<random {number}>")
            ours = ours.replace(right, f"<random {number}>")
        return _plain(theirs), _plain(ours)


def without_chance(text: str) -> str:
    """A text without the hashes that are others each time."""
    return _BCRYPT.sub("<hash>", text)


def _check_results(results: Iterable[dict[str, Tree]]) -> list[dict[str, Tree]]:
    """Results in an order of ours; those of data sources are not compared.

    OpenTofu forgets at apply what it found about data that was read while planning.
    """
    found = [each for each in results if ".data." not in f".{each['config_addr']}"]
    for each in found:
        each["objects"] = sorted(_list(each["objects"] or []), key=str)
    return sorted(found, key=lambda each: str(each["config_addr"]))


def _plain(text: str) -> str:
    return without_chance(_UUID.sub("<uuid>", _MOMENT.sub("<moment>", text)))


def _instance_order(instance: dict[str, Tree]) -> str:
    if "deposed" not in instance:
        return str(instance.get("index_key"))
    # Several deposed objects are in the order of keys that chance has chosen.
    return f"{instance.get('index_key')} deposed {_dict(instance['attributes']).get('id')}"


def _random_pairs(theirs: dict[str, Tree], ours: dict[str, Tree]) -> Iterator[tuple[str, str]]:
    """The texts that differ where a provider may choose them; numbers there are made equal."""
    by_name = {_name(each): each for each in _list(ours["resources"])}
    for each in _list(theirs["resources"]):
        other = by_name.get(_name(each))
        if other is None:
            continue
        for left, right in zip(
            _list(_dict(each)["instances"]), _list(_dict(other)["instances"]), strict=False
        ):
            type_name = str(_dict(each)["type"])
            mine, its = (_dict(side).get("attributes") for side in (left, right))
            if type_name.startswith(_ALL_RANDOM):
                yield from _differing(mine, its)
            elif type_name.startswith(_RANDOM_IDS):
                yield from _differing(_dict(mine).get("id"), _dict(its).get("id"))
            if "deposed" in _dict(left) and "deposed" in _dict(right):
                yield str(_dict(left)["deposed"]), str(_dict(right)["deposed"])


def _differing(left: Tree, right: Tree) -> Iterator[tuple[str, str]]:
    if isinstance(left, dict) and isinstance(right, dict):
        for name in left.keys() & right.keys():
            mine, other = left[name], right[name]
            if _is_short(mine) and _is_short(other):
                left[name] = right[name] = 0
                continue
            yield from _differing(mine, other)
    elif isinstance(left, list) and isinstance(right, list):
        for mine, other in zip(left, right, strict=False):
            yield from _differing(mine, other)
    elif isinstance(left, str) and isinstance(right, str) and left != right and left and right:
        yield json.dumps(left)[1:-1], json.dumps(right)[1:-1]


def _is_short(value: Tree) -> bool:
    """Whether a random value is a number or too short to be recognised elsewhere."""
    if isinstance(value, str):
        return len(value) < RECOGNISABLE
    return isinstance(value, int | float) and not isinstance(value, bool)


def _name(resource: Tree) -> tuple[str, ...]:
    data = _dict(resource)
    return tuple(str(data.get(part)) for part in ("module", "mode", "type", "name"))


def _dict(tree: Tree) -> dict[str, Tree]:
    assert isinstance(tree, dict)
    return tree


def _list(tree: Tree) -> list[Tree]:
    assert isinstance(tree, list)
    return tree


def compare(ours: Tree, theirs: Tree, about: str) -> None:
    """Fail with the lines that differ."""
    difference = list(unified_diff(_lines(theirs), _lines(ours), "theirs", "ours", lineterm=""))
    assert not difference, about + "\n" + "\n".join(difference)


def _lines(data: Tree) -> list[str]:
    return json.dumps(data, indent=1, sort_keys=True).splitlines()
