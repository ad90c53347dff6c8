"""Where a working directory keeps what it remembers: `.terraform`, or where `TF_DATA_DIR` says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_USUAL: Final = ".terraform"
_VARIABLE: Final = "TF_DATA_DIR"
REMEMBERED_VARIABLES: Final = "nigari.variables.json"
"""The file with the values of variables that init remembers."""


def data_directory(directory: str, environ: Mapping[str, str]) -> Path:
    """The directory, which need not exist."""
    return Path(directory, environ.get(_VARIABLE) or _USUAL)
