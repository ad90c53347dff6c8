"""The names of places in a JSON file."""

from __future__ import annotations

import pytest

from nigari.diagnostics import Diagnostics
from nigari.hcl.json_navigation import context_name
from nigari.hcl.json_parse import parse_json
from nigari.hcl.source import Source

TEXT = '{"é": 1, "resource": {"null_resource": {"web": {"n": 1}}}, "list": [0, {"a": [2]}]}'


@pytest.mark.parametrize(
    ("before", "name"),
    [
        ("{", ""),
        ('"é"', ""),
        ('{"null', "resource"),
        ('"web"', "resource.null_resource"),
        ('{"n"', "resource.null_resource.web"),
        (', "list"', ""),
        ("0,", "list"),
        ('{"a"', "list[1]"),
        ("2]", "list[1].a"),
    ],
)
def test_context_name(before: str, name: str) -> None:
    root = parse_json(Source("a.json", TEXT), Diagnostics())
    assert context_name(root, len(TEXT[: TEXT.index(before)].encode())) == name
