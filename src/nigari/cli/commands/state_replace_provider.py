"""`nigari state replace-provider`: let another provider manage what one managed before."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResource
from nigari.addrs.provider import Provider, parse_provider
from nigari.backends.snapshots import Snapshots
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.stored_state import EDITING_FLAGS, SAYING_FLAGS, OpenState, run_command
from nigari.state.edit import replace_provider, resources_of_provider


async def _replace(state: OpenState) -> bool:
    if len(state.invocation.arguments) != 2:
        raise UsageError("The command needs two providers: the old one and the new one.")
    if state.invocation.switch("json") and not state.invocation.switch("auto-approve"):
        raise UsageError("With -json there is no prompt, so -auto-approve is required too.")
    old, new = (parse_provider(each, state.diags) for each in state.invocation.arguments)
    if old is None or new is None:
        return False
    before, after = old, new
    snapshots = state.working.edited_snapshots(state.encryption, state.diags, state.files)

    async def change(snapshots: Snapshots) -> bool:
        return await _exchange(state, snapshots, before, after)

    return await state.edit(snapshots, "state-replace-provider", change)


async def _exchange(state: OpenState, snapshots: Snapshots, old: Provider, new: Provider) -> bool:
    resources = resources_of_provider(snapshots.state, old)
    if not resources:
        state.say("No matching resources found.")
        return True
    _announce(state, old, new, resources)
    if not state.invocation.switch("auto-approve"):
        answer = state.ask("Do you want to make these changes?", "auto-approve")
        if answer is None:
            return False
        if answer != "yes":
            state.say("Cancelled replacing providers.")
            return True
    if not await snapshots.write(replace_provider(snapshots.state, old, new), state.diags):
        return False
    state.say(f"Successfully replaced provider for {len(resources)} resources.")
    return True


def _announce(state: OpenState, old: Provider, new: Provider, resources: list[AbsResource]) -> None:
    names = [each.text for each in resources]
    lines = [
        "Nigari will perform the following actions:",
        "",
        "  ~ Updating provider:",
        f"    - {old}",
        f"    + {new}",
        "",
        f"Changing {len(names)} resources:",
        "",
        *(f"  {name}" for name in names),
    ]
    state.say(
        "\n".join(lines),
        f"The provider of {len(names)} resources changes from {old} to {new}",
        {"type": "replace_provider", "from": str(old), "to": str(new), "resources": names},
    )


def run(invocation: Invocation) -> int:
    """Replace the provider."""
    return run_command(invocation, _replace)


COMMAND = Command(
    "state replace-provider",
    "Replaces a provider in the state with another, for all resources that it manages, for "
    "example after a provider has moved to another namespace or registry. A backup of the state "
    "is written first.",
    run,
    flags=(
        Flag("auto-approve", FLAG_SWITCH, "Do not ask for approval"),
        *EDITING_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="OLD NEW",
    most_arguments=2,
    examples=(Example("nigari state replace-provider hashicorp/aws example.com/acme/aws", ""),),
)
