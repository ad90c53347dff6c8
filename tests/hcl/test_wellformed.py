"""What is certainly right: the parser finds nothing there, whenever it looks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.diagnostics import Diagnostics
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parse_structure import StructureParser
from nigari.hcl.scanner import scan
from nigari.hcl.source import Source
from nigari.hcl.wellformed import is_well_formed


def expressions(body: NativeBody) -> list[tuple[str, str, int, int]]:
    found = [
        (name, type(each.expr).__name__, each.expr.start, each.expr.end)
        for name, each in body.attributes.items()
    ]
    for block in body.blocks:
        assert isinstance(block.body, NativeBody)
        found += expressions(block.body)
    return found


def parse(text: str, is_certain: bool) -> tuple[NativeBody, Diagnostics]:
    diags = Diagnostics()
    parser = StructureParser(Source("t", text), scan(text), diags)
    parser.is_certain = is_certain
    return parser.file(), diags


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1\n",
        'a "b" {\n  c = d.e[0].f\n  g {\n  }\n}\n',
        'a = f(b, "c ${d} e", [1, -2, !g], { h = i, "j" : k })\n',
        "a = b ? c : d ? e : f\n",
        "a = [for b, c in d : c if b]\ne = {\n  for f in g : f => f...\n}\n",
        "a = b[*].c[d + 1]\n",
        "a = <<-E\n  b ${c}\n  E\n",
        "a = p::f(b...)\n",
        "a = {\n  b = 1,\n\n  c = 2\n}\n",
    ],
)
def test_certain(text: str) -> None:
    assert is_well_formed(scan(text))
    late, _ = parse(text, is_certain=True)
    now, _ = parse(text, is_certain=False)
    assert expressions(late) == expressions(now)


@pytest.mark.parametrize(
    "text",
    [
        "a = \n",
        "a = 1\na = 2\n",
        'a = "\\q"\n',
        "a = 1.2.3\n",
        "a {\n",
        "a = b.0.1\n",
        "a = [b c]\n",
    ],
)
def test_not_certain(text: str) -> None:
    assert not is_well_formed(scan(text))


PIECES = st.sampled_from(
    ["a", "a.b", "1", '"x"', '"${', '}"', "=", "==", "-", "!", "*", "?", ":", "::", ",", ".", "...", "=>", "(", ")", "[", "]", "{", "}", "\n", "\nb = ", "\nc {\n", "\n}\n", "for ", " in ", " if ", "[*]", ".*", "f(", "<<E\n", "\nE\n", "# x\n", " ", "\\n", "%{", "&"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=24).map("".join))
def test_certain_means_no_errors(text: str) -> None:
    for source in (text, f"a = {text}\n", f"b {{\n  a = {text}\n}}\n"):
        if is_well_formed(scan(source)):
            now, diags = parse(source, is_certain=False)
            assert len(diags) == 0
            late, _ = parse(source, is_certain=True)
            assert expressions(late) == expressions(now)
