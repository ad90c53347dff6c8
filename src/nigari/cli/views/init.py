"""The lines that `init` and `get` print while they work.

They hear what happens from `nigari.workspace.setup` and decide nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.cli.presenter import Presenter
from nigari.packages.providers.installation import InstalledProvider, InstallStep

TYPE_CHECKING = False
# An init with nothing to do shows little.
if TYPE_CHECKING:
    from pathlib import Path

    from nigari.addrs.provider import Provider
    from nigari.cli.views.live import Download, LiveLines
    from nigari.lang.versions import Version
    from nigari.packages.providers.provider_sources import Verified
    from nigari.workspace.states.backend import SavedBackend

_STEPS = {
    InstallStep.BUILT_IN: "is built in",
    InstallStep.REUSED: "is already installed",
    InstallStep.CACHED: "is used from the shared cache",
    InstallStep.INSTALLED: "is installed",
}
_PARTS = {
    "modules": "Initializing modules...",
    "backend": "Initializing the backend...",
    "providers": "Initializing provider plugins...",
}


class InitProgress:
    """Tells what happens as it happens, to people and to programs."""

    def __init__(self, presenter: Presenter, upgrade: bool, tells_parts: bool = True) -> None:
        self._presenter = presenter
        self._upgrade = upgrade
        self._tells_parts = tells_parts
        self.provider_listener: ProviderProgress = ProviderProgress(presenter)
        self._live = _live_lines(presenter)
        self._downloads: dict[str, Download] = {}

    def waiting(self) -> None:
        """Another init is running in the same directory."""
        self._say("Another init is running in this directory. Waiting for it to finish...")

    def beginning(self, part: str) -> None:
        """A part of the work begins."""
        if self._tells_parts:
            text = "Upgrading modules..." if self._upgrade and part == "modules" else _PARTS[part]
            self._say(text)

    def forgetting(self, names: Sequence[str]) -> None:
        """Values of variables are not used any more that were remembered for another backend."""
        variables = ", ".join(f"var.{name}" for name in names)
        self._say(
            f"- The values remembered for {variables} belong to another backend configuration. "
            "They are not used, and are forgotten when init is done."
        )

    def downloading(self, source: str, key: str, others: int) -> None:
        """A package is about to be fetched."""
        if self._live is not None:
            self._live.clear()
        more = f" and {others} more" if others else ""
        self._tell(f"Downloading {source} for {key}{more}...", {"module": key, "source": source})

    def progress(self, source: str, done: int, total: int | None) -> None:
        """Some of a package has arrived, which is a line on a terminal until all of it has."""
        if self._live is not None:
            from nigari.cli.views.live import Download

            download = self._downloads.setdefault(source, Download(source))
            self._live.show(source, download.line(done, total))

    def arrived(self, source: str) -> None:
        """Nothing more of a package will arrive."""
        if self._live is not None:
            self._live.remove(source)

    def reused(self, source: str, key: str, others: int) -> None:
        """A package is kept on this machine already."""
        more = f" and {others} more" if others else ""
        self._tell(
            f"Using {source} from the cache for {key}{more}", {"module": key, "source": source}
        )

    def installed(self, key: str, version: str, directory: str) -> None:
        """A module is where it was not before."""
        at = f" {version}" if version else ""
        members = {"module": key, "directory": directory} | ({"version": version} if at else {})
        self._presenter.say(
            f"- {key}{at} in {directory}", f"installing {key}{at} in {directory}", members
        )

    def backend_moved(self, differences: Sequence[str]) -> None:
        """The backend is in another location, because of variables or the workspace."""
        self._say(
            f"- The state is in another location than before: {'; '.join(differences)}. Nothing "
            "was moved."
        )

    def backend_set(self, before: SavedBackend | None, now: SavedBackend | None) -> None:
        """There is another backend now, or none any more."""
        if now is not None:
            self._say(f'- The state is now stored in the backend "{now.type}".')
        elif before is not None:
            self._say(
                f'- The backend "{before.type}" is no longer used: the state is now a local file.'
            )

    def providers_installed(self, outcomes: Sequence[InstalledProvider]) -> None:
        """All providers are there."""
        for outcome in outcomes:
            at = "" if outcome.version is None else f" v{outcome.version}"
            if outcome.step in (InstallStep.REUSED, InstallStep.CACHED):
                self.provider_listener.reused(outcome.provider, outcome.version)
            verified = outcome.verified
            known = f" ({trust_text(verified)})" if verified is not None else ""
            text = f"{outcome.provider.display}{at} {_STEPS[outcome.step]}{known}"
            level = "warn" if verified is not None and verified.is_unsigned else "info"
            self._presenter.say(self._presenter.prose(f"- {text}"), text, _members(outcome), level)
        if any(each.verified is not None and each.verified.signed for each in outcomes):
            self._say(
                "\nProviders are signed by their publishers. A signature shows who published a "
                "package, not whether you should trust them."
            )

    def module_locks_written(self, is_first: bool) -> None:
        """The lock file of modules has been made or changed."""
        from nigari.packages.modules.module_locks import FILE_NAME

        what = "records the packages of modules" if is_first else "was updated"
        self._say(
            f"\nThe lock file {FILE_NAME} {what}. Commit it to version control, so that the same "
            "modules are used everywhere."
        )

    def locks_written(self, is_first: bool) -> None:
        """The lock file has been made or changed."""
        from nigari.packages.providers.lockfile import FILE_NAME

        what = "records the selected providers" if is_first else "was updated"
        self._say(
            f"\nThe lock file {FILE_NAME} {what}. Commit it to version control, so that the same "
            "providers are used everywhere."
        )

    def _tell(self, text: str, members: Mapping[str, object]) -> None:
        """Say something in one line, however long the addresses in it are."""
        self._presenter.say(text, text, members)
        self._presenter.terminal.stdout.flush()

    def _say(self, text: str, members: Mapping[str, object] | None = None) -> None:
        presenter = self._presenter
        presenter.say(presenter.prose(text), text.strip().removeprefix("- "), members)
        presenter.terminal.stdout.flush()


class ProviderProgress:
    """Tells how the installation of providers goes.

    On a terminal a download is a line that changes until it is complete; elsewhere it is one that
    says that it begins. Programs get an event for each step.
    """

    def __init__(self, presenter: Presenter) -> None:
        self._presenter = presenter
        self._live = _live_lines(presenter)
        self._downloads: dict[Provider, Download] = {}
        self._sought: set[Provider] = set()
        self._done = 0

    def reused(self, provider: Provider, version: Version | None) -> None:
        """The locked version is installed, without any request."""
        if provider not in self._sought:
            self.finding(provider, "", version)

    def finding(self, provider: Provider, constraints: str, locked: Version | None) -> None:
        """Versions of a provider are looked for; or only the locked one is."""
        self._sought.add(provider)
        if locked is not None:
            text = f"Reusing version {locked} of {provider.display} from the lock file"
        elif constraints:
            text = f"Finding versions of {provider.display} that match {constraints}"
        else:
            text = f"Finding the latest version of {provider.display}"
        members = {"provider": str(provider)}
        self._tell(text, members | ({"constraints": constraints} if constraints else {}))

    def fetching(self, provider: Provider, version: Version, location: str) -> None:
        """A package is about to be fetched."""
        members = {"provider": str(provider), "version": str(version), "location": location}
        if not location.startswith(("http://", "https://")):
            self._tell(f"Installing {provider.display} v{version}", members)
            return
        from nigari.cli.views.live import Download

        text = f"Downloading {provider.display} v{version}..."
        self._downloads[provider] = Download(f"{provider.display} v{version}")
        if self._live is None:
            self._presenter.say(f"- {text}", text, members)
            self._presenter.terminal.stdout.flush()
        else:
            self._tell(text, members)
            self.received(provider, 0, None)

    def received(self, provider: Provider, size: int, total: int | None) -> None:
        """More of a package has arrived."""
        if self._live is not None and provider in self._downloads:
            self._live.show(str(provider), self._downloads[provider].line(size, total))

    def installed(self, outcome: InstalledProvider) -> None:
        """A package is installed."""
        if self._live is not None:
            self._done += 1
            self._live.summary = f"{self._done} of {len(self._downloads)} providers installed"
            self._live.remove(str(outcome.provider))

    def waiting(self, provider: Provider, store: Path) -> None:
        """Another process installs the same package, and takes its time."""
        if self._live is not None:
            self._live.clear()
        text = f"Another process is installing {provider.display} in {store}. Waiting for it..."
        self._presenter.say(f"- {text}", text, {"provider": str(provider)})
        self._presenter.terminal.stdout.flush()

    def finished(self) -> None:
        """Nothing more is under way."""
        if self._live is not None:
            self._live.clear()

    def _tell(self, text: str, members: Mapping[str, object]) -> None:
        """Tell programs only: it is over before a person has read it."""
        if self._presenter.events is not None:
            self._presenter.events.event(text, members)


def _live_lines(presenter: Presenter) -> LiveLines | None:
    """Lines that change, for people at a terminal."""
    terminal = presenter.terminal
    if not terminal.stdout.isatty() or presenter.is_for_programs:
        return None
    from nigari.cli.views.live import LiveLines
    from nigari.diagnostics.layout import Layout

    return LiveLines(terminal.stdout, Layout.for_stream(terminal.stdout, terminal.environ).width)


def trust_text(verified: Verified) -> str:
    """The authentication of a package, in words."""
    if verified.is_unsigned:
        return "signature not checked: the registry has no key for it"
    return f"signed, key ID {verified.key_id}" if verified.signed else verified.word


def _members(outcome: InstalledProvider) -> dict[str, object]:
    """The JSON members of an installed provider."""
    members: dict[str, object] = {"provider": str(outcome.provider), "step": outcome.step.value}
    if outcome.version is not None:
        members["version"] = str(outcome.version)
    if outcome.verified is not None:
        members["authentication"] = outcome.verified.word
        if outcome.verified.key_id:
            members["key_id"] = outcome.verified.key_id
    return members
