"""The check that every command but `init` makes of its backend: was its location set up here?

Where the arguments of a backend depend on variables or on the workspace, other values of those lead
to another location. One that an `init` of this directory has set up is used without another init.
Any other is refused, since a typo would lead to a second world; a state that is there does not
count where a variable leads to it. A workspace that was selected by its name is enough where its
state exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.eval.static.backend import BackendArguments, inputs_behind
from nigari.eval.static.run import StaticRun
from nigari.record import record, replace
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.states.backend import (
    DEFAULT_BACKEND,
    BackendChange,
    BackendMemory,
    ConfiguredBackend,
    GivenArgument,
    SavedBackend,
    backend_hash,
    changed_arguments,
    check_arguments,
    compare,
    environment_settings,
    find_arguments,
    merged,
    report_changed,
    report_not_set_up,
    report_unset,
    shown,
    workspace_not_set_up,
)
from nigari.workspace.states.locations import (
    Location,
    Locations,
    load_locations,
    location_digest,
    written_digest,
)


@record
class CheckedBackend:
    """The backend of a command, compared with the locations that were set up."""

    other: SavedBackend | None = None
    """The backend to use instead of the one of the last init."""
    differences: tuple[str, ...] = ()
    """The arguments that lead elsewhere than at the last init, with their values and why."""
    uses_workspace: bool = False
    """True if each workspace may have a location of its own."""
    missing: Diagnostic | None = None
    """The diagnostic for a missing state: the location was not set up."""

    @property
    def text(self) -> str:
        """A line that says where the state is; empty where that is where the last init left it."""
        if not self.differences:
            return ""
        return f"The state is in another location than at init: {'; '.join(self.differences)}."


InWorkspace = Callable[[str], StaticRun | None]
"""Gives the static phase with another workspace selected."""


def check_backend(
    run: StaticRun,
    where: WorkingDirectory,
    workspace: str,
    in_workspace: InWorkspace,
    diags: Diagnostics,
) -> CheckedBackend:
    """Find the backend of a workspace; report one whose location no init has set up."""
    saved = BackendMemory(where.data_directory).load(diags)
    # What else is wrong with the configuration does not concern the backend.
    arguments, found = run.noting(partial(find_arguments, run))
    diags.extend(found)
    if diags.has_errors:
        return CheckedBackend()
    locations = load_locations(where.data_directory, saved)
    check = _Check(where, saved, locations, diags)
    if arguments is None:
        return check.without_block()
    wanted = check.wanted(arguments, diags)
    if wanted is None:
        return CheckedBackend()
    if not locations.all:
        report_not_set_up(wanted, diags)
        return CheckedBackend()
    inputs = inputs_behind(place.origin for place in arguments.places.values())
    checked = check.located(wanted, workspace, in_workspace if inputs.uses_workspace else None)
    return replace(checked, uses_workspace=inputs.uses_workspace)


def check_plan(
    backend: SavedBackend | None, where: WorkingDirectory, workspace: str, diags: Diagnostics
) -> CheckedBackend:
    """Check the location of a saved plan, which says itself where its state is."""
    saved = BackendMemory(where.data_directory).load(diags)
    locations = load_locations(where.data_directory, saved)
    known = locations.find(backend)
    if known is None:
        # A directory that was never set up for any other state takes the plan's word, as in OpenTofu.
        if locations.all:
            _report_plan(backend, locations.all, diags)
        return CheckedBackend(backend)
    return CheckedBackend(backend, missing=_missing(known, where, workspace))


def _missing(
    known: Location | None, where: WorkingDirectory, workspace: str, changes: tuple[str, ...] = ()
) -> Diagnostic | None:
    """Return the diagnostic for a missing state of a workspace that was not set up; None if it was."""
    if known is not None and known.has(workspace):
        return None
    set_by = where.selected(Diagnostics()).set_by
    if known is not None and not set_by and not where.selects_default:
        # A workspace command has made or selected it in this directory, be it OpenTofu's.
        return None
    return workspace_not_set_up(workspace, set_by, changes)


@record
class _Check:
    where: WorkingDirectory
    saved: SavedBackend | None
    locations: Locations
    diags: Diagnostics

    def without_block(self) -> CheckedBackend:
        """The backend where the configuration has none: the usual local file."""
        if self.saved is None:
            return CheckedBackend()
        if self.locations.find(None) is None:
            report_unset(self.saved, self.diags)
            return CheckedBackend()
        return CheckedBackend(DEFAULT_BACKEND)

    def wanted(self, arguments: BackendArguments, diags: Diagnostics) -> ConfiguredBackend | None:
        """The backend that the configuration leads to, with what init was given for it."""
        settings = environment_settings(self.where)
        given = given_before(arguments, settings, self.saved, self.locations)
        return merged(arguments, {**settings, **given}, diags)

    def located(
        self, wanted: ConfiguredBackend, workspace: str, in_workspace: InWorkspace | None
    ) -> CheckedBackend:
        """The backend, if its location may be used."""
        saved = self.saved
        is_overridden = bool(environment_settings(self.where))
        is_last = compare(wanted, saved, is_overridden) not in (
            BackendChange.OTHER,
            BackendChange.FIRST,
        )
        if not is_last:
            check_arguments(wanted, self.where.environ, self.diags)
            if self.diags.has_errors:
                return CheckedBackend()
        known = self.locations.find(saved if is_last else wanted.saved)
        if known is None and not self._depends_on_workspace(in_workspace):
            report_changed(wanted, saved or DEFAULT_BACKEND, self.diags)
            return CheckedBackend()
        lines = () if is_last else differences(wanted, saved)
        missing = _missing(known, self.where, workspace, lines if known is None else ())
        return CheckedBackend(None if is_last else wanted.saved, lines, missing=missing)

    def _depends_on_workspace(self, in_workspace: InWorkspace | None) -> bool:
        """Return whether nothing but the workspace leads to another location than those known: with one
        of the workspaces that were set up, everything else leads to its location.
        """
        if in_workspace is None:
            return False
        for name in self.locations.workspaces() or ["default"]:
            run = in_workspace(name)
            arguments = None if run is None else run.noting(partial(find_arguments, run))[0]
            wanted = None if arguments is None else self.wanted(arguments, Diagnostics())
            known = None if wanted is None else self.locations.find(wanted.saved)
            if known is not None and known.has(name):
                return True
        return False


def differences(wanted: ConfiguredBackend, saved: SavedBackend | None) -> tuple[str, ...]:
    """The arguments that lead to another location than that of the last init."""
    old = None if saved is None or saved.type != wanted.type else saved.value()
    if saved is not None and location_digest(saved) == location_digest(wanted.saved):
        return ()
    names = [*wanted.value.mapping()] if old is None else changed_arguments(wanted, old)
    return tuple(
        f"{name} = {shown(wanted.type, name, wanted.value)}{_causes(wanted, name)}"
        for name in names
        if old is not None or not wanted.value.attribute(name).is_null
    )


def _causes(wanted: ConfiguredBackend, name: str) -> str:
    causes = wanted.arguments.inputs(name).names
    return f" ({', '.join(causes)})" if causes else ""


def given_before(
    arguments: BackendArguments,
    settings: Mapping[str, GivenArgument],
    saved: SavedBackend | None,
    locations: Locations,
) -> Mapping[str, GivenArgument]:
    """The arguments that init was given for this configuration and these settings of an environment
    or a fleet, which hold until others are.

    Where OpenTofu has set up the backend, they are those that differ from the configuration.
    """
    old = None if saved is None else saved.value()
    if saved is None or old is None or saved.type != arguments.type:
        return {}
    if locations.written:
        is_same = locations.written == written_digest(
            arguments,
            {name: settings[name] for name in settings.keys() & set(locations.overridden)},
        )
        known = old.mapping()
        names = [name for name in locations.overridden if name in known] if is_same else []
    elif saved.hash == backend_hash(arguments.type, arguments.value):
        own, before = arguments.value.mapping(), old.mapping()
        names = [name for name in own if before[name] != own[name]]
    else:
        names = []
    return {name: GivenArgument(old.attribute(name)) for name in names}


def _report_plan(
    backend: SavedBackend | None, known: tuple[Location, ...], diags: Diagnostics
) -> None:
    from nigari.backends.backend_address import location_text
    from nigari.diagnostics.advice import advice

    place = backend or DEFAULT_BACKEND
    lines = "".join(f"\n  - {each.text}" for each in known)
    diags.error(
        "Location of the plan is not set up",
        f"The plan was made for a state in the {location_text(place.type, place.config)}, which no "
        f"init of this directory has set up. Locations that are set up here:{lines}\nTo apply the "
        f"plan, run {advice().init('-reconfigure')} first, with the variables and options that the "
        "plan was made with. Nothing was changed.",
    )
