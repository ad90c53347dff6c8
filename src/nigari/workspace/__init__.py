"""The composition root: a directory of configuration files with everything that surrounds it.

Only this module connects packages that do not know each other: the loader of configurations, the
installed modules, the providers, the evaluator. It loads a configuration once. The command line
and Python programs both work through it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.addrs.module import ROOT_MODULE
from nigari.config.load import ModuleLoader
from nigari.cty.function import Function
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.causes import CauseKind, UnknownCause
from nigari.eval.inputs import Inputs
from nigari.eval.static import StaticRun, Surroundings, run_static
from nigari.eval.validate import ValidateRun
from nigari.lang.files import DiskFiles, Files
from nigari.workspace.builtin import BuiltinSchemas, ask_builtin
from nigari.workspace.modules import InstalledModules


class Workspace:
    """A directory of configuration files, read once."""

    def __init__(self, directory: str = ".", files: Files | None = None) -> None:
        self.directory = os.path.normpath(directory)
        self.files: Files = DiskFiles() if files is None else files
        self.loader = ModuleLoader(self.files)
        self._modules = InstalledModules(self.loader)

    @property
    def sources(self) -> dict[str, bytes]:
        """The files that have been read, for showing diagnostics."""
        return self.loader.sources

    def context_of(self, place: Range) -> str:
        """The name of the block around a place."""
        return self.loader.context_of(place)

    def static(self, inputs: Inputs) -> tuple[StaticRun | None, Diagnostics]:
        """The static phase: the tree of modules and whatever is known before anything runs."""
        diags = Diagnostics()
        root = self._modules.compiled(self.directory, diags)
        if root is None:
            return None, diags
        surroundings = Surroundings(
            inputs=inputs,
            functions=self._functions(),
            modules=self._modules,
            root_path=self.directory,
            working_path=os.getcwd(),
        )
        run = run_static(root, surroundings)
        diags.extend(run.diags)
        return run, diags

    def validate(self, inputs: Inputs) -> Diagnostics:
        """Everything that is wrong with the configuration, whatever its variables."""
        run, diags = self.static(inputs)
        if run is None or diags.has_errors:
            return diags
        check = ValidateRun(run, BuiltinSchemas())
        check.run(ask_builtin)
        diags.extend(check.diags)
        return diags

    def _functions(self) -> Mapping[str, Function]:
        from nigari.lang.functions.table import function_table

        return function_table(self.files, ".", deferral=_impure)


def _impure(name: str) -> UnknownCause:
    """Why a function that gives another result at every call gives none before planning."""
    return UnknownCause(CauseKind.IMPURE_FUNCTION, ROOT_MODULE, f"{name}()")
