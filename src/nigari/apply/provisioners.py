"""Provisioners: commands that run once an object exists, or before it is destroyed.

Only `local-exec` is known. Commands that are not quiet are told with their output, line by line;
where secrets are among their arguments, nothing of either is shown.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from nigari.addrs.absolute import AbsResourceInstance
from nigari.apply.host import AppliedResource, ApplyHost
from nigari.config.provisioner import Provisioner
from nigari.cty.values import Value
from nigari.eval.expansion import InstanceData
from nigari.eval.instances import Frame
from nigari.eval.scope import evaluate_body
from nigari.schema.decode import decoder_spec
from nigari.schema.provisioners import PROVISIONERS

Say = Callable[[str], None]

LOCAL: Final = "local-exec"
CREATE: Final = "create"
DESTROY: Final = "destroy"
_SHELL: Final = ("/bin/sh", "-c")


class Provisioning:
    """Runs the provisioners of one resource instance."""

    def __init__(
        self,
        host: ApplyHost,
        node: AppliedResource,
        data: InstanceData,
        say: Say,
        continues: Callable[[Provisioner], bool],
    ) -> None:
        self._host = host
        self._node = node
        self._data = data
        self._say = say
        self._continues = continues
        """Whether the failure of a provisioner does not matter."""

    async def run(
        self,
        provisioners: Sequence[Provisioner],
        address: AbsResourceInstance,
        self_value: Value,
    ) -> bool:
        """Run them one after the other; False where one failed and that matters."""
        for provisioner in provisioners:
            succeeded = await self._one(provisioner, address, self_value)
            if not succeeded and not self._continues(provisioner):
                return False
        return True

    async def _one(
        self, provisioner: Provisioner, address: AbsResourceInstance, self_value: Value
    ) -> bool:
        frame = self._node.frame
        config = self._config(frame, provisioner, self_value)
        if config is None:
            return False
        plain, marks = config.unmark_deep()
        arguments = plain.mapping()
        command = arguments["command"]
        name = f"{address} ({LOCAL})"
        is_shown = not marks and arguments["quiet"].data is not True
        if command.is_null or not command.is_known:
            return False
        interpreter = list(_texts(arguments["interpreter"])) or list(_SHELL)
        self._say(f"{name}: Executing: {[*interpreter, command.as_string()] if is_shown else '…'}")
        folder = arguments["working_dir"].data
        return await self._execute(
            [*interpreter, command.as_string()],
            _environment(arguments["environment"]),
            folder if isinstance(folder, str) else None,
            name if not marks else "",
            provisioner,
        )

    def _config(self, frame: Frame, provisioner: Provisioner, self_value: Value) -> Value | None:
        errors = self._host.diags.error_count
        spec = decoder_spec(PROVISIONERS[LOCAL])
        compiled = frame.instance.compiled.body(provisioner.body, spec)
        config: Value | None = None
        while config is None:
            found = evaluate_body(frame, compiled, self._data, self_value)
            config = self._host.value(found)
        return config if self._host.diags.error_count == errors else None

    async def _execute(
        self,
        command: list[str],
        environment: dict[str, str],
        folder: str | None,
        name: str,
        provisioner: Provisioner,
    ) -> bool:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, **environment},
            )
        except OSError as error:
            self._report(provisioner, f"The command cannot be started: {error.strerror}.")
            return False
        assert process.stdout is not None
        tail: list[str] = []
        async for line in process.stdout:
            text = line.decode(errors="replace").rstrip("\r\n")
            tail = [*tail[-19:], text]
            if name:
                self._say(f"{name}: {text}")
        status = await process.wait()
        if status:
            shown = "\n".join(tail) if name else "(output is not shown)"
            self._report(provisioner, f"The command ended with status {status}. Output:\n{shown}")
        return status == 0

    def _report(self, provisioner: Provisioner, detail: str) -> None:
        diags = self._host.diags
        tell = diags.warning if self._continues(provisioner) else diags.error
        tell("Provisioner failed", detail, provisioner.range)


def _texts(value: Value) -> Iterator[str]:
    if not value.is_null and value.is_known:
        for each in value.sequence():
            if isinstance(each.data, str):
                yield each.data


def _environment(value: Value) -> dict[str, str]:
    if value.is_null or not value.is_known:
        return {}
    return {key: each.data for key, each in value.mapping().items() if isinstance(each.data, str)}
