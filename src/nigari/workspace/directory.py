"""A directory of configuration files with everything that surrounds it: where packages meet.

Only this module connects packages that do not know each other: the loader of configurations, the
installed modules, the providers, the evaluator. It loads a configuration once. The command line
and Python programs both work through it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from nigari.addrs.module import ROOT_MODULE
from nigari.addrs.provider import Provider
from nigari.config.load import ModuleLoader
from nigari.config.module_tree import check_places
from nigari.config.provider_rules import check_aliases, check_providers
from nigari.cty.function import Function
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.causes import CauseKind, UnknownCause
from nigari.eval.inputs import InputKind, Inputs, InputValue, check_undeclared
from nigari.eval.static import Modules, StaticRun, Surroundings, run_static
from nigari.lang.files import DiskFiles, Files
from nigari.workspace.builtin import BuiltinSchemas, ask_builtin, builtin_function
from nigari.workspace.home_directory import home_directory
from nigari.workspace.modules import CalledModules, InstalledPackages, NoModules, Packages
from nigari.workspace.view import Configuration


class Workspace:
    """A directory of configuration files, read once."""

    def __init__(
        self,
        directory: str = ".",
        files: Files | None = None,
        packages: Packages | None = None,
        data_directory: str | None = None,
        environ: Mapping[str, str] | None = None,
        working_path: str = "",
    ) -> None:
        """`working_path` is where the program was started, and `environ` its environment, where
        they are not those of this process.
        """
        self.directory = os.path.normpath(directory)
        self.files: Files = DiskFiles() if files is None else files
        self.loader = ModuleLoader(self.files)
        self.home_directory = home_directory(os.environ if environ is None else environ)
        """What `~` stands for; None where the user has no home."""
        self._working_path = working_path
        if packages is None:
            data = data_directory or os.path.join(directory, ".terraform")
            modules = os.path.normpath(os.path.join(data, "modules")).replace(os.sep, "/")
            packages = InstalledPackages(self.files, self.directory, modules)
        self.packages = packages
        self.modules = CalledModules(self.files, self.loader, packages)

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

        Where someone can be asked, missing variables are not errors but wishes of the run.
        `fill_places` fills further static places, such as those of a backend.
        """
        diags = Diagnostics()
        root = self.modules.compiled(self.directory, diags)
        if root is None:
            return None, diags
        surroundings = self.surroundings(inputs, workspace, modules)
        run = run_static(root, surroundings, can_ask, fill_places)
        diags.extend(run.diags)
        check_places(run.root.instance, diags)
        check_providers(run.root.instance, diags)
        return run, diags

    def surroundings(
        self, inputs: Inputs, workspace: str, modules: Modules | None = None
    ) -> Surroundings:
        """What the static phase is told about the world."""
        return Surroundings(
            inputs=inputs,
            functions=self._functions(),
            modules=modules or self.modules,
            workspace=workspace,
            root_path=self.directory,
            working_path=self._working_path or os.getcwd(),
            schemas=BuiltinSchemas(),
            provider_function=builtin_function,
        )

    def validate(
        self,
        inputs: Inputs,
        environ: Mapping[str, str] | None = None,
        workspace: str = "default",
    ) -> Diagnostics:
        """Everything that is wrong with the configuration, whatever its variables.

        With an environment, the providers that are needed must be installed and are started to
        look at it; without one, only the built-in provider does.

        Mistakes in the root module come first and alone: what is told of the modules that it calls
        is seldom worth reading while they stand.
        """
        declared = Diagnostics()
        self.modules.compiled(self.directory, declared)
        if declared.has_errors:
            return self.static(inputs, workspace, modules=NoModules())[1]
        needed: set[Provider] = set()

        def find_needed(run: StaticRun) -> None:
            from nigari.workspace.requirements import find_requirements

            needed.update(each.provider for each in find_requirements(run))

        fill_places = None if environ is None else find_needed
        run, diags = self.static(inputs, workspace, fill_places=fill_places)
        if run is None or diags.has_errors:
            return diags
        check_aliases(run.root.instance, diags)
        if environ is not None and any(not provider.is_builtin for provider in needed):
            from nigari.workspace.validate import validate_with_plugins
            from nigari.workspace.waiting import run_to_end

            run_to_end(validate_with_plugins(run, needed, self.directory, environ, diags))
            return diags
        from nigari.eval.validate import ValidateRun

        check = ValidateRun(run, BuiltinSchemas())
        check.run(ask_builtin)
        diags.extend(check.diags)
        return diags

    def _functions(self) -> Mapping[str, Function]:
        from nigari.lang.functions.table import function_table

        home = self.home_directory
        return function_table(self.files, ".", home_directory=home, deferral=_impure)


def load(
    path: str | os.PathLike[str] = ".", variables: Mapping[str, object] | None = None
) -> Configuration:
    """The configuration in a directory, for programs that look at it.

    `variables` are plain Python values, or `cty` values, for the root module's input variables.
    Nothing is asked for and no provider is started: what cannot be known before planning is
    unknown, and says why.
    """
    inputs = {
        name: InputValue(InputKind.CALLER, "the caller", value=Value.of(value))
        for name, value in (variables or {}).items()
    }
    workspace = Workspace(os.fspath(path))
    run, diags = workspace.static(inputs)
    if run is not None:
        check_undeclared(inputs, run.root.module.variables, diags)
    return Configuration(run, diags, workspace.sources)


def _impure(name: str) -> UnknownCause:
    """Why a function that gives another result at every call gives none before planning."""
    return UnknownCause(CauseKind.IMPURE_FUNCTION, ROOT_MODULE, f"{name}()")
