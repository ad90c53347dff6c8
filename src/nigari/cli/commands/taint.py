"""`nigari taint` and `untaint`: mark an object to be replaced by the next apply, or take the mark back."""

from __future__ import annotations

from collections.abc import Callable

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.resource import MANAGED
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag
from nigari.cli.presenter import Presenter, presented
from nigari.cli.state_flags import EDITING_FLAGS, SAYING_FLAGS
from nigari.diagnostics import Diagnostics
from nigari.state.edit import taint, untaint
from nigari.state.model import State

TAINT_FLAGS = (
    Flag("allow-missing", FLAG_SWITCH, "Succeed even if there is no such instance"),
    Flag("state-out", FLAG_TEXT, "Write the state to this file instead", "FILE"),
    *EDITING_FLAGS,
    *SAYING_FLAGS,
)


async def change_mark(
    presenter: Presenter,
    operation: str,
    mark: Callable[[State, AbsResourceInstance, Diagnostics], State | None],
    done: str,
) -> bool:
    """Change the mark of the object that the command line names."""
    address = presenter.only_instance()
    if address is None:
        return False
    marked = address
    if marked.item.resource.mode is not MANAGED:
        _report_not_managed(marked, operation, presenter.diags)
        return False

    is_done = False

    def change(state: State) -> State | None:
        nonlocal is_done
        if state.instance(marked) is None and presenter.invocation.switch("allow-missing"):
            _warn_of_missing(marked, presenter.diags)
            return state
        is_done = True
        return mark(state, marked, presenter.diags)

    if not await presenter.session.edit(operation, change):
        return False
    if is_done:
        text = f"Resource instance {marked} has been {done}."
        presenter.say(text, text)
    return True


def _report_not_managed(address: AbsResourceInstance, operation: str, diags: Diagnostics) -> None:
    diags.error(
        "Not a managed resource",
        f"{address} is not a managed resource, so it cannot be used with {operation}.",
        address=address.text,
    )


def _warn_of_missing(address: AbsResourceInstance, diags: Diagnostics) -> None:
    diags.warning(
        "No such resource instance",
        f"{address} is not in the state; because of -allow-missing, this is not an error.",
    )


async def _taint(presenter: Presenter) -> bool:
    return await change_mark(presenter, "taint", taint, "marked as tainted")


COMMAND = Command(
    "taint",
    "Marks the object of a resource instance as damaged, so that the next apply replaces it. The "
    "real object is not changed now. To see and approve the replacement in one step, use plan or "
    "apply with -replace instead.",
    presented(_taint),
    flags=TAINT_FLAGS,
    arguments="ADDRESS",
    most_arguments=1,
    examples=(Example("nigari taint 'aws_instance.web[0]'", "one of several instances"),),
)


async def _untaint(presenter: Presenter) -> bool:
    return await change_mark(presenter, "untaint", untaint, "successfully untainted")


UNTAINT = Command(
    "untaint",
    "Removes the mark that taint, or a failed creation, has left on an object, so that the next "
    "apply does not replace it.",
    presented(_untaint),
    flags=TAINT_FLAGS,
    arguments="ADDRESS",
    most_arguments=1,
    examples=(Example("nigari untaint aws_instance.web", ""),),
)
