"""`nigari state replace-provider`: let another provider manage what one managed before."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResource
from nigari.addrs.provider import Provider, parse_provider
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import EDITING_FLAGS, SAYING_FLAGS
from nigari.state.edit import replace_provider, resources_of_provider
from nigari.state.model import EMPTY_STATE, State
from nigari.state.selection import no_state


async def _replace(presenter: Presenter) -> bool:
    if len(presenter.invocation.arguments) != 2:
        raise UsageError("The command needs two providers: the old one and the new one.")
    if presenter.invocation.switch("json") and not presenter.invocation.switch("auto-approve"):
        raise UsageError("With -json there is no prompt, so -auto-approve is required too.")
    old, new = (parse_provider(each, presenter.diags) for each in presenter.invocation.arguments)
    if old is None or new is None:
        return False
    before, after = old, new
    replaced: list[AbsResource] = []

    def exchange(state: State) -> State | None:
        if state is EMPTY_STATE:  # nothing was ever stored
            presenter.diags.append(no_state(presenter.invocation.text("state")))
            return None
        resources = resources_of_provider(state, before)
        if not resources:
            presenter.say("No matching resources found.")
            return state
        _announce(presenter, before, after, resources)
        if not _is_agreed(presenter):
            return state
        replaced.extend(resources)
        return replace_provider(state, before, after)

    if not await presenter.session.edit("state-replace-provider", exchange, has_own_backup=True):
        return False
    if replaced:
        presenter.say(f"Successfully replaced provider for {len(replaced)} resources.")
    return True


def _is_agreed(presenter: Presenter) -> bool:
    if presenter.invocation.switch("auto-approve"):
        return True
    answer = presenter.ask("Do you want to make these changes?", "auto-approve")
    if answer is not None and answer != "yes":
        presenter.say("Cancelled replacing providers.")
    return answer == "yes"


def _announce(
    presenter: Presenter, old: Provider, new: Provider, resources: list[AbsResource]
) -> None:
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
    presenter.say(
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
