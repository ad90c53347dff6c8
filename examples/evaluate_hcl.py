"""Evaluates `evaluate_hcl.hcl`: what is known, what is not known yet, what is secret, and what is wrong.

It needs no network and no configuration.
"""

import os
import sys
from pathlib import Path

from nigari.cty.json import value_to_json
from nigari.cty.stdlib.collections import LENGTH
from nigari.cty.stdlib.strings import UPPER
from nigari.cty.types import STRING
from nigari.cty.values import Value, string, unknown
from nigari.diagnostics import Diagnostics, Layout, to_text
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

FILE = Path(__file__).with_name("evaluate_hcl.hcl")
FUNCTIONS = {"upper": UPPER, "length": LENGTH}


def evaluate(source: Source, diags: Diagnostics) -> dict[str, Value]:
    """Give the value of each argument; an argument may use those above it."""
    values = {"address": unknown(STRING), "password": string("hunter2").mark("sensitive")}
    given = frozenset(values)
    attributes = parse_body(source, diags).just_attributes(diags)
    for name, attribute in sorted(attributes.items(), key=lambda item: item[1].range.start.byte):
        values[name] = attribute.expr.value(Scope(values, FUNCTIONS), diags)
    return {name: value for name, value in values.items() if name not in given}


def shown(value: Value) -> str:
    """Write a value for a reader; what is marked stays hidden."""
    if value.contains_marked:
        return "(sensitive)"
    if not value.is_wholly_known:
        return "(not known yet)"
    return value_to_json(value, value.type)


def main() -> None:
    """Evaluate the file and print what came out."""
    data = FILE.read_bytes()
    diags = Diagnostics()
    for name, value in evaluate(Source.from_bytes(FILE.name, data), diags).items():
        print(f"{name:<9}= {shown(value)}")
    print()
    print(to_text(diags, {FILE.name: data}, Layout.for_stream(sys.stdout, os.environ)), end="")


if __name__ == "__main__":
    main()
