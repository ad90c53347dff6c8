"""The page about states: its examples open, and what it says is supported is."""

import json
import re
from pathlib import Path

import pytest

from nigari.backends.known_backends import OURS, argument_problems, backend_block
from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around
from nigari.cty.json import value_to_json
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.schema.decode import decode

PAGE = (Path(__file__).parents[2] / "docs" / "concepts" / "states.md").read_text(encoding="utf-8")
EXAMPLES = [
    (kind or "cloud", body)
    for kind, body in re.findall(
        r'```hcl\nterraform \{\n  (?:backend "(\w+)"|cloud) \{\n(.*?)\n  \}\n\}\n```',
        PAGE,
        re.DOTALL,
    )
]
KEYS = {
    "ALICLOUD_ACCESS_KEY": "k",
    "TENCENTCLOUD_SECRET_ID": "k",
    "TENCENTCLOUD_SECRET_KEY": "s",
}
"""Some backends want to know at once who asks."""


def test_every_backend_is_on_it() -> None:
    assert {kind for kind, _ in EXAMPLES} == set(OURS) - {"inmem", "local"}
    rows = re.findall(r"^\| ((?:`\w+`[, ]*)+) \|", PAGE, re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert listed == set(OURS)


@pytest.mark.parametrize(("kind", "body"), EXAMPLES, ids=[kind for kind, _ in EXAMPLES])
def test_examples_open(kind: str, body: str) -> None:
    diags = Diagnostics()
    parsed = parse_body(Source.from_bytes("page.tf", body.encode()), diags)
    block = backend_block(kind)
    assert block is not None
    value = decode(block, parsed, Scope(), diags)
    config = json.loads(value_to_json(value, value.type))
    assert not argument_problems(kind, value, {})
    assert open_backend(kind, config, Around(".", KEYS), diags) is not None, list(diags)
    assert not list(diags)
