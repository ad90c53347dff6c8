"""Saved plans: how a plan is saved, and the configuration and variables that it is restored with.

A saved plan holds the configuration, the variables and the prior state that it was made from, and
checksums of the other files that it read, which must be the same when it is applied. The format of
the file is in `nigari.plan.model.plan_file`; whether a plan is stale, `LockedSession` decides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from nigari.config.blocks.variable import Variable
from nigari.cty.errors import CtyError
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.eval.core.inputs import InputKind, Inputs, InputValue
from nigari.eval.nodes.variable import fitted
from nigari.eval.static.run import StaticRun
from nigari.lang.marks import EPHEMERAL
from nigari.packages.providers.lockfile import FILE_NAME
from nigari.plan.engine import PlanOutcome
from nigari.plan.model.plan_file import SavedPlan, checksum
from nigari.record import record, replace
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.configuration.modules import InstalledPackages
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.plans.plan_files import LinkedFiles, real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.workspace.states.backend import SavedBackend


@record
class Reopened:
    """The configuration and the variables of a saved plan, before anything is done with it."""

    saved: SavedPlan
    workspace: Workspace
    static: StaticRun
    inputs: Inputs

    @property
    def backend(self) -> SavedBackend | None:
        """The backend of the state that the plan was made with; None for the usual local file."""
        from nigari.workspace.states.backend import SavedBackend

        data = self.saved.backend
        return None if data is None else SavedBackend.from_data(data)


def lock_checksum(where: WorkingDirectory) -> str:
    """Return a digest of the lock file; empty if there is none."""
    try:
        return checksum(where.files.read(FILE_NAME))
    except OSError:
        return ""


def saved_plan(
    outcome: PlanOutcome,
    workspace: Workspace,
    read: Mapping[str, str],
    backend: SavedBackend | None,
    snapshot: tuple[str, int],
) -> SavedPlan:
    """Everything that applying a plan later needs."""
    packages = workspace.packages
    assert isinstance(packages, InstalledPackages)
    modules, links = packages.modules, packages.links
    kept = _kept_files(workspace, modules, links)
    places = workspace.modules.places.values()
    called = {real_path(each.directory, modules, links) for each in places}
    inputs = outcome.inputs.run_settings.inputs
    variables, given = _kept_variables(outcome)
    environment = workspace.where.environment
    lineage, serial = snapshot
    return SavedPlan(
        plan=replace(outcome.plan, timestamp=outcome.inputs.timestamp),
        graph=outcome.graph,
        workspace=outcome.inputs.run_settings.workspace,
        environment="" if environment is None else environment.name,
        lineage=lineage,
        serial=serial,
        lock=lock_checksum(workspace.where),
        files=read,
        variables=variables,
        given=given,
        origins={name: (each.origin, each.range) for name, each in inputs.items()},
        backend=None if backend is None else backend.to_data(),
        modules=modules,
        links=links,
        empty=frozenset(called - {os.path.dirname(path) for path in kept}),
        sources=kept,
    )


def _kept_files(workspace: Workspace, modules: str, links: Mapping[str, str]) -> dict[str, bytes]:
    """The files of the configuration and the list of installed modules, by their real paths."""
    from nigari.packages.modules.module_manifest import FILE_NAME as MANIFEST

    kept = {real_path(path, modules, links): text for path, text in workspace.sources.items()}
    manifest = os.path.join(modules, MANIFEST)
    if workspace.files.is_file(manifest):
        kept[manifest] = workspace.files.read(manifest)
    return kept


def _kept_variables(outcome: PlanOutcome) -> tuple[dict[str, Value], dict[str, Value]]:
    """Return the values of all variables except ephemeral ones, and of those set, as given."""
    variables: dict[str, Value] = {}
    given: dict[str, Value] = {}
    declared = outcome.inputs.static.root.module.variables
    for name, value in outcome.variables.items():
        if EPHEMERAL in value.marks:
            continue
        variables[name] = value
        written = outcome.inputs.run_settings.inputs.get(name)
        as_given = None if written is None else written.resolve(declared[name], Diagnostics())
        if as_given is not None:
            given[name] = as_given
    return variables, given


def plan_workspace(saved: SavedPlan, where: WorkingDirectory) -> Workspace:
    """The files of the configuration that a plan was made from."""
    files = LinkedFiles(saved)
    packages = InstalledPackages(files, ".", saved.modules, saved.links)
    workspace = Workspace(where, files=files, packages=packages)
    workspace.sources.update(saved.sources)
    return workspace


def reopened(
    saved: SavedPlan,
    workspace: Workspace,
    diags: Diagnostics,
    give: Callable[[Mapping[str, Variable]], Inputs] | None = None,
) -> Reopened | None:
    """The configuration that a plan was made from; None after reporting what is wrong with it.

    To be applied it needs the values of its ephemeral variables, which are given once more.
    """
    inputs = saved_inputs(saved)
    root = workspace.modules.compiled(workspace.directory, Diagnostics())
    if give is not None and root is not None:
        variables = root.module.variables
        again = _given_again(variables, inputs, give(variables), diags)
        if again is None:
            return None
        inputs = again
    static, problems = workspace.static(inputs, saved.workspace)
    diags.extend(problems)
    if static is None or diags.has_errors:
        return None
    return Reopened(saved, workspace, static, inputs)


def saved_inputs(saved: SavedPlan) -> Inputs:
    """The values of variables that a plan was made with."""
    origins, given = saved.origins, saved.given
    found: dict[str, InputValue] = {}
    for name, value in saved.variables.items():
        origin, where = origins.get(name, ("the plan" if name in given else "default", None))
        plain = value.unmark_deep()[0]
        found[name] = InputValue(InputKind.CALLER, origin, value=plain, written_at=where)
    return found


def _given_again(
    variables: Mapping[str, Variable], saved: Inputs, given: Inputs, diags: Diagnostics
) -> Inputs | None:
    """The values of all variables: those of the plan, and those of the ephemeral variables.

    Others need not be given again, and must not contradict the plan where they are; what the
    directory remembers is not given. What is wrong is reported.
    """
    found = dict(saved)
    for name, variable in variables.items():
        value = given.get(name)
        if value is not None and value.kind is InputKind.REMEMBERED:
            continue
        if variable.ephemeral:
            if value is not None:
                found[name] = value
            elif variable.default is None:
                diags.error(
                    "No value for variable",
                    f"The plan needs the ephemeral variable {name}, whose values are never "
                    "stored, so it must be set again to apply the plan: "
                    f"{advice().set_variable(name)}.",
                    variable.range,
                )
        elif value is not None and name in saved and not _agrees(variable, value, saved[name]):
            diags.error(
                "Value contradicts the plan",
                f"{value.giver} sets var.{name} to a different value than the plan was made "
                "with. Leave it out, or make a new plan.",
                value.range,
            )
    return None if diags.has_errors else found


def _agrees(variable: Variable, given: InputValue, saved: InputValue) -> bool:
    unreported = Diagnostics()
    value = given.resolve(variable, unreported)
    if value is None:
        return False
    if value.is_null and not variable.nullable:
        return True
    try:
        return fitted(variable, value) == saved.value
    except CtyError:
        return False
