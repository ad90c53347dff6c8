"""Setting up the backend: what init does when the configuration asks for another one.

First it is decided what has to be done, then states are moved where that is wanted, and only then
is the new backend remembered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from nigari.backends.locking import LockOptions
from nigari.backends.opening import Around, is_supported, open_backend
from nigari.backends.rules import argument_problems
from nigari.backends.workspaces import remember_selection
from nigari.cty.values import Value, string
from nigari.diagnostics import Diagnostics
from nigari.eval.static.backend import BackendArguments
from nigari.record import record
from nigari.workspace.base.people import People
from nigari.workspace.setup.migrate import DEFAULT_BACKEND, Migration, Move
from nigari.workspace.states.backend import (
    BackendMemory,
    Change,
    ConfiguredBackend,
    SavedBackend,
    compare,
    merged,
    missing_arguments,
    read_overrides,
    report_changed,
    report_unset,
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
        data: Path,
        options: BackendOptions,
        people: People,
        sources: dict[str, bytes],
        environ: Mapping[str, str],
        diags: Diagnostics,
    ) -> None:
        self._data = data
        self._memory = BackendMemory(data)
        self._environ = environ
        self._options = options
        self._people = people
        self._sources = sources
        self._diags = diags
        self._change = Change.NONE
        unread = Diagnostics()
        self.saved: SavedBackend | None = self._memory.load(unread)
        """What was remembered."""
        self.result: SavedBackend | None = None
        """What is to be remembered."""
        if unread.has_errors and options.is_wanted and not options.reconfigure:
            diags.extend(unread)

    def decide(self, arguments: BackendArguments | None) -> None:
        """Find out what has to be done; what cannot be done without more options is reported."""
        overrides = read_overrides(self._options.settings, self._sources, self._diags)
        if arguments is None:
            if overrides and not self._diags.has_errors:
                _report_no_backend(self._diags)
            wanted = None
        else:
            wanted = self._complete(merged(arguments, overrides, self._diags))
            if wanted is not None:
                _check_arguments(wanted, self._environ, self._diags)
        if self._diags.has_errors:
            return
        saved = None if self._options.reconfigure else self.saved
        self._change = compare(wanted, saved, bool(overrides))
        self.result = None if wanted is None else wanted.saved
        if self._options.migrate:
            return
        if self._change is Change.UNSET and saved is not None and saved.type != "cloud":
            report_unset(saved, self._diags)
        elif self._change is Change.OTHER and wanted is not None and saved is not None:
            report_changed(wanted, saved, self._diags)

    def _complete(self, wanted: ConfiguredBackend | None) -> ConfiguredBackend | None:
        """Ask for required arguments that have no value."""
        from nigari.backends.schemas import BACKENDS

        if wanted is None:
            return None
        answers: dict[str, Value] = {}
        for name in missing_arguments(wanted):
            answer = None
            if self._people.can_be_asked:
                answer = self._people.text(
                    name, f'An argument of the backend "{wanted.type}"', False
                )
            if answer is None:
                _report_missing(name, wanted, self._diags)
            else:
                answers[name] = string(answer)
        if not answers:
            return wanted
        given = {
            name: value
            for name, value in wanted.value.mapping().items()
            if name in BACKENDS[wanted.type].attributes
        }
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


def _check_arguments(
    wanted: ConfiguredBackend, environ: Mapping[str, str], diags: Diagnostics
) -> None:
    """Report arguments that the backend cannot be configured with."""
    if missing_arguments(wanted):
        return
    places = wanted.arguments.places
    for found in argument_problems(wanted.type, wanted.value, environ):
        place = places.get(found.argument)
        where = wanted.arguments.range if place is None else place.expr.range
        diags.error("Invalid backend argument", found.text, where)


def _report_no_backend(diags: Diagnostics) -> None:
    diags.warning(
        "Backend settings without a backend",
        "-backend-config gives settings, but the configuration has no backend block for them. "
        "They have no effect.",
    )


def _report_missing(name: str, wanted: ConfiguredBackend, diags: Diagnostics) -> None:
    diags.error(
        "Missing backend argument",
        f'The backend "{wanted.type}" requires the argument "{name}". Set it in the '
        f"configuration, or with -backend-config={name}=….",
        wanted.arguments.range,
    )
