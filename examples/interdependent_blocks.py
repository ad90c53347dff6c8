"""A language of your own whose blocks refer to each other: order, values and named cycles.

Give a `Graph` what each block defines. It works out from the expressions what depends on what, and
evaluates everything in that order.
"""

import sys
from pathlib import Path

from nigari import hcl
from nigari.cty.json import value_to_json
from nigari.cty.stdlib.collections import LENGTH
from nigari.cty.types import NUMBER, STRING
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import AttributeSchema, BlockSchema, Body, BodySchema
from nigari.hcl.decode import Attr, Object
from nigari.hcl.decode_blocks import BlockList
from nigari.hcl.interdependent import Definition, Graph, from_attribute, from_block
from nigari.hcl.scope import Scope

FILE = Path(__file__).with_suffix(".hcl")
CYCLE = 'network "a" {\n  name = network.b.name\n}\nnetwork "b" {\n  name = network.a.name\n}\n'

SCOPE = Scope({}, {"length": LENGTH})
NETWORK = Object({"name": Attr("name", STRING, True), "prefix": Attr("prefix", STRING)})
SERVER = Object(
    {
        "address": Attr("address", STRING),
        "network": Attr("network", STRING),
        "ports": BlockList("port", Object({"number": Attr("number", NUMBER, True)})),
    }
)
FILE_SCHEMA = BodySchema(
    (),
    (
        BlockSchema("variable", ("name",)),
        BlockSchema("locals"),
        BlockSchema("network", ("name",)),
        BlockSchema("server", ("name",)),
    ),
)
VARIABLE = BodySchema((AttributeSchema("default", True),))


def definitions(body: Body, diags: Diagnostics) -> list[Definition]:
    """What each block of a file defines."""
    found: list[Definition] = []
    for block in body.content(FILE_SCHEMA, diags).blocks:
        if block.type == "variable":
            default = block.body.content(VARIABLE, diags).attributes.get("default")
            if default is not None:
                found.append(from_attribute(f"var.{block.labels[0]}", default))
        elif block.type == "locals":
            for name, attribute in block.body.just_attributes(diags).items():
                found.append(from_attribute(f"local.{name}", attribute))
        else:
            spec = NETWORK if block.type == "network" else SERVER
            found.append(from_block(f"{block.type}.{block.labels[0]}", block, spec))
    return found


def main() -> None:
    """Print the order, the values, and what is said of a cycle."""
    file = hcl.parse(FILE.read_bytes(), FILE.name)
    graph = Graph(definitions(file.body, file.diagnostics), file.diagnostics)
    print("order:", ", ".join(graph.order()))
    for name, value in graph.evaluate(SCOPE, file.diagnostics).items():
        print(f"{name} = {value_to_json(value, value.type)}")
    sys.stdout.write(file.describe())

    file = hcl.parse(CYCLE, "cycle.hcl")
    Graph(definitions(file.body, file.diagnostics)).evaluate(SCOPE, file.diagnostics)
    sys.stdout.write(file.describe())


if __name__ == "__main__":
    main()
