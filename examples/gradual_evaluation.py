"""Gradual evaluation: plan with what is known now, finish later, perhaps in another process.

What is not known yet is an unknown value. It keeps its type, so mistakes are found at once, and
whatever depends on it is unknown too. The plan carries the source, so that the second process can
evaluate the same expressions again, with more answers, and point at the same lines.
"""

import json
import sys

from nigari import hcl
from nigari.cty.json import value_from_json, value_to_json
from nigari.cty.types import STRING, ObjectType
from nigari.cty.values import Value, object_value, string, unknown
from nigari.diagnostics import Diagnostics
from nigari.hcl.interdependent import Graph, from_attribute
from nigari.hcl.scope import Scope

SOURCE = """\
name     = "db-${region}"
endpoint = "${database.address}:5432"
users    = [for user in ["ann", "bob"] : "${user}@${database.address}"]
"""
DATABASE = ObjectType({"address": STRING})


def evaluate(source: str, database: Value, answers: dict[str, Value]) -> dict[str, Value]:
    """Give every argument a value, as far as the database is known."""
    file = hcl.parse(source, "app.hcl")
    attributes = file.body.just_attributes(file.diagnostics)
    graph = Graph([from_attribute(name, attribute) for name, attribute in attributes.items()])
    scope = Scope({"region": string("eu"), "database": database})
    values = graph.evaluate(scope, file.diagnostics, answers)
    sys.stdout.write(file.describe())
    return values


def plan() -> str:
    """Evaluate before there is a database; give a plan as JSON: the source, and what is known."""
    values = evaluate(SOURCE, unknown(DATABASE), {})
    known = {
        name: {"type": "string", "value": json.loads(value_to_json(value, STRING))}
        for name, value in values.items()
        if value.is_wholly_known
    }
    for name, value in values.items():
        print(
            f"plan:  {name} = {'(known after apply)' if name not in known else value.to_python()}"
        )
    return json.dumps({"source": SOURCE, "known": known})


def apply(saved: str) -> None:
    """Make the database, and evaluate the rest."""
    document = json.loads(saved)
    answers = {
        name: value_from_json(json.dumps(each["value"]), STRING)
        for name, each in document["known"].items()
    }
    database = object_value({"address": string("10.0.0.7")})
    for name, value in evaluate(document["source"], database, answers).items():
        print(f"apply: {name} = {value.to_python()}")


def main() -> None:
    """Plan, apply, and show that mistakes are found before anything is known."""
    apply(plan())
    mistake = Diagnostics()
    body = hcl.parse("endpoint = database.addres", "app.hcl").body
    scope = Scope({"database": unknown(DATABASE)})
    body.just_attributes(mistake)["endpoint"].expr.value(scope, mistake)
    print("found while planning:", mistake[0].detail)


if __name__ == "__main__":
    main()
