"""Uses of symbol libraries: `symbols` blocks, in modules and in libraries."""

from __future__ import annotations

from nigari.config.blocks.language import SYMBOL_LIBRARIES
from nigari.config.core.declared import Declared, check_name, expression, schema
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Block
from nigari.hcl.expressions import Expression
from nigari.record import record


@record
class LibraryCall:
    """A `symbols` block. As in a module call, source and version may be static expressions."""

    name: str
    source: Expression
    version: Expression | None
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range

    @property
    def step(self) -> str:
        """Its name among the calls of the module, by which OpenTofu lists it in modules.json."""
        return library_step(self.name)


_SCHEMA = schema("version", required=("source",))


def library_step(name: str) -> str:
    """Return the step to a symbol library in the address of what is installed for it."""
    return f"symbols:{name}"


def decode_library_call(declared: Declared, diags: Diagnostics) -> LibraryCall | None:
    """Decode a `symbols` block; None without a source."""
    check_name(declared.block, 0, "symbols name", diags)
    given = declared.body.content(_SCHEMA, diags).attributes
    source = given.get("source")
    if source is None:
        return None
    return LibraryCall(declared.name, source.expr, expression(given, "version"), declared.block)


def report_no_experiment(where: Range, diags: Diagnostics) -> None:
    """Report a use of symbol libraries in a module that does not enable them."""
    diags.error(
        "Experiment not enabled",
        "Symbol libraries are an experiment of OpenTofu 1.13, which may still change. To use them, "
        f"add language {{ experiments = [{SYMBOL_LIBRARIES}] }} to this module.",
        where,
    )


def warn_of_experiment(where: Range, diags: Diagnostics) -> None:
    """Warn that a module uses an experiment."""
    diags.warning(
        "Experimental features are active",
        f"The experiment {SYMBOL_LIBRARIES} of OpenTofu may change or be removed in any later "
        "version, so it's not made for production yet.",
        where,
    )
