"""The page about states: its examples open, and what it says is supported is."""

import re
from pathlib import Path

import pytest

from nigari.backends.opening import REMOTE, Around, is_supported, open_backend
from nigari.backends.schemas import BACKENDS
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

PAGE = (Path(__file__).parents[2] / "docs" / "states.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(
    r'```hcl\nterraform \{\n  backend "(\w+)" \{\n(.*?)\n  \}\n\}\n```', PAGE, re.DOTALL
)


def test_every_backend_is_on_it() -> None:
    assert {kind for kind, _ in EXAMPLES} == set(REMOTE) - {"inmem"}
    listed = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert listed == {"local", *REMOTE}
    refused = re.search(r"((?:`\w+`[, and]*)+) are not supported", PAGE)
    named = set(re.findall(r"`(\w+)`", refused[1])) if refused else set()
    assert named == {each for each in BACKENDS if not is_supported(each)}


@pytest.mark.parametrize(("kind", "body"), EXAMPLES, ids=[kind for kind, _ in EXAMPLES])
def test_examples_open(kind: str, body: str) -> None:
    diags = Diagnostics()
    parsed = parse_body(Source.from_bytes("page.tf", body.encode()), diags)
    config = {
        name: attribute.expr.value(Scope(), diags).data
        for name, attribute in parsed.just_attributes(diags).items()
    }
    assert set(config) <= set(BACKENDS[kind].attributes)
    assert open_backend(kind, config, Around(".", {}), diags) is not None, list(diags)
    assert not list(diags)
