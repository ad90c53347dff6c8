"""Ahead-of-time evaluation: one process evaluates, others get constant values as JSON or msgpack.

Both forms lose nothing as long as everybody agrees on the type. The specification says what it is.
"""

from nigari import hcl
from nigari.cty import json, msgpack
from nigari.cty.types import NUMBER, STRING, Type, without_optional
from nigari.cty.values import Value, string
from nigari.hcl.decode import Attr, Object, decode
from nigari.hcl.decode_blocks import BlockSet
from nigari.hcl.scope import Scope

JOB = """
name  = "build-${environment}"
scale = 1 / 3

task {
  command = "compile"
}
task {
  command = "test"
}
"""
SPEC = Object(
    {
        "name": Attr("name", STRING, True),
        "scale": Attr("scale", NUMBER),
        "tasks": BlockSet("task", Object({"command": Attr("command", STRING, True)})),
    }
)


def server() -> tuple[str, bytes]:
    """Evaluate the configuration, once, and give the result in both forms."""
    file = hcl.parse(JOB, "job.hcl")
    scope = Scope({"environment": string("staging")})
    job = decode(file.body, SPEC, scope, file.diagnostics)
    assert not file.diagnostics.has_errors, file.describe()
    return json.value_to_json(job, agreed_type()), msgpack.marshal(job, agreed_type())


def agreed_type() -> Type:
    """What both sides know: the type of every job."""
    return without_optional(SPEC.implied_type)


def client(text: str, data: bytes) -> tuple[Value, Value]:
    """Read the results, in a process that has neither the files nor their variables."""
    return json.value_from_json(text, agreed_type()), msgpack.unmarshal(data, agreed_type())


def main() -> None:
    """Send a job through both forms."""
    text, data = server()
    from_json, from_msgpack = client(text, data)
    print(text)
    print(f"{len(data)} bytes of msgpack")
    print("the same value:", from_json == from_msgpack)


if __name__ == "__main__":
    main()
