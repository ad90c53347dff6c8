"""What test files ask for before any test runs: the modules that their `run` blocks name.

Everything else in a test file is left alone here.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.config.declared import schema
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Attribute, Block, BlockSchema, Body, BodySchema
from nigari.hcl.expressions import Expression
from nigari.record import record

_FILE = BodySchema((), (BlockSchema("run", ("name",)),))
_RUN = schema(blocks=("module", "variables"))
_MODULE = schema("version", required=("source",))


@record
class TestModule:
    """A module that is tested in place of the configuration."""

    __test__ = False

    path: tuple[str, ...]
    """The names under which it is installed."""
    source: Attribute
    version: Attribute | None
    variables: Mapping[str, Expression]
    """The values that the test gives to the module's variables."""


def names_of(filename: str) -> tuple[str, ...]:
    """The names that stand for a test file in the list of modules."""
    return ("test", *filename.removesuffix(".tftest.hcl").split("/"))


def decode_test_modules(names: tuple[str, ...], body: Body, diags: Diagnostics) -> list[TestModule]:
    """The modules that the `run` blocks of a file name."""
    found: list[TestModule] = []
    for run in body.partial_content(_FILE, diags)[0].blocks:
        content, _ = run.body.partial_content(_RUN, diags)
        variables: dict[str, Expression] = {}
        modules: list[Block] = []
        for block in content.blocks:
            if block.type == "module":
                modules.append(block)
            else:
                given = block.body.just_attributes(diags)
                variables.update({name: each.expr for name, each in given.items()})
        for module in modules:
            arguments = module.body.content(_MODULE, diags).attributes
            if "source" in arguments:
                path = (*names, run.labels[0])
                version = arguments.get("version")
                found.append(TestModule(path, arguments["source"], version, variables))
    return found
