"""Opening a page in the user's web browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_LAUNCHERS: Final = ("xdg-open", "x-www-browser", "www-browser", "wslview")


def open_page(url: str, environ: Mapping[str, str]) -> bool:
    """Start the browser that BROWSER names, or else the usual one; whether one was started."""
    import shutil
    import subprocess

    chosen = environ.get("BROWSER", "")
    usual = ("open",) if sys.platform == "darwin" else _LAUNCHERS
    path = environ.get("PATH", os.defpath)
    for name in (chosen, *usual) if chosen else usual:
        program = shutil.which(name, path=path)
        if program is None:
            continue
        try:
            subprocess.Popen(
                [program, url],
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            continue
        return True
    return False
