"""The language's own blocks as schemas, with a sentence about each argument.

They have the same form as the schemas of providers, so that code that describes one describes the
other. Which of them a file may have, and what is wrong with one, is decided in `nigari.config`.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari import cty
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def argument(text: str, type_: cty.Type = cty.DYNAMIC, required: bool = False) -> Attribute:
    return Attribute(type_, required=required, optional=not required, description=text)


def block(
    text: str,
    arguments: Mapping[str, Attribute] | None = None,
    blocks: Mapping[str, NestedBlock] | None = None,
) -> Block:
    return Block(arguments or {}, blocks or {}, text)


def single(block: Block) -> NestedBlock:
    return NestedBlock(block, Nesting.SINGLE, 0, 1)


def _several(block: Block) -> NestedBlock:
    return NestedBlock(block, Nesting.LIST)


def _rule(text: str) -> NestedBlock:
    return _several(
        block(
            text,
            {
                "condition": argument(
                    "What must hold: an expression that is true or false.", cty.BOOL, True
                ),
                "error_message": argument("What to say where it does not hold.", cty.STRING, True),
            },
        )
    )


_COUNT: Final = argument(
    "How many instances there are. In the block, `count.index` is the number of each.", cty.NUMBER
)
_FOR_EACH: Final = argument(
    "A map, or a set of strings, with one instance for each element. In the block, `each.key` and `each.value` are the element."
)
_DEPENDS_ON: Final = argument(
    "Resources and modules that must be done first although no expression refers to them."
)
_SENSITIVE: Final = argument("Whether the value is left out wherever values are shown.", cty.BOOL)
_EPHEMERAL: Final = argument(
    "Whether the value is stored neither in the state nor in plans.", cty.BOOL
)
_DEPRECATED: Final = argument(
    "Advice for those who still use this; it is shown as a warning.", cty.STRING
)
_DESCRIPTION: Final = argument("What this is for, for the people who use the module.", cty.STRING)
_PRECONDITION: Final = _rule("A condition that must hold before anything is done.")
_POSTCONDITION: Final = _rule("A condition that must hold afterwards. `self` is the object.")
_ENABLED: Final = argument("Whether there is an instance at all.", cty.BOOL)
_PROVIDER: Final = argument(
    "The provider configuration to use, such as `aws.west`, without quotes."
)

_CONNECTION: Final = block(
    "How provisioners reach the machine.",
    {
        name: argument(text, cty.STRING)
        for name, text in {
            "type": "`ssh` or `winrm`.",
            "host": "The address of the machine.",
            "user": "The user to log in as.",
            "password": "The password of the user.",
            "private_key": "The text of an SSH key.",
            "port": "The port to connect to.",
            "timeout": "How long to wait for the connection, such as `5m`.",
        }.items()
    },
)
_PROVISIONER: Final = block(
    "Something that is run where the object has been created, or before it is destroyed.",
    {
        "when": argument("`destroy` for what is run before the object is destroyed."),
        "on_failure": argument("`continue` to go on where it fails, or `fail`."),
        "command": argument("`local-exec`: the command to run.", cty.STRING),
        "inline": argument("`remote-exec`: the commands to run.", cty.ListType(cty.STRING)),
        "source": argument("`file`: the file or directory to copy.", cty.STRING),
        "destination": argument("`file`: where to copy it to.", cty.STRING),
    },
    {"connection": single(_CONNECTION)},
)
_ACTION_TRIGGER: Final = block(
    "Actions that run before or after changes of the object.",
    {
        "events": argument(
            "When they run: `before_create`, `after_create`, `before_update`, `after_update`, "
            "`before_destroy`, `after_destroy`.",
            required=True,
        ),
        "actions": argument("The actions, in the order in which they run.", required=True),
        "condition": argument("Whether they run.", cty.BOOL),
        "on_failure": argument("What follows from a failure: `halt`, `taint` or `continue`."),
    },
)
_LIFECYCLE: Final = block(
    "What is done to objects of this resource, and when.",
    {
        "create_before_destroy": argument(
            "Whether a replacement is created before the old object is destroyed.", cty.BOOL
        ),
        "prevent_destroy": argument(
            "Whether a plan that would destroy the object is an error.", cty.BOOL
        ),
        "ignore_changes": argument("Arguments whose changes are not carried out, or `all`."),
        "replace_triggered_by": argument("References whose changes replace the object."),
        "destroy": argument(
            "Whether the object is destroyed once the block is removed; otherwise it is forgotten.",
            cty.BOOL,
        ),
        "enabled": _ENABLED,
    },
    {
        "precondition": _PRECONDITION,
        "postcondition": _POSTCONDITION,
        "action_trigger": _several(_ACTION_TRIGGER),
    },
)
_META: Final = {
    "count": _COUNT,
    "for_each": _FOR_EACH,
    "provider": _PROVIDER,
    "depends_on": _DEPENDS_ON,
}
RESOURCE: Final = block(
    "An object that a provider manages.",
    _META,
    {
        "lifecycle": single(_LIFECYCLE),
        "connection": single(_CONNECTION),
        "provisioner": _several(_PROVISIONER),
    },
)
DATA: Final = block("Something that a provider reads.", _META, {"lifecycle": single(_LIFECYCLE)})
EPHEMERAL: Final = block(
    "Something that exists only while the program runs.", _META, {"lifecycle": single(_LIFECYCLE)}
)
ACTION: Final = block(
    "Something that a provider can do besides changing objects.",
    {"count": _COUNT, "for_each": _FOR_EACH, "provider": _PROVIDER},
)

_REQUIRED_PROVIDERS: Final = block(
    "Providers by their local names, each with a source and a version constraint."
)
_TERRAFORM: Final = block(
    "Settings of the module itself.",
    {
        "required_version": argument("A constraint on the version of OpenTofu.", cty.STRING),
        "experiments": argument("Experimental features of the language; there are none."),
    },
    {
        "required_providers": single(_REQUIRED_PROVIDERS),
        "backend": single(block("Where the state is stored.")),
        "cloud": single(
            block("The organization and workspaces of a remote service that stores the state.")
        ),
        "encryption": single(block("How states and plans are encrypted.")),
        "provider_meta": _several(block("What the module says about itself to a provider.")),
    },
)

PROVIDER: Final = block(
    "A configuration of a provider.",
    {
        "alias": argument("Another name, for a configuration beside the default one.", cty.STRING),
        "for_each": _FOR_EACH,
        "count": _COUNT,
        "depends_on": _DEPENDS_ON,
    },
)
MODULE: Final = block(
    "A call of another module.",
    {
        "source": argument(
            "Where the module comes from: a path such as `./net`, a registry address, a repository.",
            cty.STRING,
            True,
        ),
        "version": argument(
            "A constraint on the version, for modules from a registry.", cty.STRING
        ),
        "count": _COUNT,
        "for_each": _FOR_EACH,
        "providers": argument("Provider configurations for the module, by its own names for them."),
        "depends_on": _DEPENDS_ON,
    },
    {"lifecycle": single(block("Whether the call has an instance.", {"enabled": _ENABLED}))},
)

_SYMBOLS: Final = block(
    "A symbol library: values, types and functions to use in this module.",
    {
        "source": argument(
            "Where the library comes from: a path such as `./symbols`, or any other module source.",
            cty.STRING,
            True,
        ),
        "version": argument(
            "A constraint on the version, for libraries from a registry.", cty.STRING
        ),
    },
)

BLOCKS: Final[Mapping[str, Block]] = {
    "terraform": _TERRAFORM,
    "required_providers": _REQUIRED_PROVIDERS,
    "provider": PROVIDER,
    "resource": RESOURCE,
    "data": DATA,
    "ephemeral": EPHEMERAL,
    "action": ACTION,
    "module": MODULE,
    "variable": block(
        "An input variable of the module.",
        {
            "type": argument("The type that values are converted to, such as `list(string)`."),
            "default": argument("The value if none is given. Without it a value is required."),
            "description": _DESCRIPTION,
            "sensitive": _SENSITIVE,
            "ephemeral": _EPHEMERAL,
            "nullable": argument(
                "Whether the value can be null; otherwise null means the default.", cty.BOOL
            ),
            "const": argument("Whether the value must be known before anything runs.", cty.BOOL),
            "deprecated": _DEPRECATED,
        },
        {"validation": _rule("A condition that values must meet.")},
    ),
    "output": block(
        "A value that the module gives to its caller.",
        {
            "value": argument("The value.", required=True),
            "type": argument("The type that the value is converted to, such as `list(string)`."),
            "description": _DESCRIPTION,
            "sensitive": _SENSITIVE,
            "ephemeral": _EPHEMERAL,
            "deprecated": _DEPRECATED,
            "depends_on": _DEPENDS_ON,
        },
        {"precondition": _PRECONDITION},
    ),
    "locals": block("Values with names, for the expressions of the module."),
    "moved": block(
        "Says that an object has another address now, so that it is not replaced.",
        {
            "from": argument("The address before.", required=True),
            "to": argument("The address now.", required=True),
        },
    ),
    "removed": block(
        "Says what becomes of objects whose block was removed.",
        {"from": argument("The address of the block.", required=True)},
        {
            "lifecycle": single(
                block(
                    "What becomes of the objects.",
                    {
                        "destroy": argument(
                            "Whether they are destroyed; otherwise they are forgotten.",
                            cty.BOOL,
                            True,
                        )
                    },
                )
            ),
            "provisioner": _several(_PROVISIONER),
        },
    ),
    "import": block(
        "Takes an existing object under management.",
        {
            "to": argument("The address of the resource instance.", required=True),
            "id": argument("How the provider identifies the object.", cty.STRING),
            "identity": argument("The attributes by which the provider identifies the object."),
            "provider": _PROVIDER,
            "for_each": _FOR_EACH,
        },
    ),
    "symbols": _SYMBOLS,
    "language": block(
        "What the module requires of the language.",
        {
            "edition": argument("The edition of the language: `tofu2024`."),
            "experiments": argument("The experiments to enable, such as `symbol_libraries`."),
        },
        {
            "compatible_with": single(
                block(
                    "The programs that the module is made for.",
                    {"opentofu": argument("A constraint on the version.", cty.STRING)},
                )
            )
        },
    ),
    "check": block(
        "Conditions that are checked with every plan and apply; one that does not hold is a warning.",
        blocks={"assert": _rule("A condition that should hold."), "data": single(DATA)},
    ),
}
"""The blocks of a configuration file."""

_RUN: Final = block(
    "One step of a test.",
    {
        "command": argument("`plan` or `apply`, which is the default."),
        "expect_failures": argument("Addresses of conditions that must fail."),
        "providers": argument("Provider configurations for the module under test."),
    },
    {
        "variables": single(block("Values for the variables of the module.")),
        "assert": _rule("A condition that must hold after the step."),
        "module": single(
            block(
                "Another module to test.",
                {
                    "source": argument("A path or a registry address.", cty.STRING, True),
                    "version": argument("A version constraint.", cty.STRING),
                },
            )
        ),
        "plan_options": single(
            block(
                "Options of the plan.",
                {
                    "mode": argument("`normal` or `refresh-only`."),
                    "refresh": argument("Whether real objects are read first.", cty.BOOL),
                    "replace": argument("Addresses to replace."),
                    "target": argument("Addresses to plan alone."),
                },
            )
        ),
    },
)
TEST_BLOCKS: Final[Mapping[str, Block]] = {
    "run": _RUN,
    "variables": block("Values of variables for all runs."),
    "provider": PROVIDER,
    "mock_provider": block("A provider that makes values up instead of being started."),
    "override_resource": block(
        "Values for a resource in place of the provider's.",
        {"target": argument("The address.", required=True), "values": argument("The values.")},
    ),
    "override_data": block(
        "Values for a data source in place of the provider's.",
        {"target": argument("The address.", required=True), "values": argument("The values.")},
    ),
    "override_module": block(
        "Outputs in place of a module's own.",
        {"target": argument("The address.", required=True), "outputs": argument("The outputs.")},
    ),
}
"""The blocks of a test file."""

_FLAG: Final = "Whether arguments can be {}; they can unless this is false."
SYMBOL_BLOCKS: Final[Mapping[str, Block]] = {
    "language": block(
        "The language of the library.",
        {"edition": argument("The edition: `experimental2026`.", cty.STRING, True)},
    ),
    "values": block("Values of the library, which refer to each other as `value.NAME`."),
    "typedef": block(
        "A type of the library, which it refers to as `symbols::NAME()`.",
        {"type": argument("The type, such as `object({ name = string })`.", required=True)},
    ),
    "function": block(
        "A function of the library, which it calls as `symbols::NAME()`.",
        {
            "description": argument("What the function does.", cty.STRING),
            "type": argument("The type that the result is converted to."),
            "return": argument(
                "The result, made from `param.NAME` and `local.NAME`.", required=True
            ),
        },
        {
            "parameter": _several(
                block(
                    "A parameter.",
                    {
                        "type": argument("The type that arguments are converted to."),
                        "description": argument("What the parameter means.", cty.STRING),
                        "variadic": argument("Whether it takes all further arguments.", cty.BOOL),
                        "allow_null": argument(_FLAG.format("null"), cty.BOOL),
                        "allow_unknown": argument(_FLAG.format("unknown"), cty.BOOL),
                    },
                    {"validation": _rule("A condition that arguments must meet.")},
                )
            ),
            "locals": _several(block("Local values of the function.")),
        },
    ),
    "symbols": _SYMBOLS,
}
"""The blocks of a file of a symbol library."""

LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    "resource": ("type", "name"),
    "data": ("type", "name"),
    "ephemeral": ("type", "name"),
    "action": ("type", "name"),
    "variable": ("name",),
    "output": ("name",),
    "module": ("name",),
    "provider": ("name",),
    "check": ("name",),
    "backend": ("type",),
    "provisioner": ("type",),
    "provider_meta": ("provider",),
    "dynamic": ("block",),
    "run": ("name",),
    "list": ("type", "name"),
    "environment": ("name",),
    "unit": ("name",),
    "rule": ("rule",),
    "mock_provider": ("name",),
    "symbols": ("name",),
    "typedef": ("name",),
    "function": ("name",),
    "parameter": ("name",),
}
"""The names of block labels."""
