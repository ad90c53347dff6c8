"""The result of an apply: its state, stored or rescued.

A state that cannot be stored is written to a file in the working directory; if that fails as well,
the caller gets it, to print it or raise it with an exception.
"""

from __future__ import annotations

import os

from nigari.backends.disk import write_unused
from nigari.backends.snapshots import Snapshots
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.event_loop import event_loop
from nigari.record import record
from nigari.running.provider_pool import ProviderPool
from nigari.state.files import format_state
from nigari.state.model import State, StateFile
from nigari.workspace.context.options import RESCUED
from nigari.workspace.session.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_PRIVATE: Final = 0o600
"""States contain secrets."""
_SECOND_TRY: Final = 1.0
"""Seconds before the second attempt to store a state."""


@record
class Saved:
    """The new state is stored."""

    found: Diagnostics
    """Diagnostics of the apply."""
    state: State


@record
class Unsaved:
    """The new state is not stored; the diagnostics explain how to do that."""

    found: Diagnostics
    path: str = ""
    """The file that it was written to instead; empty if none could be written."""
    data: bytes = b""
    """The content of a state file; empty if it could not be encrypted."""


async def store_result(
    session: Session, snapshots: Snapshots, state: State, found: Diagnostics
) -> Saved | Unsaved:
    """Store the state after an apply, or write it to a file."""
    if await _write(snapshots, state, found):
        return Saved(found, state)
    return _rescue(session, snapshots, state, found)


async def _write(snapshots: Snapshots, state: State, found: Diagnostics) -> bool:
    """Store a state, with a second try, since losing it would cost so much."""
    try:
        if await snapshots.write(state, Diagnostics()):
            return True
        await event_loop()
        import asyncio

        await asyncio.sleep(_SECOND_TRY)
        return await snapshots.write(state, found)
    except Exception as error:  # noqa: BLE001 - the state is put elsewhere then
        from nigari.diagnostics.unexpected import unexpected

        found.append(unexpected("Storing the state", error))
        return False


def _rescue(session: Session, snapshots: Snapshots, state: State, found: Diagnostics) -> Unsaved:
    """Write a state that cannot be stored to a file."""
    known = snapshots.file
    file = StateFile(state, snapshots.lineage, 1 if known is None else known.serial + 1)
    text = format_state(file, is_for_people=True)
    data = session.encryption.encrypt(text, file.serial, file.lineage, found)
    if data is None:
        return Unsaved(found)
    where, path = _write_to_file(session, data)
    name = path or session.options.rescued[0]
    next_step = f"Once the backend works again, {advice().store_state(name)}."
    if snapshots.is_outdated:
        next_step = _merging(name)
    if path:
        found.error("State written to a file instead", f"{where} {next_step}")
    else:
        handed_over = advice().unsaved_state(RESCUED)
        found.error("State not kept in any file", f"{where} {handed_over} {next_step}")
    return Unsaved(found, path, data)


def _write_to_file(session: Session, data: bytes) -> tuple[str, str]:
    """Return a sentence about the file that a state was written to, and its path; the path is
    empty if none can be written.
    """
    reasons, where = list[str](), session.where
    for path in session.options.rescued:
        wanted = where.at(where.name, path)
        try:
            written = write_unused(wanted, data, _PRIVATE)
        except OSError as error:
            reasons.append(f"{path} cannot be written either: {error.strerror}.")
            continue
        name = written if os.path.isabs(path) else os.path.basename(written)
        here = "" if os.path.isabs(path) else " in this directory"
        text = f"The new state was written to the file {name}{here}."
        if written != wanted:
            text += f" The state of an earlier run in {path} was left as it is."
        return text, name
    return " ".join(reasons), ""


def _merging(name: str) -> str:
    """Explain how to merge an unsaved state into the one that another run has stored."""
    return (
        "It lacks changes that another run has stored meanwhile, so do not push it as it is. Save the "
        'stored state with "nigari state pull > stored.tfstate", move what only this one has into '
        f'it with "nigari state mv -state={name} -state-out=stored.tfstate ADDRESS ADDRESS", and '
        'store that with "nigari state push stored.tfstate".'
    )


async def state_document(pool: ProviderPool, file: StateFile) -> str | None:
    """Print a snapshot as `show -json` does, by the schemas that planning has loaded."""
    from nigari.state.show.show_json import state_to_json

    return state_to_json(file, pool.schema_of, Diagnostics())
