"""The options that give input variables their values; `nigari.cli.variable_values` reads them."""

from __future__ import annotations

from nigari.cli.command import FLAG_LIST, Flag

ORDER = "variables"

VARIABLE_FLAGS = (
    Flag(
        "var",
        FLAG_LIST,
        "Set an input variable; can be repeated",
        "NAME=VALUE",
        shared_order=ORDER,
    ),
    Flag(
        "var-file",
        FLAG_LIST,
        "Read values of input variables from a file, in addition to terraform.tfvars and "
        "*.auto.tfvars, which are always read; can be repeated",
        "FILE",
        shared_order=ORDER,
    ),
)
