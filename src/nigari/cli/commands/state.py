"""`nigari state`: list what is in the state, print it, store another, and forget instances.

Moving, showing and replacing providers have modules of their own: they need more of the state.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag
from nigari.cli.presenter import Presenter, presented
from nigari.cli.state_flags import (
    EDITING_FLAGS,
    LOCK_FLAGS,
    READING_FLAGS,
    REMOTE_VERSION_FLAG,
    SAYING_FLAGS,
)
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.state.selection import no_state, not_in_state, select, with_id

TYPE_CHECKING = False
# Listing addresses needs nothing that writes a state.
if TYPE_CHECKING:
    from nigari.addrs.absolute import AbsResourceInstance
    from nigari.state.model import State


async def _list(presenter: Presenter) -> bool:
    snapshots = await presenter.session.read()
    targets = presenter.targets()
    if snapshots is None or presenter.diags.has_errors:
        return False
    if snapshots.file is None:
        presenter.diags.append(no_state(presenter.invocation.text("state")))
        return False
    found = select(snapshots.state, targets, presenter.diags)
    wanted = presenter.invocation.text("id")
    if wanted:
        found = with_id(snapshots.state, found, wanted)
    if not presenter.diags.has_errors:
        for address in found:
            presenter.say(address.text, address.text, {"type": "resource_address"})
    return True


LIST = Command(
    "state list",
    "Prints the addresses of the resource instances in the state, one per line: all of them, or "
    "those that match the given addresses. The address of a module matches everything in it, and "
    "that of a resource all of its instances. It is an error if there is no state yet.",
    presented(_list),
    flags=(Flag("id", FLAG_TEXT, "Only instances with this ID", "ID"), *READING_FLAGS),
    arguments="[ADDRESS...]",
    most_arguments=-1,
    examples=(
        Example("nigari state list", "everything"),
        Example("nigari state list module.net", "everything in a module"),
    ),
)


async def _pull(presenter: Presenter) -> bool:
    snapshots = await presenter.session.read()
    if snapshots is None:
        return False
    if snapshots.file is not None:
        from nigari.state.files import format_state

        text = format_state(snapshots.file, is_for_people=False).decode("utf-8", "surrogateescape")
        presenter.terminal.out(text)
    return True


PULL = Command(
    "state pull",
    "Prints the current state of the selected workspace as JSON, wherever it is stored, in the "
    "current format and decrypted: secrets in it are readable. If there is no state yet, nothing "
    "is printed.",
    presented(_pull),
    flags=(*VARIABLE_FLAGS, NO_COLOR_FLAG, COMPACT_WARNINGS_FLAG),
    examples=(Example("nigari state pull > copy.tfstate", "keeps a copy"),),
)


async def _push(presenter: Presenter) -> bool:
    if len(presenter.invocation.arguments) != 1:
        raise UsageError("The command needs the name of one state file, or - for standard input.")
    from nigari.workspace.states.state import parse_given_state, read_state_file

    path = presenter.invocation.arguments[0]
    if path == "-":
        data = presenter.terminal.read_all()
        given = parse_given_state(
            data, "standard input", presenter.session.encryption, presenter.diags
        )
    else:
        given = read_state_file(path, presenter.session.encryption, presenter.diags)
    if given is None:
        return False
    return await presenter.session.push(given, presenter.invocation.switch("force"))


PUSH = Command(
    "state push",
    "Stores a state file as the current state of the selected workspace. A file that is older "
    "than the stored state, or that belongs to an unrelated state, is refused unless -force is "
    "given.",
    presented(_push),
    flags=(
        Flag("force", FLAG_SWITCH, "Store the file even if it is older or unrelated"),
        *LOCK_FLAGS,
        REMOTE_VERSION_FLAG,
        *VARIABLE_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="FILE",
    most_arguments=1,
    examples=(Example("nigari state pull | edit | nigari state push -", "through a pipe"),),
)


async def _remove(presenter: Presenter) -> bool:
    if not presenter.invocation.arguments:
        raise UsageError("The command needs at least one address.")
    from nigari.state.edit import remove

    found: list[AbsResourceInstance] = []

    def forget(state: State) -> State | None:
        found.extend(_selected(presenter, state))
        is_rehearsal = presenter.invocation.switch("dry-run")
        return state if is_rehearsal or not found else remove(state, found)

    if not await presenter.session.edit("state-rm", forget, has_own_backup=True):
        return False
    if not presenter.invocation.switch("dry-run"):
        presenter.say(f"Successfully removed {len(found)} resource instance(s).")
    return True


def _selected(presenter: Presenter, state: State) -> Sequence[AbsResourceInstance]:
    """Print and return the instances that the addresses name; none is an error, except with -dry-run."""
    targets = presenter.targets()
    if presenter.diags.has_errors:
        return ()
    found = select(state, targets, presenter.diags, allow_missing=True)
    is_rehearsal = presenter.invocation.switch("dry-run")
    for address in found:
        presenter.say(f"{'Would remove' if is_rehearsal else 'Removed'} {address}")
    if not found and is_rehearsal:
        presenter.say("Would have removed nothing.")
    elif not found:
        presenter.diags.append(not_in_state(targets[0], state))
    return found


RM = Command(
    "state rm",
    "Removes resource instances from the state. The real objects continue to exist, but are no "
    "longer managed. The address of a module stands for everything in it, and that of a resource "
    "for all of its instances. A backup of the state is written first.",
    presented(_remove),
    flags=(
        Flag("dry-run", FLAG_SWITCH, "Only print what would be removed"),
        *EDITING_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="ADDRESS...",
    most_arguments=-1,
    examples=(
        Example("nigari state rm 'aws_instance.web[0]'", "one instance"),
        Example("nigari state rm -dry-run module.net", "what would be removed with a module"),
    ),
)
