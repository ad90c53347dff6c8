"""The modules that only tests use, and the providers that only test files name.

They are installed with the others, since tests find them there. Each module is the beginning of a
tree of its own, in which the variables have the values that the test gives them. What a test does
with it is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from nigari.addrs.module import module_from_names
from nigari.addrs.provider import LocalProviderConfig, Provider
from nigari.config.core.literals import is_written_out, written_value
from nigari.config.module import Module
from nigari.config.test_files import TestFile, TestRun, check_run
from nigari.config.test_mocks import check_overrides
from nigari.cty.types import STRING
from nigari.diagnostics import Diagnostics
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.inputs import InputKind, Inputs, InputValue
from nigari.eval.core.instances import Origin
from nigari.eval.core.module_tree import InstallModule
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.static.run import StaticRun, run_static
from nigari.eval.tree.placement_rules import check_places
from nigari.eval.tree.provider_rules import check_providers
from nigari.hcl.body import Block
from nigari.lang.versions import parse_provider_constraints
from nigari.packages.providers.requirement import Requirement
from nigari.record import replace
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.configuration.modules import CalledModules
from nigari.workspace.explain.queries import ValueQuery


def find_test_modules(
    workspace: Workspace,
    files: Sequence[TestFile],
    run: StaticRun,
    selected: str,
    diags: Diagnostics,
) -> list[StaticRun]:
    """The tree of each module that a test names; what is wrong with one is reported."""
    found: list[StaticRun] = []
    used: dict[Block, Module] = {}
    for file in files:
        for test in file.runs:
            module = load_tested(workspace, file, test, diags)
            if module is None:
                continue
            used[test.block] = module.module
            static_settings = workspace.static_settings(_inputs(run, test), selected)
            addr = module_from_names(file.module_path(test))
            tree = run_static(module, replace(static_settings, address=addr))
            diags.extend(tree.diags)
            found.append(tree)
    check_types(files, run.root.module, used, diags)
    return found


def tested_modules(
    workspace: Workspace, files: Sequence[TestFile], diags: Diagnostics
) -> list[tuple[CompiledModule, CalledModules]]:
    """Each local module that a test names, once, after reporting what is wrong with the test
    files themselves.
    """
    root = workspace.modules.compiled(workspace.directory, Diagnostics())
    used: dict[Block, Module] = {}
    compiled: dict[str, tuple[CompiledModule, CalledModules]] = {}
    for file in files:
        check_overrides(file.overrides, diags)
        for run in file.runs:
            check_run(run, diags)
            module = load_tested(workspace, file, run, diags)
            if run.module is not None and module is not None:
                used[run.block] = module.module
                if run.module.source.startswith(("./", "../")):
                    compiled.setdefault(
                        run.module.source, (module, modules_below(workspace, file, run))
                    )
    if root is not None:
        check_types(files, root.module, used, diags)
    return list(compiled.values())


def tested_trees(
    workspace: Workspace,
    modules: Sequence[tuple[CompiledModule, CalledModules]],
    selected: str,
    fill_places: Callable[[StaticRun], None],
    diags: Diagnostics,
) -> Iterator[StaticRun]:
    """The tree of each of these modules, as far as nothing is wrong with it."""
    for module, below in modules:
        static_settings = workspace.static_settings({}, selected, below)
        tree = run_static(module, static_settings, fill_places=fill_places)
        diags.extend(tree.diags)
        check_places(tree.root.instance, diags)
        check_providers(tree.root.instance, diags)
        if not diags.has_errors:
            yield tree


def load_tested(
    workspace: Workspace, file: TestFile, run: TestRun, diags: Diagnostics
) -> CompiledModule | None:
    """The module that a run names; None where it names none, or that cannot be had."""
    wanted = run.module
    if wanted is None:
        return None
    effect = InstallModule(module_from_names(file.module_path(run)), wanted.source, wanted.version)
    return workspace.modules.load_beginning(effect, workspace.directory, wanted.range, diags)


def modules_below(workspace: Workspace, file: TestFile, run: TestRun) -> CalledModules:
    """The modules that the module of a run calls."""
    return workspace.modules.beginning_at(module_from_names(file.module_path(run)))


def _inputs(run: StaticRun, test: TestRun) -> Inputs:
    """The values that a test gives, as far as they are known now."""
    inputs: dict[str, InputValue] = {}
    for name, expr in test.variables.items():
        origin = Origin(run.root, run.root.instance.compiled.expression(expr))
        question = ValueQuery(f"var.{name}", origin)
        run.evaluate([question])
        inputs[name] = InputValue(InputKind.CALLER, "the test", value=question.value)
    return inputs


# -- providers ----------------------------------------------------------------------------------


def file_requirements(files: Sequence[TestFile], root: Module) -> list[Requirement]:
    """The requirements of the provider blocks in test files. Mocks have none."""
    found: list[Requirement] = []
    for file in files:
        for config in file.providers.values():
            provider = provider_of(root, config.name)
            asked = Requirement(provider, module=f"test.{file.name}", subject=config.range)
            if config.version is not None and is_written_out(config.version):
                text = written_value(config.version, STRING, "version", Diagnostics())
                if text is not None:
                    parsed = parse_provider_constraints(
                        text.as_string(), Diagnostics(), config.range
                    )
                    asked = asked if parsed is None else replace(asked, constraints=parsed)
            found.append(asked)
    return found


def check_types(
    files: Sequence[TestFile],
    root: Module,
    modules: Mapping[Block, Module],
    diags: Diagnostics,
) -> None:
    """Report provider blocks of test files that runs of the root module need for another provider.

    As in OpenTofu, a local name gets its provider from the first run that uses it, and runs of
    other modules are not checked: there, a block configures whatever the module calls by the name.
    """
    for file in files:
        types: dict[str, Provider] = {}
        for run in file.runs:
            module = modules.get(run.block, root)
            if run.providers:
                _check_passed(file, run, module, types, diags)
            else:
                _check_own(file, run, module, types, diags)


def _check_passed(
    file: TestFile, run: TestRun, module: Module, types: dict[str, Provider], diags: Diagnostics
) -> None:
    """Check what a run passes with its argument `providers`."""
    names = {config.name for config in file.providers.values()}
    for passed in run.providers:
        if passed.in_parent.name not in names:
            continue
        wanted = provider_of(module, passed.in_child.name)
        given = types.setdefault(passed.in_parent.name, wanted)
        if given != wanted and run.module is None:
            diags.error(
                "Configuration of the wrong provider",
                f"{passed.in_parent} is used for {given.display} in another run of this file, so "
                f"it cannot be passed as {passed.in_child}, which is {wanted.display}. Add a "
                "provider block of another name.",
                passed.in_parent.range,
            )


def _check_own(
    file: TestFile, run: TestRun, module: Module, types: dict[str, Provider], diags: Diagnostics
) -> None:
    """Check the blocks that replace those which the module of a run declares."""
    declared = _declared_configs(module)
    names = {config.name for config in declared}
    for config in file.providers.values():
        if config.name not in names:
            continue
        wanted = provider_of(module, config.name)
        given = types.setdefault(config.name, wanted)
        if given != wanted and run.module is None and config.addr in declared:
            diags.error(
                "Configuration of the wrong provider",
                f"{config.addr} is used for {given.display} in another run of this file, so it "
                f'cannot configure {wanted.display} in the run "{run.name}". Pass a provider block '
                "of another name there, with the argument providers.",
                config.range,
            )


def _declared_configs(module: Module) -> set[LocalProviderConfig]:
    """The provider configurations that a module names outside of its resources."""
    found = set(module.provider_configs)
    for name, required in module.required_providers.items():
        found |= {LocalProviderConfig(name), *required.configuration_aliases}
    return found
