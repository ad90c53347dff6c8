"""The details of one unit's plan in the plan of a fleet, shown as `nigari show` shows a plan."""

from __future__ import annotations

import os
import tempfile

from nigari.cli.command import Command, Invocation
from nigari.cli.commands.show_plan import show_plan
from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import REVEAL_FLAG, SAYING_FLAGS
from nigari.fleet.units.inspection import working_directory
from nigari.fleet.units.unit import Unit
from nigari.workspace.session.session import Session


async def show_unit_plan(invocation: Invocation, unit: Unit, path: str) -> bool:
    """Show the plan in a file as that of a unit; False after reporting why that cannot be done."""
    flags = (REVEAL_FLAG, *SAYING_FLAGS)
    command = Command("show", "", lambda _: 0, flags)
    given = {name: values for name, values in invocation.flags.items() if name == "no-color"}
    quiet = Invocation(command, invocation.terminal, given, {}, [])
    session = Session(working_directory(unit, dict(invocation.terminal.environ)))
    presenter = Presenter(quiet, session=session)
    invocation.terminal.out(f"\n{unit.name}:")
    done = await show_plan(path, presenter)
    presenter.end(done)
    return done


async def show_unit_bytes(invocation: Invocation, unit: Unit, data: bytes) -> bool:
    """The same for a plan that is in no file of its own."""
    descriptor, path = tempfile.mkstemp(prefix="nigari-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        return await show_unit_plan(invocation, unit, path)
    finally:
        os.unlink(path)
