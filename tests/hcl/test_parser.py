"""What parsing a whole file leaves behind."""

import gc

from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source


def test_garbage_is_collected_again_after_a_large_file() -> None:
    diags = Diagnostics()
    body = parse_body(Source("a.hcl", "a {\n  b = 1\n}\n" * 2_000), diags)
    assert len(body.blocks) == 2_000
    assert gc.isenabled()
