"""`nigari state show`: one resource instance with its attributes."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance, instance_of, resource_of
from nigari.backends.shown_settings import shown_state
from nigari.cli.command import Command, Example, Invocation
from nigari.cli.commands.show import schema_lookup
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import READING_FLAGS, REVEAL_FLAG
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.record import replace
from nigari.state.model import ResourceState, State, StateFile
from nigari.state.selection import near_address
from nigari.state.show.show_json import state_to_json
from nigari.state.show.show_text import instance_to_text


async def _show(presenter: Presenter) -> bool:
    snapshots = await presenter.session.read()
    address = presenter.only_instance()
    if snapshots is None or address is None:
        return False
    state = presenter.session.as_shown(snapshots.state)
    resource = state.resources.get(resource_of(address))
    instance = state.instance(address)
    if resource is None or instance is None or instance.current is None:
        presenter.diags.append(_no_such_instance(address, resource, snapshots.state))
        return False
    current = replace(instance, deposed={})
    alone = ResourceState(resource.address, resource.provider, {address.item.key: current})
    lookup = await schema_lookup([resource.provider.item.provider], presenter)
    if lookup is None:
        return False
    reveal = presenter.invocation.switch("show-sensitive")
    only = State({resource.address: alone})
    in_text = shown_state(only).resources[resource.address]
    shown = instance_to_text(in_text, address.item.key, lookup, presenter.diags, reveal)
    if shown:
        presenter.text(shown[0])
    if presenter.has_events:
        version = "" if snapshots.file is None else snapshots.file.version
        document = state_to_json(StateFile(only, "", 0, version), lookup, Diagnostics())
        presenter.document(document or "{}")
    return True


def _no_such_instance(
    address: AbsResourceInstance, resource: ResourceState | None, state: State
) -> Diagnostic:
    """An address at which the state has no object."""
    if resource is None:
        near = near_address(address.text, state)
        hint = f'Run "nigari state list" to see what it contains.{near}'
    else:
        known = ", ".join(str(instance_of(resource.address, key)) for key, _ in resource.in_order())
        hint = f"The resource has these instances: {known}."
    return Diagnostic(
        Severity.ERROR,
        "No instance found for the given address",
        f"The state has no object at {address}. {hint}",
        address=address.text,
    )


def run(invocation: Invocation) -> int:
    """Show the instance."""
    return run_command(invocation, _show)


COMMAND = Command(
    "state show",
    "Shows the attributes of one resource instance from the state. Sensitive values are hidden. "
    "In a shell, quote an address that contains brackets.",
    run,
    flags=(REVEAL_FLAG, *READING_FLAGS),
    arguments="ADDRESS",
    most_arguments=1,
    examples=(Example("nigari state show 'aws_instance.web[\"a\"]'", "one of several instances"),),
)
