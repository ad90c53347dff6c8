"""The options of init as data, light to import.

What is done with them is in `initialize` and the modules beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.backends.lock_options import LockOptions
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


PARTS: Final = ("modules", "backend", "providers")
"""The parts of the work, in their order."""


@record
class BackendOptions:
    """Command-line options for the backend."""

    is_wanted: bool = True
    settings: Sequence[str] = ()
    """`-backend-config`."""
    reconfigure: bool = False
    migrate: bool = False
    force_copy: bool = False
    """Moves states without asking."""
    lock: LockOptions = LockOptions()


@record
class ProviderOptions:
    """Command-line options for installing providers."""

    upgrade: bool = False
    plugin_directories: Sequence[str] = ()
    """`-plugin-dir`: the only places where packages are looked for. An empty one forgets them."""
    readonly: bool = False
    """`-lockfile=readonly`."""


@record
class InitOptions:
    """Command-line options of init."""

    upgrade: bool = False
    get_modules: bool = True
    get_providers: bool = True
    tests: str = "tests"
    """The directory that test files are in."""
    remember: bool = False
    """Remember the values of variables that static places have used."""
    backend: BackendOptions = BackendOptions()
    providers: ProviderOptions = ProviderOptions()
    lock_modules: bool = False
    """Begin to lock modules, where that is not done yet."""
    readonly: bool = False
    """`-lockfile=readonly`, for modules."""
