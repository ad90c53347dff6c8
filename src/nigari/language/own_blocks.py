"""The blocks of query files and of our own files as schemas, with a sentence about each argument.

The same form as in `nigari.language.language_blocks`. Which blocks a file may have is decided where it
is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari import cty
from nigari.language.language_blocks import BLOCKS, argument, block, single
from nigari.schema.block import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_TEXTS: Final = cty.ListType(cty.STRING)
_LOCALS: Final = block("Values with names, for the expressions of this file.")

QUERY_BLOCKS: Final[Mapping[str, Block]] = {
    "list": block(
        "Finds objects that exist, whether they are managed or not.",
        {
            "provider": argument("The provider configuration to ask.", required=True),
            "limit": argument("The largest number of objects, 100 by default.", cty.NUMBER),
            "include_resource": argument(
                "Whether whole objects are returned, not only their identities.", cty.BOOL
            ),
            "count": argument("The number of queries.", cty.NUMBER),
            "for_each": argument("A map or a set of strings, with a query for each element."),
        },
        {"config": single(block("What to look for, as the provider defines it."))},
    ),
    **{type_: BLOCKS[type_] for type_ in ("variable", "locals", "provider")},
}
"""The blocks of a query file."""

ENVIRONMENTS_BLOCKS: Final[Mapping[str, Block]] = {
    "environment": block(
        "A workspace, variable values and backend arguments that belong together.",
        {
            "workspace": argument("The workspace that commands use.", cty.STRING),
            "var_files": argument(
                "Variable files, relative to the directory of the configuration. Later files "
                "override earlier ones.",
                _TEXTS,
            ),
            "variables": argument("Variable values. They override the files."),
            "backend": argument("Backend arguments that replace those of the backend block."),
            "for_each": argument("A map or a set of strings, with an environment for each."),
            "name": argument("With for_each: the name of each environment.", cty.STRING),
        },
    ),
    "locals": _LOCALS,
}
"""The blocks of `environments.hcl`."""

FLEET_BLOCKS: Final[Mapping[str, Block]] = {
    "fleet": block(
        "How units are discovered.",
        {
            "discover": argument("Whether root modules that no unit names are units.", cty.BOOL),
            "exclude": argument("Path patterns that discovery skips.", _TEXTS),
        },
    ),
    "unit": block(
        "A configuration with a state of its own.",
        {
            "directory": argument("The configuration, relative to this file.", cty.STRING, True),
            "for_each": argument("A map or a set of strings, with a unit for each element."),
            "workspace": argument("The workspace.", cty.STRING),
            "environment": argument(
                "An environment that the directory declares in environments.hcl.", cty.STRING
            ),
            "var_files": argument("Variable files.", _TEXTS),
            "variables": argument("Variable values. They can come from outputs of other units."),
            "labels": argument("Words that select units.", _TEXTS),
            "depends_on": argument("Units that come first for reasons that no value shows."),
            "env": argument("Environment variables.", cty.MapType(cty.STRING)),
            "backend_config": argument("Backend arguments that replace the configuration's."),
        },
    ),
    "locals": _LOCALS,
}
"""The blocks of `fleet.hcl`."""

LINT_BLOCKS: Final[Mapping[str, Block]] = {
    "lint": block(
        "What is looked for in this directory and below it.",
        {
            "preset": argument("The rules that run: none, recommended or strict.", cty.STRING),
            "rules": argument("Files and directories with rules in Python.", _TEXTS),
            "exclude": argument("Directories in which nothing is reported.", _TEXTS),
        },
    ),
    "rule": block(
        "The setting of one rule.",
        {
            "enabled": argument("Whether the rule runs.", cty.BOOL),
            "severity": argument("error or warning.", cty.STRING),
        },
    ),
    "locals": _LOCALS,
}
"""The blocks of `lint.hcl`."""
