"""Setting up the backend: what init does when the configuration asks for another one.

First it is decided what has to be done, then states are moved where that is wanted, and only then
is the new backend remembered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from nigari.backends.locking import LockOptions
from nigari.backends.opening import Around, is_supported, open_backend
from nigari.backends.workspaces import remember_selection
from nigari.cty.values import string
from nigari.diagnostics import Diagnostics
from nigari.eval.static.backend import BackendArguments
from nigari.record import record, replace
from nigari.workspace.base.people import People
from nigari.workspace.base.working_directory import WorkingDirectory
from nigari.workspace.setup.migrate import DEFAULT_BACKEND, Migration, Move
from nigari.workspace.states.backend import (
    BackendMemory,
    Change,
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
from nigari.workspace.states.elsewhere import (
    WrittenBackend,
    differences,
    given_before,
    is_elsewhere,
    load_written,
    save_written,
    written_backend,
)


@record
class BackendOptions:
    """What a command line says about the backend."""

    is_wanted: bool = True
    settings: Sequence[str] = ()
    """`-backend-config`."""
    reconfigure: bool = False
    migrate: bool = False
    force_copy: bool = False
    """Moves states without asking."""
    lock: LockOptions = LockOptions()


class BackendSetup:
    """The part of init that sees to the backend."""

    def __init__(
        self,
        where: WorkingDirectory,
        options: BackendOptions,
        people: People,
        sources: dict[str, bytes],
        diags: Diagnostics,
    ) -> None:
        self._where = where
        self._data = where.data_directory
        self._memory = BackendMemory(self._data)
        self._options = options
        self._people = people
        self._sources = sources
        self._diags = diags
        self._change = Change.NONE
        self._written: WrittenBackend | None = None
        """What the configuration says now."""
        self.differences: tuple[str, ...] = ()
        """What leads to another location than before, where the backend is the same one."""
        unread = Diagnostics()
        self.saved: SavedBackend | None = self._memory.load(unread)
        """What was remembered."""
        self.result: SavedBackend | None = None
        """What is to be remembered."""
        if unread.has_errors and options.is_wanted and not options.reconfigure:
            diags.extend(unread)

    def decide(self, arguments: BackendArguments | None, workspace: str) -> None:
        """Find out what has to be done; what cannot be done without more options is reported."""
        overrides = read_overrides(self._options.settings, self._sources, self._diags)
        settings = environment_settings(self._where)
        saved = None if self._options.reconfigure else self.saved
        before = None if saved is None else load_written(self._data, saved)
        wanted = None
        if arguments is not None:
            now = written_backend(arguments, workspace)
            if saved is not None and before is not None and before.text == now.text:
                # What was given for this configuration holds until something else is.
                again = {} if overrides else given_before(saved, before)
            else:
                again = {}
            given = {**settings, **again, **overrides}
            wanted = self._complete(merged(arguments, given, self._diags))
            if wanted is not None:
                check_arguments(wanted, self._where.environ, self._diags)
                # What the environment says is said again each time.
                own = set(wanted.overridden) - (settings.keys() - again.keys() - overrides.keys())
                self._written = replace(now, overridden=tuple(sorted(own)))
        elif (overrides or settings) and not self._diags.has_errors:
            _report_no_backend({**settings, **overrides}, self._diags)
        if self._diags.has_errors:
            return
        self._change = compare(wanted, saved, bool(overrides or settings))
        self.result = None if wanted is None else wanted.saved
        if not self._options.migrate:
            self._guard(wanted, saved, before)

    def _guard(
        self,
        wanted: ConfiguredBackend | None,
        saved: SavedBackend | None,
        before: WrittenBackend | None,
    ) -> None:
        """Without leave to move states, a backend must not be left for another one."""
        if self._change is Change.UNSET and saved is not None and saved.type != "cloud":
            report_unset(saved, self._diags)
        elif self._change is Change.OTHER and wanted is not None and saved is not None:
            now = self._written
            if before is not None and now is not None and is_elsewhere(wanted, saved, before, now):
                self._change = Change.LOCATION
                self.differences = differences(wanted, saved)
            else:
                report_changed(wanted, saved, self._diags)

    def _complete(self, wanted: ConfiguredBackend | None) -> ConfiguredBackend | None:
        """Ask for required arguments that have no value."""
        if wanted is None:
            return None
        answers: dict[str, GivenArgument] = {}
        for name in missing_arguments(wanted):
            answer = None
            if self._people.can_be_asked:
                answer = self._people.text(
                    name, f'An argument of the backend "{wanted.type}"', False
                )
            if answer is None:
                _report_missing(name, wanted, self._diags)
            else:
                answers[name] = GivenArgument(string(answer), "the answer")
        if not answers:
            return wanted
        given = {name: GivenArgument(wanted.value.attribute(name)) for name in wanted.overridden}
        return merged(wanted.arguments, {**given, **answers}, self._diags)

    async def stored_providers(self, around: Around, selected: str) -> list[str]:
        """The addresses of the providers in the states of the old and the new backend, as far as
        those can be read without decrypting them.
        """
        found: list[str] = []
        places = [self.saved or DEFAULT_BACKEND]
        if self._options.is_wanted:
            places.append(self.result or DEFAULT_BACKEND)
        if (places[0].type, places[0].config) == (places[-1].type, places[-1].config):
            places = places[-1:]
        for place in places:
            # What is to be left behind need not be readable any more.
            diags = self._diags if place is places[-1] else Diagnostics()
            found += await _stored_in(place, around, selected, diags)
        return found

    async def migrate(self, around: Around, selected: str) -> bool:
        """Move states where that is wanted; False after reporting why it cannot be done."""
        is_other = self._change in (Change.FIRST, Change.OTHER, Change.UNSET)
        if not is_other or self._options.reconfigure:
            return True
        move = Move(
            self.saved or DEFAULT_BACKEND,
            self.result or DEFAULT_BACKEND,
            empties_source=self.saved is None,
        )
        migration = Migration(move, around, selected, self._options.lock, self._agrees)
        if not await migration.run(self._diags):
            return False
        if migration.selection == selected:
            return True
        return remember_selection(self._data, migration.selection, self._diags)

    @property
    def is_news(self) -> bool:
        """Whether another backend is used from now on than before."""
        is_same = self._change is Change.HASH or (self.result is None and self.saved is None)
        return self._is_saved and not is_same

    @property
    def _is_saved(self) -> bool:
        options = self._options
        return options.is_wanted and (self._change is not Change.NONE or options.reconfigure)

    def save(self) -> None:
        """Remember the backend, where it has changed. An `OSError` says why it cannot be."""
        if self._is_saved:
            self._memory.save(self.result)
        if self._options.is_wanted:
            kept = self.result if self._is_saved else self.saved
            save_written(self._data, kept, self._written)

    def _agrees(self, question: str) -> bool | None:
        return True if self._options.force_copy else self._people.agrees(question)


async def _stored_in(
    place: SavedBackend, around: Around, workspace: str, diags: Diagnostics
) -> list[str]:
    """The providers of the state in one backend."""
    if not is_supported(place.type):
        return []
    backend = open_backend(place.type, place.config, around, diags)
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


def _report_missing(name: str, wanted: ConfiguredBackend, diags: Diagnostics) -> None:
    diags.error(
        "Missing backend argument",
        f'The backend "{wanted.type}" requires the argument "{name}". Set it in the '
        f"configuration, or with -backend-config={name}=….",
        wanted.arguments.range,
    )
