"""`nigari output`: the output values of the root module, for people and for scripts."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import JSON_INTO_FLAG, REVEAL_FLAG, STATE_FLAG
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.diagnostics import Diagnostics
from nigari.state.model import OutputState
from nigari.state.show.show_outputs import output_raw, output_to_json, outputs_to_json


async def _output(presenter: Presenter) -> bool:
    invocation = presenter.invocation
    name = invocation.arguments[0] if invocation.arguments else ""
    if invocation.switch("raw") and invocation.switch("json"):
        raise UsageError("The options -raw and -json cannot be used together.")
    if invocation.switch("raw") and not name:
        raise UsageError("With -raw the command needs the name of an output.")
    snapshots = await presenter.session.read()
    if snapshots is None:
        return False
    outputs = snapshots.state.outputs
    is_json = invocation.switch("json")
    if not outputs and not is_json:
        if not name:
            presenter.into_file(lambda: outputs_to_json(outputs))
        _warn_of_none(presenter.diags)
        return True
    if name and name not in outputs:
        _report_missing(name, outputs, presenter.diags)
        return False
    if name:
        return _show_one(presenter, name, outputs[name])
    presenter.into_file(lambda: outputs_to_json(outputs))
    if is_json:
        presenter.terminal.out(outputs_to_json(outputs))
    else:
        presenter.terminal.out(_all(outputs, invocation.switch("show-sensitive")))
    return True


def _show_one(presenter: Presenter, name: str, output: OutputState) -> bool:
    presenter.into_file(lambda: output_to_json(output))
    if presenter.invocation.switch("json"):
        presenter.terminal.out(output_to_json(output))
    elif presenter.invocation.switch("raw"):
        text = output_raw(name, output, presenter.diags)
        if text is None:
            return False
        presenter.terminal.stdout.write(text)
    else:
        from nigari.lang.render import value_display

        presenter.terminal.out(value_display(output.value))
    return True


def _all(outputs: Mapping[str, OutputState], reveal: bool) -> str:
    from nigari.lang.render import value_display

    shown = {
        name: "<sensitive>" if each.sensitive and not reveal else value_display(each.value)
        for name, each in sorted(outputs.items())
    }
    return "\n".join(f"{name} = {text}" for name, text in shown.items())


def _warn_of_none(diags: Diagnostics) -> None:
    diags.warning(
        "No outputs found",
        "The state has no output values. Outputs that the configuration declares are stored by "
        "apply.",
    )


def _report_missing(name: str, outputs: Mapping[str, OutputState], diags: Diagnostics) -> None:
    from nigari.hcl.suggestion import did_you_mean

    diags.error(
        f'Output "{name}" not found',
        f"The state has no output with that name.{did_you_mean(name, outputs)} If it was just "
        "added to the configuration, run apply first.",
    )


def run(invocation: Invocation) -> int:
    """Print the outputs."""
    return run_command(invocation, _output, tells_events=False)


COMMAND = Command(
    "output",
    "Prints the output values of the root module from the state: all of them, or the named one. "
    "Sensitive values are hidden in the list, but shown when required by name or with -json or "
    "-raw.",
    run,
    flags=(
        Flag("json", FLAG_SWITCH, "Print JSON"),
        JSON_INTO_FLAG,
        Flag("raw", FLAG_SWITCH, "Print a string, number or boolean without quotes"),
        REVEAL_FLAG,
        STATE_FLAG,
        *VARIABLE_FLAGS,
        NO_COLOR_FLAG,
        COMPACT_WARNINGS_FLAG,
    ),
    arguments="[NAME]",
    most_arguments=1,
    examples=(
        Example("nigari output", "all outputs"),
        Example("nigari output -raw address", "for scripts"),
    ),
)
