"""A directory of configuration files with everything that surrounds it: where packages meet.

Only this module connects packages that do not know each other: the loader of configurations, the
installed modules, the providers, the evaluator. It loads a configuration once. The command line
and Python programs both work through it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from nigari.config.load import ModuleLoader
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.tree.placement_rules import check_places
from nigari.eval.tree.provider_rules import check_providers
from nigari.workspace.configuration.modules import CalledModules, InstalledPackages
from nigari.workspace.context.working_directory import home_directory

TYPE_CHECKING = False
# A configuration can be inspected without the modules that evaluate it.
if TYPE_CHECKING:
    from nigari.cty.function import Function
    from nigari.eval.core.causes import UnknownCause
    from nigari.eval.core.inputs import Inputs
    from nigari.eval.core.module_tree import Modules
    from nigari.eval.static.run import StaticRun, StaticSettings
    from nigari.lang.files import Files
    from nigari.workspace.configuration.modules import Packages
    from nigari.workspace.context.working_directory import WorkingDirectory


class Workspace:
    """A directory of configuration files, read once."""

    def __init__(
        self,
        where: WorkingDirectory,
        directory: str | None = None,
        files: Files | None = None,
        packages: Packages | None = None,
    ) -> None:
        """The configuration of a working directory, unless it is in another `directory`."""
        self.where = where
        self.directory: str = os.path.normpath(where.name if directory is None else directory)
        self.files: Files = where.files if files is None else files
        self.loader: ModuleLoader = ModuleLoader(self.files)
        self.home_directory: str | None = home_directory(where.environ)
        """The directory for `~`; None if the user has no home."""
        if packages is None:
            packages = InstalledPackages(self.files, self.directory, where.modules_name)
        self.packages = packages
        self.modules: CalledModules = CalledModules(self.files, self.loader, packages)

    @property
    def sources(self) -> dict[str, bytes]:
        """The files that have been read, for showing diagnostics."""
        return self.loader.sources

    def context_of(self, place: Range) -> str:
        """The name of the block around a place."""
        return self.loader.context_of(place)

    def static(
        self,
        inputs: Inputs,
        workspace: str = "default",
        can_ask: bool = False,
        modules: Modules | None = None,
        fill_places: Callable[[StaticRun], None] | None = None,
    ) -> tuple[StaticRun | None, Diagnostics]:
        """The static phase: the tree of modules and whatever is known before anything runs.

        Where someone can be asked, missing variables are not errors: the run asks for them.
        `fill_places` fills further static places, such as those of a backend.
        """
        from nigari.eval.static.run import run_static

        diags = Diagnostics()
        root = self.modules.compiled(self.directory, diags)
        if root is None:
            return None, diags
        static_settings = self.static_settings(inputs, workspace, modules)
        run = run_static(root, static_settings, can_ask, fill_places)
        diags.extend(run.diags)
        check_places(run.root.instance, diags)
        check_providers(run.root.instance, diags)
        return run, diags

    def static_settings(
        self, inputs: Inputs, workspace: str, modules: Modules | None = None
    ) -> StaticSettings:
        """The surroundings of the static phase: functions, modules, schemas and paths."""
        from nigari.eval.static.run import StaticSettings
        from nigari.workspace.configuration.builtin import BuiltinSchemas, builtin_function

        return StaticSettings(
            inputs=inputs,
            functions=self._functions(),
            modules=modules or self.modules,
            workspace=workspace,
            root_path=self.directory,
            working_path=self.where.current,
            schemas=BuiltinSchemas(has_store=False, modules=self.modules),
            provider_function=builtin_function,
        )

    def _functions(self) -> Mapping[str, Function]:
        from nigari.lang.functions.table import function_table

        home = self.home_directory
        root = self.where.absolute_root
        return function_table(self.files, ".", root=root, home_directory=home, deferral=_impure)


def _impure(name: str) -> UnknownCause:
    """The cause of an unknown result of a function that differs from call to call."""
    from nigari.addrs.module import ROOT_MODULE
    from nigari.eval.core.causes import CauseKind, UnknownCause

    return UnknownCause(CauseKind.IMPURE_FUNCTION, ROOT_MODULE, f"{name}()")
