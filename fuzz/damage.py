"""Damage for files that the program reads back: bytes, values of JSON, entries of archives.

What a file means, and what must hold after it was damaged, is for the searches to know.
"""

from __future__ import annotations

import base64
import io
import json
import random
import signal
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from types import FrameType
from typing import Final

Damage = Callable[[bytes, random.Random], bytes]

_WORDS: Final[tuple[object, ...]] = (
    None, True, False, 0, -1, 7, 1.5, 1e308, 1e400, 10**30, "", "x", "x" * 5000, "\x00", "\ud800",
    "\x1b[2J", [], {}, [[]], ["a"], {"a": 1}, "a.b", "module.m", 'module.m["a"].terraform_data.x',
    "terraform_data.a[9]", "delete", "create", "no-op", "done", "..", "../../x", "/etc/x",
    'provider["registry.opentofu.org/a/b"]',
)  # fmt: skip
_PIECES: Final = (b"{", b"}", b'"', b"[", b"\x00", b"\xff", b"9", b"null")


def damage_bytes(data: bytes, rng: random.Random) -> bytes:
    """The data after a few changes: bits, bytes, slices, and sometimes cut short."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(found) + 1)
        end = min(len(found), at + rng.choice((0, 1, 1, 4, 40)))
        match rng.randrange(6):
            case 0:
                del found[at:end]
            case 1:
                found[at:end] = rng.randbytes(rng.choice((end - at, 1, 40)))
            case 2:
                found[at:at] = found[at:end] * rng.choice((1, 2, 50))
            case 3 if at < len(found):
                found[at] ^= 1 << rng.randrange(8)
            case 4 if rng.random() < 0.2:
                del found[at:]
            case _:
                found[at:end] = rng.choice(_PIECES)
    return bytes(found)


def damage_json(data: bytes, rng: random.Random) -> bytes:
    """The JSON document with a few other values; its bytes are damaged if it is none."""
    try:
        document = json.loads(data)
    except ValueError:
        return damage_bytes(data, rng)
    if rng.random() < 0.02:
        return json.dumps(rng.choice(_WORDS)).encode()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(document))
        if places:
            parent, key = rng.choice(places)
            _damage_member(parent, key, places, rng)
    return json.dumps(document).encode()


def damage_either(data: bytes, rng: random.Random) -> bytes:
    """JSON in which members, or bytes, are others."""
    return (damage_json if rng.random() < 0.7 else damage_bytes)(data, rng)


def damage_lines(data: bytes, rng: random.Random) -> bytes:
    """JSON documents, one in each line, of which one is another; or other bytes anywhere."""
    if rng.random() < 0.5:
        return damage_bytes(data, rng)
    lines = data.splitlines()
    at = rng.randrange(len(lines))
    lines[at] = damage_json(lines[at], rng)
    return b"".join(line + b"\n" for line in lines)


def damage_entry(
    data: bytes,
    rng: random.Random,
    document: str,
    seal: Callable[[Mapping[str, bytes]], Mapping[str, bytes]] = dict,
) -> bytes:
    """An archive that is written again with another content in one entry, mostly in `document`.

    `seal` completes the entries, so that their checksums are right.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    name = document if rng.random() < 0.7 else rng.choice([*contents])
    damage = damage_json if rng.random() < 0.9 else damage_bytes
    contents[name] = damage(contents[name], rng)
    buffer, method = io.BytesIO(), rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for each, content in seal(contents).items():
            archive.writestr(each if rng.random() < 0.99 else f"x/{each}", content)
    return buffer.getvalue()


Place = tuple[dict[str, object] | list[object], str | int]


def _places(data: object) -> list[Place]:
    found: list[Place] = []
    pending = [data]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            found += [(each, name) for name in each]
            pending += each.values()
        elif isinstance(each, list):
            found += [(each, index) for index in range(len(each))]
            pending += each
    return found


def _damage_member(
    parent: dict[str, object] | list[object],
    key: str | int,
    places: list[Place],
    rng: random.Random,
) -> None:
    value = parent[key]  # type: ignore[index]
    choice = rng.randrange(6)
    if choice == 0:
        del parent[key]  # type: ignore[arg-type]
        return
    if choice == 1:
        other, name = rng.choice(places)
        value = json.loads(json.dumps(other[name]))  # type: ignore[index]
    elif choice == 2 and isinstance(value, str) and value:
        value = _damaged_text(value, rng)
    elif choice == 3 and isinstance(value, int):
        value = value + rng.choice((-1, 1, 1000))
    elif choice == 4 and isinstance(parent, dict):
        parent[rng.choice(("", "x", f"{key}x"))] = parent.pop(str(key))
        return
    else:
        value = deepcopy(rng.choice(_WORDS))  # it may be damaged next
    parent[key] = value  # type: ignore[index]


def _damaged_text(text: str, rng: random.Random) -> str:
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        content = b""
    if content and rng.random() < 0.7:
        return base64.b64encode(damage_bytes(content, rng)).decode()
    return damage_bytes(text.encode(errors="replace"), rng).decode(errors="replace")


# -- limits -----------------------------------------------------------------------------------


class TooLong(BaseException):
    """An input took more time than any input may."""


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise `TooLong` in what takes longer."""
    before = signal.signal(signal.SIGALRM, _stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise TooLong
