"""`nigari fleet init`, `validate` and `test`: one command for each unit, side by side."""

from __future__ import annotations

from nigari.cli.command import FLAG_LIST, FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.fleet_flags import FLEET_LOCK_FLAGS, RUNNING_FLAGS, FleetCommand
from nigari.fleet.runs.results import UnitStatus
from nigari.fleet.work.tasks import Kind


def run(invocation: Invocation) -> int:
    """Initialize the units side by side."""
    return run_each(invocation, Kind.INIT)


def run_each(invocation: Invocation, kind: Kind) -> int:
    """Do something with each unit, and tell how that went."""
    command = FleetCommand(invocation)

    async def work(names: list[str]) -> int:
        view = command.view(len(names))
        result = await command.fleet.each(kind, names, command.options(), listen=view)
        view.end()
        if kind is Kind.INIT:
            # Only now it is known which states partial backends mean.
            command.fleet.look_again()
        command.warn(names)
        results = list(result.units.values())
        command.report(results, kind.value)
        if kind is Kind.INIT:
            command.show_warnings(results)
        command.show_failures(results)
        done = result.count(UnitStatus.DONE)
        text = f"Done: {done} of {len(results)} units."
        if view.events is not None:
            left = [each.unit for each in results if not each.is_done]
            view.events.event(text, {"type": f"fleet_{kind.value}", "done": done, "left": left})
        else:
            command.terminal.out(text)
        return 1 if result.has_failed else 0

    return command.run(work)


COMMAND = Command(
    "fleet init",
    "Installs the modules and providers of all units and sets up their backends.",
    run,
    flags=(
        Flag("upgrade", FLAG_SWITCH, "Install the newest versions that are allowed"),
        Flag("backend", FLAG_SWITCH, "Leave the backends as they are", default="true"),
        Flag(
            "backend-config",
            FLAG_LIST,
            "A backend setting for all units, or a file with settings, seen from each unit or else "
            "from here; can be repeated",
            "NAME=VALUE|FILE",
        ),
        Flag("reconfigure", FLAG_SWITCH, "Use changed backends as they are, without moving states"),
        Flag("lockfile", FLAG_TEXT, "readonly: fail if a lock file would change", "MODE"),
        *FLEET_LOCK_FLAGS,
        *RUNNING_FLAGS,
    ),
    examples=(
        Example("nigari fleet init", ""),
        Example("nigari fleet init -backend-config=bucket=states", "in a fresh checkout"),
    ),
)


def run_validate(invocation: Invocation) -> int:
    """Validate the units side by side."""
    return run_each(invocation, Kind.VALIDATE)


VALIDATE = Command(
    "fleet validate",
    "Checks the configurations of all units, as validate checks one.",
    run_validate,
    flags=RUNNING_FLAGS,
    examples=(
        Example("nigari fleet validate -changed-since=origin/main", "what a change affects"),
    ),
)


def run_test(invocation: Invocation) -> int:
    """Test the units side by side."""
    return run_each(invocation, Kind.TEST)


TEST = Command(
    "fleet test",
    "Runs the test files of all units, as test runs those of one. What they create is real "
    "unless it is mocked.",
    run_test,
    flags=RUNNING_FLAGS,
    examples=(Example("nigari fleet test -changed-since=origin/main", "what a change affects"),),
)
