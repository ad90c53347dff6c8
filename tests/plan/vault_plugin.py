"""The vault provider as a program that other programs start, and the settings that name it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.plan.vault import SOURCE


def plugin_settings(folder: Path) -> dict[str, str]:
    """Write the program into a folder, and give the environment in which it is found."""
    folder.mkdir()
    program = folder / "terraform-provider-vault"
    program.write_text(f"#!{sys.executable}\nfrom tests.plan.vault import serve\n\nserve()\n")
    program.chmod(0o755)
    settings = folder / "settings.tfrc"
    settings.write_text(
        f'provider_installation {{\n  dev_overrides {{\n    "{SOURCE}" = "{folder}"\n  }}\n}}\n'
    )
    return {
        "TF_CLI_CONFIG_FILE": str(settings),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path]),
        "VAULT_NOTES": str(folder / "notes"),
    }


def notes(folder: Path) -> list[str]:
    """What the program has noted since it was last asked."""
    path = folder / "notes"
    if not path.exists():
        return []
    found = path.read_text().splitlines()
    path.unlink()
    return found
