"""How long it takes to say one's own name: `nigari version` beside `tofu version`.

Both are whole processes. Without the real program (`make peers`) there are no cases.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.harness import Case
from scripts.peers import cache

_PEERS: Final = cache()
_OWN: Final = "import sys; from nigari.cli.main import main; sys.exit(main())"
"""What the script says that installing the package writes."""


def cases() -> list[Case]:
    """All comparisons."""
    tofu = _PEERS / "bin" / "tofu"
    if not tofu.is_file():
        return []
    own = [sys.executable, "-c", _OWN]
    return [
        Case("version", _run(*own, "version"), "tofu", _run(str(tofu), "version"), 0.5, 0.5),
        Case("help", _run(*own, "-help"), "tofu", _run(str(tofu), "-help"), 0.5, 0.5),
        Case("completion", _complete(own), "tofu", _complete([str(tofu)]), 0.5, 0.5),
    ]


def _environment() -> dict[str, str]:
    # The real program complains where this names no file, and a slow disk must not be measured.
    settings = Path(tempfile.gettempdir()) / "nigari-bench-tofurc"
    settings.touch()
    return {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}


def _run(*command: str) -> Callable[[], bytes]:
    environment = _environment()
    return lambda: subprocess.run(command, env=environment, capture_output=True, check=True).stdout


def _complete(command: list[str]) -> Callable[[], bytes]:
    environment = {**_environment(), "COMP_LINE": "tofu ver", "COMP_POINT": "8"}
    return lambda: subprocess.run(command, env=environment, capture_output=True, check=True).stdout
