"""`nigari cache verify`: compares the files of all kept module packages with their checksums."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import SAYING_FLAGS
from nigari.cli.views.package_cache import open_cache, tell_package


def run(invocation: Invocation) -> int:
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


COMMAND = Command(
    "cache verify",
    "Compares the files of all module packages in the cache of this user with the checksums from "
    "when they were downloaded. The exit status is 1 if any has changed.",
    run,
    flags=SAYING_FLAGS,
    examples=(Example("nigari cache verify", ""),),
)
