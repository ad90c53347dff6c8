"""The options of the commands that plan. What they ask of a plan is in `nigari.cli.plan_options`."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_CHOICE, FLAG_LIST, FLAG_SWITCH, FLAG_TEXT, Flag, Invocation
from nigari.cli.lint_option import LINT_FLAG
from nigari.cli.prompt import INPUT_FLAG
from nigari.cli.state_flags import (
    BACKUP_FLAG,
    LOCK_FLAGS,
    ONLY_FLAG,
    REVEAL_FLAG,
    SAYING_FLAGS,
    STATE_FLAG,
    STATE_OUT_FLAG,
    SUMMARY_FLAG,
    WHY_FLAG,
    has_flag,
    optional_text,
)
from nigari.cli.variables import VARIABLE_FLAGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


GENERATE_FLAG: Final = "generate-config-out"
SUPPRESS_FLAG: Final = "suppress-forget-errors"

PARALLELISM_FLAG = Flag(
    "parallelism", FLAG_TEXT, "The maximum number of concurrent operations", "NUMBER", "10"
)
DEFER_FLAG = Flag(
    "allow-deferral",
    FLAG_SWITCH,
    "Defer changes that depend on values known only after apply, instead of failing",
)
MINIMAL_FLAG = Flag(
    "minimal-refresh",
    FLAG_SWITCH,
    "Only read the objects that would change, and what they depend on: trust the state otherwise",
)
INVOKE_FLAG = Flag(
    "invoke", FLAG_LIST, "Only invoke the action at this address; plan no changes", "ADDRESS"
)
REFRESH_FLAG = Flag(
    "refresh",
    FLAG_CHOICE,
    "Which real objects to read; the state is trusted otherwise. What an apply would change is read "
    "unless this is false",
    "true|false|never|stale:AGE|changed-since=REF",
    "true",
)
PLAN_FLAGS = (
    SUMMARY_FLAG,
    WHY_FLAG,
    ONLY_FLAG,
    Flag("destroy", FLAG_SWITCH, "Plan to destroy everything that is managed here"),
    Flag("refresh-only", FLAG_SWITCH, "Only update the state to match the real objects"),
    REFRESH_FLAG,
    MINIMAL_FLAG,
    Flag("replace", FLAG_LIST, "Replace the object at this address; can be repeated", "ADDRESS"),
    Flag(
        "target",
        FLAG_LIST,
        "Only plan this address and what it depends on; can be repeated",
        "ADDRESS",
    ),
    Flag("target-file", FLAG_LIST, "The same for each line of a file; can be repeated", "FILE"),
    Flag(
        "exclude",
        FLAG_LIST,
        "Leave out this address and what depends on it; can be repeated",
        "ADDRESS",
    ),
    Flag("exclude-file", FLAG_LIST, "The same for each line of a file; can be repeated", "FILE"),
    DEFER_FLAG,
    PARALLELISM_FLAG,
    INPUT_FLAG,
    *LOCK_FLAGS,
    STATE_FLAG,
    STATE_OUT_FLAG,
    BACKUP_FLAG,
    REVEAL_FLAG,
    *VARIABLE_FLAGS,
    *SAYING_FLAGS,
)
SHOWING_FLAGS = (SUMMARY_FLAG, WHY_FLAG, ONLY_FLAG, REVEAL_FLAG)
REFRESH_FLAGS = (*(flag for flag in PLAN_FLAGS if flag not in SHOWING_FLAGS), LINT_FLAG)
ROUNDS_FLAG = Flag(
    "rounds",
    FLAG_TEXT,
    "The maximum number of rounds, with -allow-deferral; 0 means as many as it takes",
    "NUMBER",
    "0",
)
EXPLORE_FLAG = Flag(
    "explore",
    FLAG_SWITCH,
    "Show the plan, and the apply while it runs, on a page in the browser",
)
APPLY_FLAGS = (
    Flag("auto-approve", FLAG_SWITCH, "Do not ask for approval"),
    EXPLORE_FLAG,
    Flag(
        SUPPRESS_FLAG,
        FLAG_SWITCH,
        "Do not fail if a destroy leaves objects behind that are only forgotten",
    ),
    ROUNDS_FLAG,
    LINT_FLAG,
    *PLAN_FLAGS,
)

_FORMS: Final = ("", "false", "true", "addresses")


def check_modes(invocation: Invocation) -> None:
    """Refuse two kinds of plan at once."""
    both = ("destroy", "refresh-only")
    if all(has_flag(invocation, name) and invocation.switch(name) for name in both):
        raise UsageError("The options -destroy and -refresh-only cannot be used together.")


def check_form(invocation: Invocation) -> None:
    """Refuse a form that there is not, before anything is planned."""
    form = optional_text(invocation, "summary")
    if form not in _FORMS:
        raise UsageError(f'The option -summary takes the word addresses or none, not "{form}".')


def parallelism(invocation: Invocation) -> int:
    """Return the maximum number of concurrent operations. Zero means the default."""
    number = whole_number(invocation, "parallelism")
    if number < 0:
        raise UsageError(f"The option -parallelism must be a number greater than 0, not {number}.")
    return number or int(PARALLELISM_FLAG.default)


def most_rounds(invocation: Invocation) -> int:
    """Return the maximum number of rounds. Zero means no limit."""
    number = whole_number(invocation, ROUNDS_FLAG.name)
    if number < 0:
        raise UsageError(f"The option -rounds must be a number greater than 0, not {number}.")
    if number and not invocation.switch(DEFER_FLAG.name):
        raise UsageError("The option -rounds can only be used with -allow-deferral.")
    return number


def whole_number(invocation: Invocation, flag: str) -> int:
    """The value of an option that is a whole number, written as in Go."""
    text = invocation.text(flag)
    try:
        # Octal numbers need no letter there.
        return int(text, 8 if text[:1] == "0" and text.isdigit() else 0)
    except ValueError:
        raise UsageError(f'The option -{flag} must be a whole number, not "{text}".') from None
