"""`nigari cache list`: the module packages that are kept for all directories of a user."""

from __future__ import annotations

import time

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import SAYING_FLAGS
from nigari.cli.views.package_cache import bytes_text, open_cache, tell_package


def run(invocation: Invocation) -> int:
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


COMMAND = Command(
    "cache list",
    "Prints the module packages in the cache that all working directories of this user share, "
    "with the addresses that they came from, most recently used first.",
    run,
    flags=SAYING_FLAGS,
    examples=(Example("nigari cache list", ""),),
)
