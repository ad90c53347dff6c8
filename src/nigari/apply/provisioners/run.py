"""Provisioners of one object: evaluates their arguments, runs them, and reports their output.

Where secrets are among the arguments, nothing of the output is shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from functools import partial

from nigari.addrs.absolute import AbsResourceInstance
from nigari.apply.context import ApplyContext
from nigari.apply.provisioners.provisioner import Arguments, Machine, ProvisionerFailure, Say
from nigari.cty.values import Value
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate_body
from nigari.eval.core.worklist import Need
from nigari.hcl.body import Body
from nigari.record import record
from nigari.running.unknown_values import is_reported
from nigari.schema.block import Block
from nigari.schema.decode import decoder_spec
from nigari.schema.provisioners import CONNECTION, PROVISIONERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.blocks.provisioner import Connection, Provisioner


@record
class Provisioned:
    """An object that provisioners run for."""

    address: AbsResourceInstance
    frame: Frame
    """Whose names the arguments can use."""
    data: InstanceData
    connection: Connection | None
    """The resource's connection, for provisioners without one of their own."""
    value: Value
    """The value of `self`."""


class Provisioning:
    """Runs provisioners for one object."""

    def __init__(self, context: ApplyContext, subject: Provisioned) -> None:
        self._context = context
        self._subject = subject

    async def run(self, provisioners: Sequence[Provisioner]) -> bool:
        """Run them one after the other; False where one failed and that matters."""
        for provisioner in provisioners:
            if not await self._one(provisioner):
                return False
        return True

    async def _one(self, provisioner: Provisioner) -> bool:
        """Run one; False if the object must not be changed any further.

        `on_failure` (applyProvisioners in OpenTofu) covers the run, not arguments without values.
        """
        context, kind = self._context, provisioner.type
        address = self._subject.address
        found = await self._value(provisioner.body, PROVISIONERS[kind])
        # applyProvisioners: the connection of the provisioner overrides that of the
        # resource argument by argument, as override files do.
        body = provisioner.connection_over(self._subject.connection)
        way = None if body is None else await self._value(body, CONNECTION)
        if found is None or (way is None and body is not None):
            return False
        context.view.provision_started(address, kind)
        # Programs print their arguments, so output is hidden if any is sensitive or
        # ephemeral. Connections are exempt: provisioners do not print them.
        plain, marks = found.unmark_deep()
        say: Say = partial(context.view.provision_said, address, kind)
        if marks:
            context.view.provision_hides(address, kind)
            say = partial(context.view.provision_revealed, address, kind)
        try:
            mocked = context.run.pool.overrides.for_provisioner(kind)
            if mocked:
                raise ProvisionerFailure(mocked)
            if mocked is None:
                await self._interruptible(
                    _work(kind, plain.mapping(), _plain(way), context.machine, say)
                )
        except ProvisionerFailure as failure:
            context.view.provision_finished(address, kind, False)
            return self._report(provisioner, str(failure), is_secret=bool(marks))
        context.view.provision_finished(address, kind, True)
        return True

    async def _interruptible(self, work: Coroutine[None, None, None]) -> None:
        """Do something that ends when applying is stopped."""
        task = asyncio.ensure_future(work)
        self._context.provisioning.add(task)
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait((task,))
            raise
        finally:
            self._context.provisioning.discard(task)
        if task.cancelled():
            raise ProvisionerFailure("It was interrupted.")
        task.result()

    # -- arguments ----------------------------------------------------------------------------

    async def _value(self, body: Body, schema: Block) -> Value | None:
        """The value of a body, all of it known; None after reporting why there is none."""
        subject, run = self._subject, self._context.run
        compiled = subject.frame.instance.compiled.body(body, decoder_spec(schema))
        has_failed = False

        def find() -> Value | list[Need]:
            # What others report while this waits says nothing about it.
            nonlocal has_failed
            errors = run.diags.error_count
            found = evaluate_body(subject.frame, compiled, subject.data, subject.value)
            has_failed = has_failed or run.diags.error_count > errors
            return found

        value = await run.value(find)
        if has_failed or is_reported(value):
            return None
        if not value.is_wholly_known:
            run.diags.error(
                "Unknown provisioner arguments",
                f"Some arguments of a provisioner of {subject.address} are still unknown.",
                body.missing_item_range,
                address=str(subject.address),
            )
            return None
        return value

    def _report(self, provisioner: Provisioner, detail: str, is_secret: bool) -> bool:
        """Report a failure; True if the others run nevertheless."""
        diags, module = self._context.diags, self._subject.frame.instance.addr
        continues = self._context.settings.continues_after(module, provisioner)
        if is_secret:
            detail = "The reason is not shown, because some of its arguments are secret."
        tell = diags.warning if continues else diags.error
        tell(
            f"Provisioner {provisioner.type} failed",
            detail,
            provisioner.range,
            address=str(self._subject.address),
        )
        return continues


def _work(
    kind: str, arguments: Arguments, way: Arguments | None, machine: Machine, say: Say
) -> Coroutine[None, None, None]:
    from nigari.apply.provisioners.local_exec import run_local

    if kind == "local-exec":
        return run_local(arguments, machine, say)
    from nigari.apply.provisioners.remote import copy_files, run_remote

    work = run_remote if kind == "remote-exec" else copy_files
    return work(arguments, way, machine, say)


def _plain(value: Value | None) -> Arguments | None:
    """Arguments without marks: what a connection has is never shown."""
    return None if value is None else value.unmark_deep()[0].mapping()
