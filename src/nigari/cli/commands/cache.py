"""`nigari cache`: list, verify and remove the module packages that a user's directories share."""

from __future__ import annotations

import time

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import SAYING_FLAGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.packages.modules.shared_store import SharedStore, StoredPackage


def run_list(invocation: Invocation) -> int:
    """Print the packages."""
    presenter = Presenter(invocation)
    cache = open_cache(presenter)
    if cache is None:
        return presenter.end()
    packages = cache.packages()
    now = time.time()
    for package in packages:
        days = max(0, int((now - package.used) / 86400))
        used = "today" if days == 0 else f"{days} {'day' if days == 1 else 'days'} ago"
        tell_package(presenter, package, f"{bytes_text(package.size)}, used {used}")
    total = bytes_text(sum(each.size for each in packages))
    count = f"{len(packages)} {'package' if len(packages) == 1 else 'packages'}"
    presenter.say(f"{count}, {total}, in {cache.directory}")
    return presenter.end()


LIST = Command(
    "cache list",
    "Prints the module packages in the cache that all working directories of this user share, "
    "with the addresses that they came from, most recently used first.",
    run_list,
    flags=SAYING_FLAGS,
    examples=(Example("nigari cache list", ""),),
)


def run_prune(invocation: Invocation) -> int:
    """Remove packages that were not used for long, and damaged ones."""
    days = _days(invocation)
    presenter = Presenter(invocation)
    cache = open_cache(presenter)
    if cache is None:
        return presenter.end()
    from nigari.packages.modules.shared_store import older_than

    with cache.alone() as is_alone:
        if not is_alone:
            presenter.diags.error(
                "Packages are in use",
                "Another nigari is using the packages, so none can be removed. Try again when it "
                "has finished.",
            )
            return presenter.end()
        packages = cache.packages(check=True)
        old = older_than(packages, days)
        gone = [each for each in packages if each.id in old or not each.is_intact]
        for package in gone:
            tell_package(presenter, package, "removed" if package.is_intact else "damaged, removed")
        cache.remove({each.id for each in gone})
    count = f"{len(gone)} {'package' if len(gone) == 1 else 'packages'}"
    presenter.say(f"{count} removed, {bytes_text(sum(each.size for each in gone))}.")
    return presenter.end()


def _days(invocation: Invocation) -> int:
    if invocation.switch("all"):
        return 0
    text = invocation.text("days")
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise UsageError(f'The option -days must be a number of days, not "{text}".')
    return int(text)


PRUNE = Command(
    "cache prune",
    "Removes module packages from the cache of this user: those that no init has used for 30 "
    "days, and damaged ones. Working directories have their own copies, so nothing stops "
    "working; a package that is needed again is downloaded again.",
    run_prune,
    flags=(
        Flag(
            "days",
            FLAG_TEXT,
            "Remove packages that have not been used for this many days",
            "NUMBER",
            "30",
        ),
        Flag("all", FLAG_SWITCH, "Remove everything"),
        *SAYING_FLAGS,
    ),
    examples=(
        Example("nigari cache prune", ""),
        Example("nigari cache prune -all", "removes all packages"),
    ),
)


def run_verify(invocation: Invocation) -> int:
    """Report the packages that have changed."""
    presenter = Presenter(invocation)
    cache = open_cache(presenter)
    if cache is None:
        return presenter.end()
    packages = cache.packages(check=True)
    damaged = [each for each in packages if not each.is_intact]
    for package in damaged:
        tell_package(presenter, package, "damaged")
    if damaged:
        presenter.diags.error(
            "Damaged packages",
            f"{len(damaged)} of {len(packages)} packages in {cache.directory} have changed since "
            "they were downloaded. They are not used: init downloads them again when they are "
            'needed. To remove them now, run "nigari cache prune".',
        )
    else:
        count = f"{len(packages)} {'package is' if len(packages) == 1 else 'packages are'}"
        presenter.say(f"{count} unchanged.")
    return presenter.end()


VERIFY = Command(
    "cache verify",
    "Compares the files of all module packages in the cache of this user with the checksums from "
    "when they were downloaded. The exit status is 1 if any has changed.",
    run_verify,
    flags=SAYING_FLAGS,
    examples=(Example("nigari cache verify", ""),),
)


def open_cache(presenter: Presenter) -> SharedStore | None:
    """The packages of this user; None, after saying so, where none are kept."""
    from nigari.packages.content.user_cache import DIRECTORY_VARIABLE
    from nigari.packages.modules.shared_store import SharedStore, shared_directory

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
