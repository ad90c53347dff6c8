"""Setting up the backend: what init does when the configuration asks for another one.

First it is decided what has to be done, then states are moved where that is wanted, and only then
is the new backend remembered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from nigari.backends.harmless import is_harmless
from nigari.backends.local import LOCAL, LocalBackend, local_paths
from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import DEFAULT_WORKSPACE, Around
from nigari.backends.workspaces import remember_selection
from nigari.cty.values import string
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.eval.static.backend import BackendArguments
from nigari.workspace.context.prompts import Prompter
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.setup.init_options import BackendOptions
from nigari.workspace.setup.migrate import Decrypt, Migration, Move, as_it_is
from nigari.workspace.setup.workspace_choice import existing_workspace, remaining_workspace
from nigari.workspace.states.backend import (
    DEFAULT_BACKEND,
    BackendChange,
    BackendMemory,
    ConfiguredBackend,
    GivenArgument,
    SavedBackend,
    check_arguments,
    compare,
    environment_settings,
    merged,
    missing_arguments,
    read_overrides,
    report_changed,
    report_unset,
)
from nigari.workspace.states.backend_check import differences, given_before
from nigari.workspace.states.locations import (
    Locations,
    load_locations,
    location_digest,
    save_locations,
    written_digest,
)


class BackendSetup:
    """The part of init that sees to the backend."""

    def __init__(
        self,
        where: WorkingDirectory,
        options: BackendOptions,
        prompter: Prompter,
        sources: dict[str, bytes],
        diags: Diagnostics,
        decrypt: Decrypt = as_it_is,
    ) -> None:
        self._decrypt = decrypt
        self._where = where
        self._data = where.data_directory
        self._memory = BackendMemory(self._data)
        self._options = options
        self._prompter = prompter
        self._sources = sources
        self._diags = diags
        self._change = BackendChange.NONE
        self._written = ""
        """A digest of what the configuration says now."""
        self._overridden: tuple[str, ...] = ()
        """The arguments that hold until others are given."""
        self.differences: tuple[str, ...] = ()
        """Differences that lead to another location in the same backend."""
        self._selected = self._new_selected = DEFAULT_WORKSPACE
        unread = Diagnostics()
        self.saved: SavedBackend | None = self._memory.load(unread)
        """The saved settings."""
        self.result: SavedBackend | None = None
        """The settings to save."""
        self._locations: Locations = load_locations(self._data, self.saved)
        if unread.has_errors and options.is_wanted and not options.reconfigure:
            diags.extend(unread)

    def decide(self, arguments: BackendArguments | None, workspace: str) -> None:
        """Find out what has to be done; what cannot be done without more options is reported."""
        overrides = read_overrides(self._options.settings, self._sources, self._diags)
        settings = environment_settings(self._where)
        saved = None if self._options.reconfigure else self.saved
        wanted = None
        if arguments is not None:
            again = {} if overrides else given_before(arguments, settings, saved, self._locations)
            given = {**settings, **again, **overrides}
            wanted = self._complete(merged(arguments, given, self._diags))
            if wanted is not None:
                check_arguments(wanted, self._where.environ, self._diags)
                # What the environment says is said again each time.
                own = set(wanted.overridden) - (settings.keys() - again.keys() - overrides.keys())
                self._overridden = tuple(sorted(own))
                self._written = written_digest(
                    arguments, {name: settings[name] for name in settings.keys() & own}
                )
        elif (overrides or settings) and not self._diags.has_errors:
            _report_no_backend({**settings, **overrides}, self._diags)
        if self._diags.has_errors:
            return
        self._change = compare(wanted, saved, bool(overrides or settings))
        self.result = None if wanted is None else wanted.saved
        if self._involves_cloud:
            self._check_cloud_options(bool(overrides))
        elif not self._options.migrate and not self._options.reconfigure:
            self._guard(wanted)

    def _guard(self, wanted: ConfiguredBackend | None) -> None:
        """Without leave to move states, a backend is left only for one that was set up before."""
        change, saved = self._change, self.saved
        if change in (BackendChange.NONE, BackendChange.HASH):
            return
        if self._locations.find(self.result) is not None:
            self._change = BackendChange.KNOWN
            self.differences = () if wanted is None else differences(wanted, saved)
        elif change is BackendChange.UNSET and saved is not None:
            report_unset(saved, self._diags)
        elif change is BackendChange.OTHER and wanted is not None and saved is not None:
            report_changed(wanted, saved, self._diags)

    @property
    def _involves_cloud(self) -> bool:
        """Return whether a `cloud` block is set up or left."""
        saved = None if self._options.reconfigure else self.saved
        return "cloud" in (getattr(each, "type", "") for each in (self.result, saved))

    def _check_cloud_options(self, is_overridden: bool) -> None:
        """Options that are for backends only: what a block `cloud` says is simply used."""
        options = self._options
        is_moved = self._change not in (BackendChange.NONE, BackendChange.HASH)
        for name, is_given in (
            ("-backend-config", is_overridden),
            ("-reconfigure", options.reconfigure),
            ("-force-copy", is_moved and options.force_copy),
            ("-migrate-state", is_moved and options.migrate and not options.force_copy),
        ):
            if is_given:
                _report_cloud_option(name, self._diags)

    def _complete(self, wanted: ConfiguredBackend | None) -> ConfiguredBackend | None:
        """Ask for required arguments that have no value."""
        if wanted is None:
            return None
        answers: dict[str, GivenArgument] = {}
        for name in missing_arguments(wanted):
            answer = None
            if self._prompter.can_prompt:
                about = f'An argument of the backend "{wanted.type}"'
                is_secret = not is_harmless(wanted.type, name)
                answer = self._prompter.text(name, about, is_secret)
            if answer is None:
                _report_missing(name, wanted, self._diags)
            else:
                answers[name] = GivenArgument(string(answer), "the answer")
        if not answers:
            return wanted
        given = {name: GivenArgument(wanted.value.attribute(name)) for name in wanted.overridden}
        return merged(wanted.arguments, {**given, **answers}, self._diags)

    async def select(self, around: Around, selected: str) -> str:
        """The workspace to use with the new backend: the selected one, if it exists there."""
        self._selected = self._new_selected = selected
        place = self.result or DEFAULT_BACKEND
        backend = None
        if self._options.is_wanted and not self._diags.error_count:
            backend = open_backend(place.type, place.config, around, self._diags)
        if backend is None:
            return selected
        is_given = bool(self._where.selected(Diagnostics()).set_by)
        found = await existing_workspace(backend, selected, is_given, self._prompter, self._diags)
        if found is None:
            if not self._is_moving or not await self._migration(around).has_states():
                # What is missing can be created only once the backend is known.
                self.save()
            return selected
        self._new_selected = found
        return found

    async def stored_providers(self, around: Around) -> list[str]:
        """The addresses of the providers in the states of the old and the new backend, as far as
        those can be read without decrypting them.
        """
        found: list[str] = []
        places = [(self.saved or DEFAULT_BACKEND, self._selected)]
        if self._options.is_wanted:
            places.append((self.result or DEFAULT_BACKEND, self._new_selected))
        old, new = places[0][0], places[-1][0]
        if (old.type, old.config) == (new.type, new.config):
            places = places[-1:]
        for place, workspace in places:
            # What is to be left behind need not be readable any more.
            diags = self._diags if place is new else Diagnostics()
            found += await _stored_in(place, around, workspace, diags)
        return found

    @property
    def _is_moving(self) -> bool:
        """Return whether existing states should be moved."""
        is_other = self._change in (BackendChange.FIRST, BackendChange.OTHER, BackendChange.UNSET)
        types = {each.type for each in (self.saved, self.result) if each is not None}
        is_in_cloud = types == {"cloud"} and self._change is BackendChange.OTHER
        return is_other and not self._options.reconfigure and not is_in_cloud

    def _migration(self, around: Around) -> Migration:
        move = Move(
            self.saved or DEFAULT_BACKEND,
            self.result or DEFAULT_BACKEND,
            empties_source=self.saved is None,
        )
        selected = (self._selected, self._new_selected)
        confirm = None if self._options.force_copy else self._prompter.approves
        lock = self._options.lock
        return Migration(move, around, selected, lock, confirm, self._decrypt)

    async def migrate(self, around: Around) -> bool:
        """Move states where that is wanted; False after reporting why it cannot be done."""
        selection = self._new_selected
        if self._is_moving:
            migration = self._migration(around)
            if not await migration.run(self._diags):
                return False
            selection = migration.selection
        remaining = await self._remaining(around, selection)
        if remaining is None:
            return False
        selection = remaining
        if selection == self._selected:
            return True
        return remember_selection(self._data, selection, self._diags)

    async def _remaining(self, around: Around, selection: str) -> str | None:
        """The workspace to use, once everything has been moved to the configured backend."""
        place = self.result
        if place is None or not self._options.is_wanted:
            return selection
        if self._where.selected(Diagnostics()).set_by:
            # It is created by what is stored in it.
            return selection
        backend = open_backend(place.type, place.config, around, self._diags)
        if backend is None:
            return None
        return await remaining_workspace(backend, selection, self._prompter, self._diags)

    @property
    def is_news(self) -> bool:
        """Return whether the backend changes."""
        is_same = self._change is BackendChange.HASH or (self.result is None and self.saved is None)
        return self._is_saved and not is_same

    @property
    def _is_saved(self) -> bool:
        options = self._options
        return options.is_wanted and (self._change is not BackendChange.NONE or options.reconfigure)

    def state_file(self, around: Around) -> str | None:
        """The file of the selected state, where nothing of the backend has changed; None where it
        has, or where the state is no file.
        """
        place = self.result or DEFAULT_BACKEND
        if self._is_saved or self._is_moving or place.type != LOCAL:
            return None
        return (
            LocalBackend(around.directory, local_paths(place.config)).storage(self._selected).path
        )

    def save(self) -> None:
        """Remember the backend and its location. An `OSError` says why that cannot be."""
        if not self._options.is_wanted:
            return
        if self._is_saved:
            self._memory.save(self.result)
        kept = self.result if self._is_saved else self.saved
        known = self._locations.without(self.saved) if self._is_moving else self._locations
        if kept is not None or known.all:
            known = known.adding(kept, self._new_selected)
        last = "" if kept is None else location_digest(kept)
        save_locations(self._data, Locations(known.all, last, self._written, self._overridden))


async def _stored_in(
    place: SavedBackend, around: Around, workspace: str, diags: Diagnostics
) -> list[str]:
    """The providers of the state in one backend."""
    backend = open_backend(place.type, place.config, around, diags)
    if backend is not None and not backend.has_workspaces and backend.has_default:
        workspace = DEFAULT_WORKSPACE
    data = None if backend is None else await backend.storage(workspace).read(diags)
    if not data:
        return []
    try:
        state = json.loads(data)
        found = [
            each.get("provider")
            for resource in state.get("resources", ())
            for each in (resource, *resource.get("instances", ()))
        ]
    except (ValueError, AttributeError, TypeError):
        return []
    return [text for text in found if isinstance(text, str)]


def _report_no_backend(given: Mapping[str, GivenArgument], diags: Diagnostics) -> None:
    first = next(iter(given.values()))
    diags.warning(
        "Backend settings without a backend",
        f"Settings come from {first.origin}, but the configuration has no backend block for them. "
        "They have no effect.",
        first.range,
    )


def _report_cloud_option(name: str, diags: Diagnostics) -> None:
    diags.error(
        "Invalid option",
        f"{name} is for backends, and the configuration has or had a cloud block. Change the "
        'block and run "nigari init" without this option: it uses what the block says, and asks '
        "before it copies a state.",
    )


def _report_missing(name: str, wanted: ConfiguredBackend, diags: Diagnostics) -> None:
    diags.error(
        "Missing backend argument",
        f'The backend "{wanted.type}" requires the argument "{name}". Set it in the '
        f"configuration, or with {advice().option('-backend-config', f'{name}=...')}.",
        wanted.arguments.range,
    )
