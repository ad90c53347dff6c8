"""Where the modules come from that calls ask for: the caller's own package, or the installed ones."""

from __future__ import annotations

import os

from nigari.addrs.module_source import LocalSource, parse_module_source, parse_registry_source
from nigari.config.load import ModuleLoader
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.compile import CompiledModule
from nigari.eval.instances import ModuleInstance
from nigari.eval.module_call import InstallModule


class InstalledModules:
    """Finds the modules that calls ask for.

    They are in the caller's own package, or where they were installed.
    """

    def __init__(self, loader: ModuleLoader) -> None:
        self._loader = loader
        self._compiled: dict[str, CompiledModule | None] = {}

    def compiled(self, directory: str, diags: Diagnostics) -> CompiledModule | None:
        """The module in a directory, read and compiled once."""
        if directory not in self._compiled:
            module = self._loader.load(directory, diags)
            self._compiled[directory] = None if module is None else CompiledModule(module)
        return self._compiled[directory]

    def load(
        self, effect: InstallModule, caller: ModuleInstance, diags: Diagnostics
    ) -> CompiledModule | None:
        """The module that a call asks for."""
        call = caller.module.calls[effect.addr.name]
        where = call.source.range
        parse = parse_module_source if effect.version is None else parse_registry_source
        source = parse(effect.source, diags, where)
        if source is None:
            return None
        if isinstance(source, LocalSource):
            directory = os.path.normpath(os.path.join(caller.module.directory, source.path))
            if _calls_itself(directory, caller):
                _report_recursion(effect, where, diags)
                return None
            return self.compiled(directory, diags)
        diags.error(
            "Module not installed",
            f"{effect.addr} comes from {source.display}, which is not installed here. Run "
            '"nigari init" to install it.',
            where,
        )
        return None


def _calls_itself(directory: str, caller: ModuleInstance) -> bool:
    instance: ModuleInstance | None = caller
    while instance is not None:
        if os.path.normpath(instance.module.directory) == directory:
            return True
        instance = instance.parent
    return False


def _report_recursion(effect: InstallModule, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Module that calls itself",
        f"The source of {effect.addr} leads back to a directory that this call comes from, so "
        "there would be no end to it.",
        where,
    )
