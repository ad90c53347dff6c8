"""Shows on `examples/regions` what is known of a configuration before anything runs.

Run it with `make demo`. It needs no network.
"""

import shlex
import subprocess
import sys
from pathlib import Path

CONFIGURATION = Path(__file__).with_name("regions")
COMMANDS = (
    "nigari validate",
    """nigari explain 'module.region["eu"].source'""",
    "nigari explain output.summary",
    """nigari eval -var owner=ada 'module.app.summary'""",
    "nigari eval terraform_data.release.id",
    "nigari eval -var environment=test var.environment",
)


def main() -> None:
    """Run each command and print what it says."""
    for command in COMMANDS:
        print(f"$ {command}", flush=True)
        _, *arguments = shlex.split(command)
        subprocess.run([sys.executable, "-m", "nigari", *arguments], cwd=CONFIGURATION, check=False)
        print(flush=True)


if __name__ == "__main__":
    main()
