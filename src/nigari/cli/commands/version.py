"""`nigari version`: which program this is, and which OpenTofu's language it follows."""

from __future__ import annotations

import os

from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.markers import program_name
from nigari.packages.content.platforms import current_platform
from nigari.version import OPENTOFU_VERSION, VERSION

_LOCK_FILE = ".terraform.lock.hcl"


def _selections() -> dict[str, str]:
    """The versions of providers that the lock file of the working directory has chosen."""
    if not os.path.exists(_LOCK_FILE):
        return {}
    from nigari.diagnostics import Diagnostics
    from nigari.packages.providers.lockfile import load_locks

    locks = load_locks(_LOCK_FILE, Diagnostics())
    return {str(each): str(locks.providers[each].version) for each in sorted(locks.providers)}


def run(invocation: Invocation) -> int:
    """Print the versions."""
    if invocation.switch("json"):
        import json

        document = {
            "terraform_version": OPENTOFU_VERSION,
            "platform": current_platform(),
            "provider_selections": _selections(),
            "nigari_version": VERSION,
        }
        invocation.terminal.out(json.dumps(document, indent=2))
    else:
        out, name = invocation.terminal.out, program_name(invocation.terminal.environ)
        is_own = name == "Nigari"
        out(f"{name} v{VERSION if is_own else OPENTOFU_VERSION}")
        out(f"on {current_platform()}")
        if is_own:
            out(f"with the language and formats of OpenTofu v{OPENTOFU_VERSION}")
        for provider, version in _selections().items():
            out(f"+ provider {provider} v{version}")
        if not is_own:
            out(f"by Nigari v{VERSION}")
    return 0


COMMAND = Command(
    "version",
    "Shows the version of this program, and the release of OpenTofu whose language, state and "
    "output formats it follows. In a working directory, also shows the provider versions in its "
    "lock file.",
    run,
    flags=(Flag("json", FLAG_SWITCH, "Print the versions as a JSON object"),),
    most_arguments=-1,
    examples=(Example("nigari version -json", "for scripts"),),
)
