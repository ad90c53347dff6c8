"""Validating the configuration of a directory: its modules, its test files, with providers or without."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from nigari.diagnostics import Diagnostics
from nigari.eval.tree.provider_iteration import check_provider_iteration
from nigari.eval.tree.provider_rules import check_aliases
from nigari.workspace.configuration.modules import NoModules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.addrs.provider import Provider
    from nigari.eval.core.compile import CompiledModule
    from nigari.eval.core.inputs import Inputs
    from nigari.eval.static.run import StaticRun
    from nigari.workspace.configuration.directory import Workspace
    from nigari.workspace.configuration.modules import CalledModules
    from nigari.workspace.plugins.providers import InstalledProviders


def validate(
    workspace: Workspace,
    inputs: Inputs,
    with_plugins: bool = True,
    selected: str = "default",
    tests: str | None = None,
) -> Diagnostics:
    """Everything that is wrong with a configuration, whatever its variables.

    The required providers must be installed and are started for it, unless only the built-in one
    validates. `tests` is the directory of the test files, which are checked as well.

    Mistakes in the root module come first and alone: reports about the modules that it calls are
    seldom worth reading while they stand.
    """
    declared = Diagnostics()
    workspace.modules.compiled(workspace.directory, declared)
    if declared.has_errors:
        return workspace.static(inputs, selected, modules=NoModules())[1]
    unread = Diagnostics()
    files = [] if tests is None else workspace.loader.tests(workspace.directory, tests, unread)
    needed = _Needed()
    fill_places = needed.find if with_plugins else None
    run, diags = workspace.static(inputs, selected, fill_places=fill_places)
    if run is None or diags.has_errors:
        return diags
    diags.extend(unread)
    modules: Sequence[tuple[CompiledModule, CalledModules]] = ()
    if files and not diags.has_errors:
        from nigari.workspace.configuration.test_modules import tested_modules

        modules = tested_modules(workspace, files, diags)
    if diags.error_count:
        return diags
    check_provider_iteration(run.root.instance, diags)
    _look_at(workspace, run, needed.providers, diags)
    if modules and not diags.error_count:
        from nigari.workspace.configuration.test_modules import tested_trees

        needed = _Needed()
        for tree in tested_trees(workspace, modules, selected, needed.find, diags):
            plugins = needed.providers if with_plugins else ()
            _look_at(workspace, tree, plugins, diags)
    return diags


def _installed(
    workspace: Workspace, needed: Collection[Provider], diags: Diagnostics
) -> InstalledProviders | None:
    """The providers of the directory, if all that are needed are among them, or are built in.

    Where one is missing none is started, and nothing is imported that talks to them.
    """
    from nigari.workspace.plugins.providers import InstalledProviders

    installed = InstalledProviders(workspace.where)
    if installed.are_there(needed, diags):
        return installed
    diags.extend(installed.problems)
    return None


def _look_at(
    workspace: Workspace,
    run: StaticRun,
    needed: Collection[Provider],
    diags: Diagnostics,
) -> None:
    """Look at everything in a tree of modules, with the providers that it needs."""
    check_aliases(run.root.instance, diags)
    if any(not provider.is_builtin for provider in needed):
        installed = _installed(workspace, needed, diags)
        if installed is not None:
            installed.start_ahead(needed)
            from nigari.workspace.configuration.validate import validate_with_plugins
            from nigari.workspace.context.asyncio_bridge import run_to_end

            run_to_end(validate_with_plugins(run, needed, installed, diags))
        return
    from nigari.eval.validate.run import ValidateRun
    from nigari.workspace.configuration.builtin import BuiltinSchemas, ask_builtin, has_store
    from nigari.workspace.configuration.validation_cycles import report_cycles

    schemas = BuiltinSchemas(has_store(run.root.instance))
    check = ValidateRun(run, schemas)
    check.run(partial(ask_builtin, workspace.where.environ))
    diags.extend(check.diags)
    report_cycles(run.root.instance, schemas, diags)


class _Needed:
    """The providers that a tree of modules needs, found while it is evaluated."""

    def __init__(self) -> None:
        self.providers: set[Provider] = set()

    def find(self, run: StaticRun) -> None:
        from nigari.workspace.configuration.requirements import find_requirements

        self.providers.update(each.provider for each in find_requirements(run))
