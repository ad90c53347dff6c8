"""Where a working directory keeps what it remembers: `.terraform`, or where `TF_DATA_DIR` says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_USUAL: Final = ".terraform"
_VARIABLE: Final = "TF_DATA_DIR"
REMEMBERED_VARIABLES: Final = "nigari.variables.json"
"""The file with the values of variables that init remembers."""


def data_directory(directory: str, environ: Mapping[str, str]) -> Path:
    """The directory, which need not exist."""
    from pathlib import Path

    return Path(data_path(directory, environ))


def data_path(directory: str, environ: Mapping[str, str], *names: str) -> str:
    """The path of the directory, or of something in it: for who can do without `pathlib`."""
    return os.path.join(directory, environ.get(_VARIABLE) or _USUAL, *names)
