"""The vault provider as a program that other programs start, and the settings that name it."""

from __future__ import annotations

from pathlib import Path

from tests.plan.vault import SOURCE
from tests.plugins import overriding, write_plugin


def plugin_settings(folder: Path) -> dict[str, str]:
    """Write the program into a folder, and give the environment in which it is found."""
    write_plugin(folder, "vault", "from tests.plan.vault import serve\n\nserve()\n")
    settings = overriding(folder / "settings.tfrc", SOURCE, folder)
    return {**settings, "VAULT_NOTES": str(folder / "notes")}


def notes(folder: Path) -> list[str]:
    """What the program has noted since it was last asked."""
    path = folder / "notes"
    if not path.exists():
        return []
    found = path.read_text().splitlines()
    path.unlink()
    return found
