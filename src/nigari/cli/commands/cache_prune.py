"""`nigari cache prune`: removes kept module packages that nobody uses."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import SAYING_FLAGS
from nigari.cli.views.package_cache import bytes_text, open_cache, tell_package


def run(invocation: Invocation) -> int:
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


COMMAND = Command(
    "cache prune",
    "Removes module packages from the cache of this user: those that no init has used for 30 "
    "days, and damaged ones. Working directories have their own copies, so nothing stops "
    "working; a package that is needed again is downloaded again.",
    run,
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
