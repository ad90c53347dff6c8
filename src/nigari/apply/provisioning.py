"""Runs the provisioners of an instance: once it exists, and before it is destroyed."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.module import module_from_steps
from nigari.apply.context import ApplyContext, OperationFailed
from nigari.apply.declared_instance import DeclaredInstance
from nigari.apply.provisioners.run import Provisioned, Provisioning
from nigari.config.blocks.provisioner import Provisioner
from nigari.cty.values import Value
from nigari.eval.core.instances import Frame
from nigari.plan.model.changes import Change
from nigari.plan.order.removed_blocks import RemoveStatement
from nigari.running.action_node import key_data
from nigari.state.model import ObjectStatus, StoredObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_CREATE: Final = "create"
_DESTROY: Final = "destroy"


async def provision(
    context: ApplyContext, declared: DeclaredInstance, change: Change, value: Value
) -> None:
    """Run what is to run once an object exists; until it has, the object is not sound."""
    frame, resource = declared.node.frame, declared.node.resource
    wanted = _at(context, frame, resource.provisioners, _CREATE)
    if not wanted:
        return
    sound = context.current(change.address)
    # maybeTainted after provisioners: if the process dies meanwhile, it is unknown what ran.
    # So the object is stored as tainted first.
    tainted = sound.with_status(ObjectStatus.TAINTED)
    context.draft.set_current(change.address, tainted, change.provider)
    await context.store()
    subject = Provisioned(change.address, frame, declared.data, resource.connection, value)
    if not await Provisioning(context, subject).run(wanted):
        raise OperationFailed
    context.draft.set_current(change.address, sound, change.provider)


async def provision_before_end(
    context: ApplyContext, change: Change, stored: StoredObject, prior: Value
) -> None:
    """Run what is to run before an object is destroyed, as its block or a `removed` block says.

    Nothing is run for an object that is not sound: what should have run when it was created has
    perhaps not run. An object goes before what it depends on is changed, so nothing but the object
    itself may be asked for here.
    """
    # evalApplyProvisioners: a tainted object is skipped.
    if stored.status is ObjectStatus.TAINTED:
        return
    address = change.address
    frame = context.run.bare_frame(address.module)
    resource = None if frame is None else frame.module.resources.get(address.item.resource)
    connection = None if resource is None else resource.connection
    provisioners = () if resource is None else resource.provisioners
    # A removed block replaces the provisioners of a resource block that no longer exists.
    if resource is None:
        statement = context.settings.removed.of(address)
        if statement is not None:
            provisioners = statement.provisioners
            frame = _frame_of(context, statement, address)
    if frame is None:
        return
    wanted = _at(context, frame, provisioners, _DESTROY)
    if not wanted:
        return
    subject = Provisioned(address, frame, key_data(address.item.key), connection, prior)
    if not await Provisioning(context, subject).run(wanted):
        raise OperationFailed


def _frame_of(
    context: ApplyContext, statement: RemoveStatement, address: AbsResourceInstance
) -> Frame | None:
    """Return the frame of a `removed` block: the instance of its module that contains the address."""
    steps = address.module.steps[: len(statement.module.steps)]
    return context.run.bare_frame(module_from_steps(steps))


def _at(
    context: ApplyContext, frame: Frame, provisioners: tuple[Provisioner, ...], moment: str
) -> list[Provisioner]:
    module = frame.instance.addr
    return [each for each in provisioners if context.settings.runs_at(module, each) == moment]
