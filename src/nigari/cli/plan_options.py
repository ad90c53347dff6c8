"""Reads the options of the commands that plan: modes, targets, replacements, rounds.

Options that contradict each other are usage errors. The flags themselves are in `plan_flags`, which
is light to import.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.parse import parse_action, parse_resource_instance, parse_target
from nigari.addrs.resource import MANAGED
from nigari.addrs.targets import Target
from nigari.cli.args import FALSE_WORDS, TRUE_WORDS, UsageError
from nigari.cli.command import Invocation
from nigari.cli.plan_flags import (
    DEFER_FLAG,
    GENERATE_FLAG,
    INVOKE_FLAG,
    MINIMAL_FLAG,
    check_modes,
    parallelism,
)
from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import has_flag
from nigari.hcl.parser import parse_traversal
from nigari.hcl.source import Source
from nigari.lazy import lazy_pattern
from nigari.plan.model.changes import PlanMode
from nigari.plan.model.plan_options import PlanOptions, ReadObjects
from nigari.record import replace
from nigari.workspace.session.refresh_choice import RefreshChoice, refresh_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_IN_LINE: Final = lazy_pattern(r"[^\n]")


def plan_mode(invocation: Invocation) -> PlanMode:
    """The planning mode of the command line."""
    check_modes(invocation)
    if invocation.switch("destroy"):
        return PlanMode.DESTROY
    is_refresh_only = invocation.switch("refresh-only") or is_invoking(invocation)
    return PlanMode.REFRESH_ONLY if is_refresh_only else PlanMode.NORMAL


def is_invoking(invocation: Invocation) -> bool:
    """Check whether the command line names an action to invoke."""
    return has_flag(invocation, INVOKE_FLAG.name) and bool(invocation.texts(INVOKE_FLAG.name))


def _invoked(presenter: Presenter, mode: PlanMode) -> tuple[Target, ...]:
    """The action to invoke, if there is one."""
    invocation = presenter.invocation
    if not is_invoking(invocation):
        return ()
    given = invocation.texts(INVOKE_FLAG.name)
    if len(given) > 1:
        raise UsageError("The option -invoke can be used only once: one action runs at a time.")
    if mode is not PlanMode.REFRESH_ONLY:
        raise UsageError("The options -invoke and -destroy cannot be used together.")
    if invocation.texts("exclude") or invocation.texts("exclude-file"):
        raise UsageError("The options -invoke and -exclude cannot be used together.")
    address = presenter.address(parse_action, given[0])
    return () if address is None else (address,)


def plan_options(presenter: Presenter, mode: PlanMode, only_reads: bool = False) -> PlanOptions:
    """Everything that the command line asks of a plan; what is wrong with it is reported.

    `only_reads` says that only the refreshed state is wanted.
    """
    invocation = presenter.invocation
    choice = _refresh(presenter)
    refreshes, replaced = choice.refreshes, _replaced(presenter)
    if only_reads:
        # The command refresh takes these options, and takes no notice of them.
        refreshes, replaced = True, ()
    invoked = _invoked(presenter, mode)
    if mode is PlanMode.REFRESH_ONLY and not refreshes and not invoked:
        raise UsageError("With -refresh-only and -refresh=false there is nothing to do.")
    if mode is not PlanMode.NORMAL:
        if replaced:
            raise UsageError("The option -replace cannot be used with -destroy or -refresh-only.")
        if has_flag(invocation, GENERATE_FLAG) and invocation.text(GENERATE_FLAG):
            raise UsageError(
                f"The option -{GENERATE_FLAG} cannot be used with -destroy or -refresh-only."
            )
    only_reads_changed = has_flag(invocation, MINIMAL_FLAG.name) and invocation.switch(
        MINIMAL_FLAG.name
    )
    if only_reads_changed and choice.only_reads is not None:
        raise UsageError("The option -minimal-refresh can only be used with -refresh=true.")
    if (
        choice.only_reads is not None
        and mode is PlanMode.REFRESH_ONLY
        and not choice.only_reads.age
    ):
        raise UsageError(
            "The option -refresh-only reads everything, or with -refresh=stale:AGE what was not read "
            "lately."
        )
    if only_reads_changed and (mode is PlanMode.REFRESH_ONLY or not refreshes or only_reads):
        raise UsageError(
            "The option -minimal-refresh cannot be used with -refresh-only or -refresh=false."
        )
    targets, excluded = _targets(presenter, "target"), _targets(presenter, "exclude")
    if targets and excluded:
        raise UsageError("The options -target and -exclude cannot be used together.")
    return PlanOptions(
        mode=mode,
        refreshes=refreshes,
        only_reads=_only_reads(presenter, mode, choice, only_reads_changed),
        is_for_apply=not only_reads,
        replaced=replaced,
        targets=targets,
        excluded=excluded,
        invoked=invoked,
        parallelism=parallelism(invocation),
        defers=has_flag(invocation, DEFER_FLAG.name) and invocation.switch(DEFER_FLAG.name),
    )


def _refresh(presenter: Presenter) -> RefreshChoice:
    """Read `-refresh`, which also takes words of our own."""
    invocation = presenter.invocation
    text = invocation.text("refresh")
    word = "true" if text in TRUE_WORDS else "false" if text in FALSE_WORDS else text
    try:
        return refresh_choice(word, invocation.command.name in ("apply", "destroy"))
    except ValueError as error:
        raise UsageError(f"The option -refresh: {error}.") from None


def _only_reads(
    presenter: Presenter, mode: PlanMode, choice: RefreshChoice, is_minimal: bool
) -> ReadObjects | None:
    """The objects to read where not all are; a destroy changes everything, so that it reads everything."""
    if mode is PlanMode.DESTROY:
        return None
    if is_minimal:
        return ReadObjects()
    reads, session = choice.only_reads, presenter.session
    if reads is None or not choice.changed_since:
        return reads
    from nigari.workspace.configuration.edited_blocks import edited_blocks

    static = session.static()
    if static is None:
        return reads
    root, diags = static.root.instance, presenter.diags
    edited = edited_blocks(session.where, root, choice.changed_since, diags)
    return reads if edited is None else replace(reads, changed=edited)


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
        with open(path, "rb") as file:
            data = file.read()
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
