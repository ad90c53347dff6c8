"""The options of the commands that plan, and what they ask of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.parse import parse_resource_instance, parse_target
from nigari.addrs.resource import MANAGED
from nigari.addrs.targets import Target
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_LIST, FLAG_SWITCH, FLAG_TEXT, Flag, Invocation
from nigari.cli.presenter import Presenter
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
)
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.hcl.parser import parse_traversal
from nigari.hcl.source import Source
from nigari.lazy import lazy_pattern
from nigari.plan.model.changes import PlanMode
from nigari.plan.nodes.plan_run import PlanOptions

GENERATE_FLAG: Final = "generate-config-out"
SUPPRESS_FLAG: Final = "suppress-forget-errors"

PARALLELISM_FLAG = Flag(
    "parallelism", FLAG_TEXT, "The maximum number of concurrent operations", "NUMBER", "10"
)
DEFER_FLAG = Flag(
    "allow-deferral",
    FLAG_SWITCH,
    "Leave what is known only after apply for a later round, instead of failing",
)
PLAN_FLAGS = (
    SUMMARY_FLAG,
    WHY_FLAG,
    ONLY_FLAG,
    Flag("destroy", FLAG_SWITCH, "Plan to destroy everything that is managed here"),
    Flag("refresh-only", FLAG_SWITCH, "Only update the state to match the real objects"),
    Flag(
        "refresh",
        FLAG_SWITCH,
        "Do not read the real objects: trust the state",
        default="true",
    ),
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
REFRESH_FLAGS = tuple(flag for flag in PLAN_FLAGS if flag not in SHOWING_FLAGS)
ROUNDS_FLAG = Flag(
    "rounds", FLAG_TEXT, "The maximum number of rounds, with -allow-deferral", "NUMBER", "0"
)
EXPLORE_FLAG = Flag(
    "explore",
    FLAG_SWITCH,
    "Serve a page to look at the plan, and at the apply while it goes on",
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
    *PLAN_FLAGS,
)

_IN_LINE: Final = lazy_pattern(r"[^\n]")


def plan_mode(invocation: Invocation) -> PlanMode:
    """What kind of plan the command line asks for."""
    if invocation.switch("destroy") and invocation.switch("refresh-only"):
        raise UsageError("The options -destroy and -refresh-only cannot be used together.")
    if invocation.switch("destroy"):
        return PlanMode.DESTROY
    return PlanMode.REFRESH_ONLY if invocation.switch("refresh-only") else PlanMode.NORMAL


def parallelism(invocation: Invocation) -> int:
    """How many operations may run at once; zero stands for as many as usual."""
    number = whole_number(invocation, "parallelism")
    if number < 0:
        raise UsageError(f"The option -parallelism must be a number greater than 0, not {number}.")
    return number or int(PARALLELISM_FLAG.default)


def most_rounds(invocation: Invocation) -> int:
    """How many rounds there may be; as many as it takes where that is zero."""
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


def plan_options(presenter: Presenter, mode: PlanMode, only_reads: bool = False) -> PlanOptions:
    """Everything that the command line asks of a plan; what is wrong with it is reported.

    `only_reads` says that nobody wants more than the state that it finds.
    """
    invocation = presenter.invocation
    refreshes, replaced = invocation.switch("refresh"), _replaced(presenter)
    if only_reads:
        # The command refresh takes these options, and takes no notice of them.
        refreshes, replaced = True, ()
    if mode is PlanMode.REFRESH_ONLY and not refreshes:
        raise UsageError("With -refresh-only and -refresh=false there is nothing to do.")
    if mode is not PlanMode.NORMAL:
        if replaced:
            raise UsageError("The option -replace cannot be used with -destroy or -refresh-only.")
        if has_flag(invocation, GENERATE_FLAG) and invocation.text(GENERATE_FLAG):
            raise UsageError(
                f"The option -{GENERATE_FLAG} cannot be used with -destroy or -refresh-only."
            )
    targets, excluded = _targets(presenter, "target"), _targets(presenter, "exclude")
    if targets and excluded:
        raise UsageError("The options -target and -exclude cannot be used together.")
    return PlanOptions(
        mode,
        refreshes,
        not only_reads,
        replaced,
        targets,
        excluded,
        parallelism(invocation),
        has_flag(invocation, DEFER_FLAG.name) and invocation.switch(DEFER_FLAG.name),
    )


def _replaced(presenter: Presenter) -> tuple[AbsResourceInstance, ...]:
    found: list[AbsResourceInstance] = []
    for text in presenter.invocation.texts("replace"):
        address = presenter.address(parse_resource_instance, text)
        if address is not None and address.item.resource.mode is not MANAGED:
            raise UsageError(
                f"The option -replace takes managed resources only, and {text} is not one."
            )
        if address is not None:
            found.append(address)
    return tuple(found)


def _targets(presenter: Presenter, flag: str) -> tuple[Target, ...]:
    invocation = presenter.invocation
    given = [presenter.address(parse_target, each) for each in invocation.texts(flag)]
    for path in invocation.texts(f"{flag}-file"):
        given += _targets_in(path, presenter)
    return tuple(each for each in given if each is not None)


def _targets_in(path: str, presenter: Presenter) -> list[Target | None]:
    """The targets in a file, one on each line that is neither empty nor a comment."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        presenter.diags.error("Cannot read the file of addresses", f"{path}: {error.strerror}.")
        return []
    presenter.session.workspace.sources[path] = data
    text = Source.from_bytes(path, data).text
    found: list[Target | None] = []
    at = 0
    for line in text.splitlines(keepends=True):
        words = line.strip()
        if words and not words.startswith("#"):
            # Blanks stand for what comes before, so that a mistake is shown where it is.
            source = Source(path, _IN_LINE.sub(" ", text[:at]) + line.rstrip())
            traversal = parse_traversal(source, presenter.diags)
            found.append(None if traversal is None else parse_target(traversal, presenter.diags))
        at += len(line)
    return found
