"""Options of a session: files of states, locks, and values of variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.backends.lock_options import LockOptions
from nigari.record import ReadOnly, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.backends.backend_address import StateIdentity
    from nigari.cty.values import Value
    from nigari.eval.core.inputs import InputValue


@record
class StateFiles:
    """The state file options of the command line, which only the local backend uses."""

    state: str = ""
    """`-state`: read and, unless `state_out` is set, write this file."""
    state_out: str = ""
    backup: str = ""
    """`-backup`; `-` for none."""


RESCUED: Final = "errored.tfstate"
NO_STATE_FILES: Final = StateFiles()


@record
class GivenVariables:
    """The variable options of a command line or of a program."""

    flags: Sequence[tuple[str, str]] = ()
    """`var` and `var-file`, each with its text, in their order."""
    values: Mapping[str, InputValue] = ReadOnly({})
    """The values from a program."""
    is_all: bool = False
    """True to ignore everything else: files that are not named, environment variables, and
    remembered values.
    """


NO_VARIABLES: Final = GivenVariables()


@record
class SessionOptions:
    """The session's options, beside the settings of the directory."""

    files: StateFiles = NO_STATE_FILES
    lock: LockOptions = LockOptions()
    directory: str | None = None
    """The directory of the configuration, if it is not the working directory."""
    planned: Mapping[StateIdentity, Mapping[str, Value]] = ReadOnly({})
    """The outputs that other states will have once plans that were made for them are applied.
    `terraform_remote_state` gives these while planning, in place of what is stored.
    """
    rescued: tuple[str, ...] = (RESCUED,)
    """The files that a state is written to if it cannot be stored, the first that can be written; seen
    from the working directory.
    """


NO_OPTIONS: Final = SessionOptions()
