"""JSON documents in which numbers keep all their digits, for other programs."""

from __future__ import annotations

import json
from json.encoder import encode_basestring


class ExactNumber:
    """A number that a float would change; it is written as it is."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text: str = text


def number(text: str) -> object:
    """The number that a text says, so that nothing is lost."""
    found = float(text)
    return found if repr(found) == text else ExactNumber(text)


def document(data: object) -> str:
    """Data as a JSON document, every digit kept."""
    if isinstance(data, dict):
        members = (f"{encode_basestring(key)}:{document(each)}" for key, each in data.items())
        return f"{{{','.join(members)}}}"
    if isinstance(data, list | tuple):
        return f"[{','.join(document(each) for each in data)}]"
    if isinstance(data, str):
        return encode_basestring(data)
    return data.text if isinstance(data, ExactNumber) else json.dumps(data)
