"""The kept module packages, as the `cache` commands show them."""

from __future__ import annotations

from nigari.cli.presenter import Presenter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.packages.modules.shared_store import SharedStore, StoredPackage


def open_cache(presenter: Presenter) -> SharedStore | None:
    """The packages of this user; None, after saying so, where none are kept."""
    from nigari.packages.modules.shared_store import (
        DIRECTORY_VARIABLE,
        SharedStore,
        shared_directory,
    )

    directory = shared_directory(presenter.terminal.environ)
    if directory is None:
        presenter.say(
            f"No packages are cached: {DIRECTORY_VARIABLE} turns the cache off, or there is no "
            "home directory."
        )
        return None
    return SharedStore(directory)


def tell_package(presenter: Presenter, package: StoredPackage, remark: str) -> None:
    """Show a package with the addresses that it came from."""
    lines = [f"{package.id[:12]}  {remark}", *(f"  {each}" for each in package.sources)]
    members = {
        "type": "cached_package",
        "package": {
            "id": package.id,
            "sources": list(package.sources),
            "files": package.files,
            "size": package.size,
            "intact": package.is_intact,
        },
    }
    presenter.say("\n".join(lines), f"{package.id}: {remark}", members)


def bytes_text(size: int) -> str:
    """A size for people."""
    if size < 1000:
        return f"{size} B"
    power = next((each for each in (1, 2) if size < 999.5 * 1000**each), 3)
    amount = size / 1000**power
    digits = 1 if amount < 10 else 0
    return f"{amount:.{digits}f} {('kB', 'MB', 'GB')[power - 1]}"
